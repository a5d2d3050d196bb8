// What a join looks for: the nearest points of each query, those of a shortlist, or all points within a reach.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "distance.hpp"
#include "graph.hpp"
#include "kernels/kernel.hpp"

namespace diffpeaks {

// The rows from which distances are computed.
template <class Real>
struct ExactRows {
    const Real* queries;
    const Real* points;
    std::int64_t n_features;

    const Real* query(std::int64_t row) const { return queries + row * n_features; }
    const Real* point(std::int64_t row) const { return points + row * n_features; }

    // A row of a point lies anywhere in memory; it is on its way while another distance is computed.
    void prefetch(std::int64_t row) const {
        const auto* bytes = reinterpret_cast<const char*>(point(row));
        const auto n_bytes = n_features * static_cast<std::int64_t>(sizeof(Real));
        for (std::int64_t byte = 0; byte < std::min<std::int64_t>(n_bytes, 4096); byte += 64) {
            __builtin_prefetch(bytes + byte);
        }
    }

    double squared(const Kernel& kernel, const Real* query, std::int64_t row) const {
        if constexpr (sizeof(Real) == sizeof(float))
            return kernel.squared_distance_f(query, point(row), n_features);
        else
            return kernel.squared_distance_d(query, point(row), n_features);
    }
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
        for (std::size_t query = 0; query < lists_.size(); ++query) write(lists_[query], query_row[query]);
    }

    const std::vector<Entry>& list(std::int64_t query) const { return lists_[static_cast<std::size_t>(query)]; }

  private:
    void write(std::vector<Entry>& list, std::int64_t row) {
        std::sort_heap(list.begin(), list.end());
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
    ShortlistGoal(const Kernel& kernel, std::int64_t n_listed, const ExactRows<Real>& rows, NearestGoal<Real> nearest)
        : kernel_(kernel),
          rows_(rows),
          shortlist_(n_listed, Measure{false, 1.0, 0.0}, nullptr, nullptr),
          nearest_(std::move(nearest)) {}

    std::int64_t n_wanted() const { return shortlist_.n_wanted(); }
    void begin(std::int64_t n_queries) {
        n_queries_ = n_queries;
        shortlist_.begin(n_queries);
    }
    double limit(std::int64_t query) const { return shortlist_.limit(query); }
    double limit(std::int64_t query, std::int64_t) const { return shortlist_.limit(query); }
    void lower_limit(std::int64_t query, double squared) { shortlist_.lower_limit(query, squared); }
    void offer(std::int64_t query, Index point, double squared) { shortlist_.offer(query, point, squared); }

    void finish(const Index* query_row) {
        nearest_.begin(n_queries_);
        for (std::int64_t query = 0; query < n_queries_; ++query) {
            const auto& listed = shortlist_.list(query);
            for (std::size_t i = 0; i < listed.size(); ++i) {
                if (i + 1 < listed.size()) rows_.prefetch(listed[i + 1].second);
                const Index point = listed[i].second;
                nearest_.offer(query, point, rows_.squared(kernel_, rows_.query(query_row[query]), point));
            }
        }
        nearest_.finish(query_row);
    }

  private:
    const Kernel& kernel_;
    ExactRows<Real> rows_;
    NearestGoal<float> shortlist_;
    NearestGoal<Real> nearest_;
    std::int64_t n_queries_ = 0;
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

// The cells, themselves points, whose squared distance to a query plus their own spread is within the query's bound.
class CellGoal {
  public:
    CellGoal(const float* spread, double spread_weight, std::vector<double> bounds)
        : spread_(spread), weight_(spread_weight), bounds_(std::move(bounds)) {}

    std::int64_t n_wanted() const { return std::numeric_limits<std::int64_t>::max(); }

    void begin(std::int64_t n_queries) {
        found_.resize(static_cast<std::size_t>(n_queries));
        for (auto& cells : found_) cells.clear();
    }

    double limit(std::int64_t) const { return std::numeric_limits<double>::infinity(); }
    double limit(std::int64_t query, std::int64_t) const { return bounds_[static_cast<std::size_t>(query)]; }

    void lower_limit(std::int64_t, double) {}

    void offer(std::int64_t query, Index cell, double squared) {
        if (squared + weight_ * static_cast<double>(spread_[cell]) > bounds_[static_cast<std::size_t>(query)]) return;
        found_[static_cast<std::size_t>(query)].push_back(cell);
    }

    void finish(const Index*) {}

    const std::vector<Index>& found(std::int64_t query) const { return found_[static_cast<std::size_t>(query)]; }

  private:
    const float* spread_;
    double weight_;
    std::vector<double> bounds_;
    std::vector<std::vector<Index>> found_;
};

}  // namespace diffpeaks
