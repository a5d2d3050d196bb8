// What a join looks for: the nearest points of each query, those of a shortlist, or all points within a reach.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "distance.hpp"
#include "graph.hpp"
#include "kernels/kernel.hpp"

namespace diffpeaks {

// Distances of points to one query after another, from the rows of both.
template <class Real>
class ExactDistances {
  public:
    ExactDistances(const Kernel& kernel, const Real* queries, const Real* points, std::int64_t n_features)
        : kernel_(&kernel), queries_(queries), points_(points), n_features_(n_features) {}

    void begin(std::int64_t query) {
        const Real* row = queries_ + query * n_features_;
        query_.assign(row, row + n_features_);
    }

    double squared(std::int64_t point) const {
        const Real* row = points_ + point * n_features_;
        if constexpr (std::is_same_v<Real, float>) {
            return kernel_->squared_distance_f(query_.data(), row, n_features_);
        } else {
            return kernel_->squared_distance_d(query_.data(), row, n_features_);
        }
    }

    // A row lies anywhere in memory; it is on its way while another distance is computed.
    void prefetch(std::int64_t point) const {
        const auto* row = reinterpret_cast<const char*>(points_ + point * n_features_);
        const auto n_bytes = n_features_ * static_cast<std::int64_t>(sizeof(Real));
        for (std::int64_t byte = 0; byte < std::min<std::int64_t>(n_bytes, 4096); byte += 64) {
            __builtin_prefetch(row + byte);
        }
    }

  private:
    const Kernel* kernel_;
    const Real *queries_, *points_;
    std::int64_t n_features_;
    std::vector<double> query_;
};

// No larger squared distance is reported as `distance` or less: rounded once or twice, and to nothing below zero.
template <class Real>
double largest_square(const Measure& measure, double distance) {
    const double epsilon = static_cast<double>(std::numeric_limits<Real>::epsilon());
    const double tiny = static_cast<double>(std::numeric_limits<Real>::min());
    const double reach = (std::max(distance, measure.zero) * (1 + 4 * epsilon) + tiny) / measure.factor;
    return measure.root ? reach * reach : reach;
}

// The n_neighbors nearest, in the order (distance, index). Lists are heaps with the last neighbour on top.
template <class Real>
class NearestGoal {
  public:
    using Entry = std::pair<Real, Index>;

    NearestGoal(std::int64_t n_neighbors, const Measure& measure, Index* indices, Real* distances)
        : n_neighbors_(n_neighbors), measure_(measure), indices_(indices), distances_(distances) {}

    static constexpr bool members_only = false;  // whether it matters who is wanted, not how near
    std::int64_t n_wanted() const { return n_neighbors_; }

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
        if (static_cast<std::int64_t>(list.size()) < n_neighbors_) {
            list.push_back(entry);
            std::push_heap(list.begin(), list.end());
        } else if (entry < list.front()) {
            std::pop_heap(list.begin(), list.end());
            list.back() = entry;
            std::push_heap(list.begin(), list.end());
        }
        if (static_cast<std::int64_t>(list.size()) == n_neighbors_)
            lower_limit_to(query, static_cast<double>(list.front().first));
    }

    // Writes the list of each query as a row.
    void finish(const Index* query_row) {
        for (std::size_t query = 0; query < lists_.size(); ++query) {
            write(sorted(static_cast<std::int64_t>(query)), query_row[query]);
        }
    }

    const std::vector<Entry>& list(std::int64_t query) const { return lists_[static_cast<std::size_t>(query)]; }

    // The list of a query in order; nothing is offered to it any more.
    const std::vector<Entry>& sorted(std::int64_t query) {
        auto& list = lists_[static_cast<std::size_t>(query)];
        std::sort_heap(list.begin(), list.end());
        return list;
    }

  private:
    void write(const std::vector<Entry>& list, std::int64_t row) {
        Index* indices = indices_ + row * n_neighbors_;
        Real* distances = distances_ + row * n_neighbors_;
        for (std::size_t i = 0; i < list.size(); ++i) {
            distances[i] = list[i].first;
            indices[i] = list[i].second;
        }
        const auto found = static_cast<std::int64_t>(list.size());
        std::fill(indices + found, indices + n_neighbors_, NO_POINT);
        std::fill(distances + found, distances + n_neighbors_, std::numeric_limits<Real>::infinity());
    }

    // No point is wanted whose distance must be larger than that one.
    void lower_limit_to(std::int64_t query, double distance) {
        double& limit = limits_[static_cast<std::size_t>(query)];
        limit = std::min(limit, largest_square<Real>(measure_, distance));
    }

    std::int64_t n_neighbors_;
    Measure measure_;
    Index* indices_;
    Real* distances_;
    std::vector<std::vector<Entry>> lists_;
    std::vector<double> limits_;
};

// The nearest of those points that are nearest in coordinates: a shortlist by coordinates, from which distances choose.
template <class Real>
class ShortlistGoal {
  public:
    ShortlistGoal(std::int64_t n_listed, ExactDistances<Real> distances, NearestGoal<Real> nearest)
        : distances_(std::move(distances)),
          shortlist_(n_listed, Measure{false, 1.0, 0.0}, nullptr, nullptr),
          nearest_(std::move(nearest)) {}

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
    bool untouched(std::int64_t query) const { return shortlist_.list(query).empty(); }
    void accept(std::int64_t query, Index point) { accepted_[static_cast<std::size_t>(query)].push_back(point); }

    void finish(const Index* query_row) {
        nearest_.begin(static_cast<std::int64_t>(accepted_.size()));
        for (std::size_t query = 0; query < accepted_.size(); ++query) {
            auto& listed = accepted_[query];
            for (const auto& entry : shortlist_.sorted(static_cast<std::int64_t>(query))) {
                if (static_cast<std::int64_t>(listed.size()) == n_wanted()) break;
                listed.push_back(entry.second);
            }
            distances_.begin(query_row[query]);
            for (std::size_t i = 0; i < listed.size(); ++i) {
                if (i + 1 < listed.size()) distances_.prefetch(listed[i + 1]);
                nearest_.offer(static_cast<std::int64_t>(query), listed[i], distances_.squared(listed[i]));
            }
        }
        nearest_.finish(query_row);
    }

  private:
    ExactDistances<Real> distances_;
    NearestGoal<float> shortlist_;
    NearestGoal<Real> nearest_;
    std::vector<std::vector<Index>> accepted_;
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
