// What a join looks for: the nearest points of each query, those of a shortlist, or all points within a reach.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "distance.hpp"
#include "exact_distances.hpp"
#include "graph.hpp"
#include "pending.hpp"

namespace diffpeaks {

// No larger squared distance is reported as `distance` or less: rounded once or twice, and to nothing below zero.
template <class Real>
double largest_square(const Measure& measure, double distance) {
    const double epsilon = static_cast<double>(std::numeric_limits<Real>::epsilon());
    const double smallest = 4 * static_cast<double>(std::numeric_limits<Real>::denorm_min());
    const double reach = (std::max(distance, measure.zero) * (1 + 4 * epsilon) + smallest) / measure.factor;
    return measure.root ? reach * reach : reach;
}

// Where the neighbours of each query are written, in the order (distance, index).
template <class Real>
struct NearestRows {
    using Entry = std::pair<Real, Index>;

    std::int64_t n_neighbors;
    Index* indices;
    Real* distances;

    // The first n_neighbors of some entries; what is missing is no point at infinity.
    void write(std::vector<Entry>& entries, std::int64_t row) const {
        const std::int64_t n = std::min(n_neighbors, static_cast<std::int64_t>(entries.size()));
        std::sort(entries.begin(), entries.end());
        Index* index = indices + row * n_neighbors;
        Real* distance = distances + row * n_neighbors;
        for (std::int64_t i = 0; i < n; ++i) {
            distance[i] = entries[static_cast<std::size_t>(i)].first;
            index[i] = entries[static_cast<std::size_t>(i)].second;
        }
        std::fill(index + n, index + n_neighbors, NO_POINT);
        std::fill(distance + n, distance + n_neighbors, std::numeric_limits<Real>::infinity());
    }
};

// The nearest of all points that are offered. A list that is full is a heap with the last neighbour on top.
template <class Real>
class NearestGoal {
  public:
    using Entry = std::pair<Real, Index>;

    NearestGoal(const Measure& measure, const NearestRows<Real>& rows) : measure_(measure), rows_(rows) {}

    static constexpr bool members_only = false;  // whether it matters who is wanted, not how near
    std::int64_t n_wanted() const { return rows_.n_neighbors; }

    void begin(std::int64_t n_queries) {
        lists_.resize(static_cast<std::size_t>(n_queries));
        for (auto& list : lists_) list.clear();
        limits_.assign(static_cast<std::size_t>(n_queries), std::numeric_limits<double>::infinity());
    }

    // A squared distance beyond which no point is wanted, of any cell or of one.
    double limit(std::int64_t query) const { return limits_[static_cast<std::size_t>(query)]; }
    double limit(std::int64_t query, std::int64_t) const { return limit(query); }

    // It is known that as many points as wanted lie within that squared distance.
    void lower_limit(std::int64_t query, double squared) {
        lower_limit_to(query, static_cast<double>(measure_.distance<Real>(squared)));
    }

    void offer(std::int64_t query, Index point, double squared) {
        auto& list = lists_[static_cast<std::size_t>(query)];
        const Entry entry(measure_.distance<Real>(squared), point);
        if (static_cast<std::int64_t>(list.size()) < n_wanted()) {
            list.push_back(entry);
            if (static_cast<std::int64_t>(list.size()) < n_wanted()) return;
            std::make_heap(list.begin(), list.end());
        } else if (entry < list.front()) {
            std::pop_heap(list.begin(), list.end());
            list.back() = entry;
            std::push_heap(list.begin(), list.end());
        }
        lower_limit_to(query, static_cast<double>(list.front().first));
    }

    void finish(const Index* query_row) {
        for (std::size_t query = 0; query < lists_.size(); ++query) rows_.write(lists_[query], query_row[query]);
    }

    // In no order.
    std::vector<Entry>& list(std::int64_t query) { return lists_[static_cast<std::size_t>(query)]; }

  private:
    // No point is wanted whose distance must be larger than that one.
    void lower_limit_to(std::int64_t query, double distance) {
        double& limit = limits_[static_cast<std::size_t>(query)];
        limit = std::min(limit, largest_square<Real>(measure_, distance));
    }

    Measure measure_;
    NearestRows<Real> rows_;
    std::vector<std::vector<Entry>> lists_;
    std::vector<double> limits_;
};

// The nearest of those points that are nearest in coordinates: a shortlist by coordinates, from which distances choose.
template <class Real>
class ShortlistGoal {
  public:
    ShortlistGoal(std::int64_t n_listed, ExactDistances<Real> distances, const Measure& measure,
                  const NearestRows<Real>& rows)
        : shortlist_(Measure{false, 1.0, 0.0}, {n_listed, nullptr, nullptr}),
          distances_(std::move(distances)),
          measure_(measure),
          rows_(rows) {}

    static constexpr bool members_only = true;
    std::int64_t n_wanted() const { return shortlist_.n_wanted(); }
    void begin(std::int64_t n_queries) {
        accepted_.resize(static_cast<std::size_t>(n_queries));
        for (auto& points : accepted_) points.clear();
        shortlist_.begin(n_queries);
    }
    double limit(std::int64_t query) const { return shortlist_.limit(query); }
    double limit(std::int64_t query, std::int64_t) const { return shortlist_.limit(query); }
    void lower_limit(std::int64_t query, double squared) { shortlist_.lower_limit(query, squared); }
    void offer(std::int64_t query, Index point, double squared) { shortlist_.offer(query, point, squared); }

    // A point is known to be on the shortlist; not after one was offered.
    bool untouched(std::int64_t query) { return shortlist_.list(query).empty(); }
    void accept(std::int64_t query, Index point) { accepted_[static_cast<std::size_t>(query)].push_back(point); }

    void finish(const Index* query_row) {
        for (std::size_t query = 0; query < accepted_.size(); ++query) {
            const std::vector<Index>& listed = completed(query);
            distances_.begin(query_row[query]);
            const double most = farthest_wanted(listed);
            measured_.clear();
            for (std::size_t i = 0; i < listed.size(); ++i) {
                if (static_cast<double>(rough_[i]) > most) continue;
                measured_.emplace_back(measure_.distance<Real>(distances_.squared(listed[i])), listed[i]);
            }
            rows_.write(measured_, query_row[query]);
        }
    }

  private:
    // What was accepted, and the best of what was offered.
    const std::vector<Index>& completed(std::size_t query) {
        auto& listed = accepted_[query];
        auto& offered = shortlist_.list(static_cast<std::int64_t>(query));
        const auto n_open = static_cast<std::size_t>(n_wanted()) - listed.size();
        const auto last = offered.begin() + static_cast<std::ptrdiff_t>(std::min(n_open, offered.size()));
        std::nth_element(offered.begin(), last, offered.end());
        std::for_each(offered.begin(), last, [&](const auto& entry) { listed.push_back(entry.second); });
        return listed;
    }

    // Fills the rough distances of the listed points, and says beyond which of them none is among the nearest.
    double farthest_wanted(const std::vector<Index>& listed) {
        rough_.resize(listed.size());
        for (std::size_t i = 0; i < listed.size(); ++i) {
            if (i + 1 < listed.size()) distances_.prefetch(listed[i + 1]);
            rough_[i] = distances_.rough(listed[i]);
        }
        const auto n_listed = static_cast<std::int64_t>(listed.size());
        const double last = last_of(distances_.kernel(), rough_.data(), n_listed, rows_.n_neighbors).above;
        const double error = 1 + 2 * distances_.rough_error(), too_small = 1e-37;
        if (last * error > std::numeric_limits<float>::max()) return std::numeric_limits<double>::infinity();
        const Real reported = measure_.distance<Real>(last * error + too_small);
        return largest_square<Real>(measure_, static_cast<double>(reported)) * error + too_small;
    }

    NearestGoal<float> shortlist_;
    ExactDistances<Real> distances_;
    Measure measure_;
    NearestRows<Real> rows_;
    std::vector<std::vector<Index>> accepted_;
    std::vector<float> rough_;
    std::vector<std::pair<Real, Index>> measured_;
};

// All points whose reported distance is at most their own reach.
template <class Real>
class BallGoal {
  public:
    using Entry = std::pair<Real, Index>;

    // cell_limits: for each cell the largest squared distance that a reach of its members allows
    BallGoal(const double* reach, const double* cell_limits, const Measure& measure,
             std::vector<std::vector<Entry>>* rows)
        : reach_(reach), cell_limits_(cell_limits), measure_(measure), rows_(rows) {}

    static constexpr bool members_only = false;
    std::int64_t n_wanted() const { return std::numeric_limits<std::int64_t>::max(); }

    void begin(std::int64_t n_queries) {
        lists_.resize(static_cast<std::size_t>(n_queries));
        for (auto& list : lists_) list.clear();
    }

    double limit(std::int64_t) const { return std::numeric_limits<double>::infinity(); }
    double limit(std::int64_t, std::int64_t cell) const { return cell_limits_[cell]; }

    void lower_limit(std::int64_t, double) {}

    void offer(std::int64_t query, Index point, double squared) {
        const Real distance = measure_.distance<Real>(squared);
        if (static_cast<double>(distance) <= reach_[point])
            lists_[static_cast<std::size_t>(query)].emplace_back(distance, point);
    }

    void finish(const Index* query_row) {
        for (std::size_t query = 0; query < lists_.size(); ++query) {
            std::sort(lists_[query].begin(), lists_[query].end());
            (*rows_)[static_cast<std::size_t>(query_row[query])] = lists_[query];
        }
    }

  private:
    const double* reach_;
    const double* cell_limits_;
    Measure measure_;
    std::vector<std::vector<Entry>>* rows_;
    std::vector<std::vector<Entry>> lists_;
};

// The cells, themselves points, with the best scores for a query, up to its bound: a score is the squared distance plus
// the spread of the cell, weighted.
class CellGoal {
  public:
    using Entry = std::pair<double, Index>;

    CellGoal(const float* spread, double spread_weight, std::int64_t n_cells)
        : spread_(spread), weight_(spread_weight), n_cells_(n_cells) {}

    void set_bounds(std::vector<double> bounds) { limits_ = std::move(bounds); }

    static constexpr bool members_only = false;
    std::int64_t n_wanted() const { return n_cells_; }

    void begin(std::int64_t n_queries) {
        found_.resize(static_cast<std::size_t>(n_queries));
        for (auto& cells : found_) cells.clear();
    }

    double limit(std::int64_t query) const { return limits_[static_cast<std::size_t>(query)]; }
    double limit(std::int64_t query, std::int64_t) const { return limit(query); }

    void lower_limit(std::int64_t query, double score) {
        double& limit = limits_[static_cast<std::size_t>(query)];
        limit = std::min(limit, score * (1 + 1e-4));  // the bounds know the spread as a float
    }

    void offer(std::int64_t query, Index cell, double squared) {
        const double score = squared + weight_ * static_cast<double>(spread_[cell]);
        if (score > limit(query)) return;
        auto& cells = found_[static_cast<std::size_t>(query)];
        cells.emplace_back(score, cell);
        std::push_heap(cells.begin(), cells.end());
        if (static_cast<std::int64_t>(cells.size()) > n_cells_) {
            std::pop_heap(cells.begin(), cells.end());
            cells.pop_back();
            limits_[static_cast<std::size_t>(query)] = std::min(limit(query), cells.front().first);
        }
    }

    void finish(const Index*) {}

    const std::vector<Entry>& found(std::int64_t query) const { return found_[static_cast<std::size_t>(query)]; }

  private:
    const float* spread_;
    double weight_;
    std::int64_t n_cells_;
    std::vector<double> limits_;
    std::vector<std::vector<Entry>> found_;  // heaps with the worst on top
};

}  // namespace diffpeaks
