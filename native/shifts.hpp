// Samples moved towards their neighbours: how much each neighbour counts, and where they pull.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "graph.hpp"
#include "kernels/kernel.hpp"
#include "parallel.hpp"

namespace diffpeaks {

// How strongly neighbours pull.
struct Pull {
    double kept;             // the share of its own place that a sample keeps
    std::int64_t n_filled;   // where fewer neighbours are mutual, the nearest others make up for them
    bool distances_squared;  // whether distances are squares of lengths
};

// The points that samples move towards.
template <class Real>
struct Targets {
    const Real* points;
    std::int64_t n_features;
    const double* masses;  // a null pointer if all are one
    const Real* reach;     // the farthest that each has a neighbour

    double mass(std::int64_t point) const { return masses ? masses[point] : 1.0; }
};

// The entries of a row that count, and their weights: exp(-(length / that of the last entry)^2) times their masses, in
// parts of the whole row and the query itself.
template <class Real>
class RowPull {
  public:
    RowPull(const Kernel& kernel, const Graph<Real>& rows, const Targets<Real>& targets, const Pull& pull)
        : kernel_(kernel), rows_(rows), targets_(targets), pull_(pull) {}

    // Of entries [begin, end) around a query of that mass.
    WeighedRows<Real> of(Offset begin, Offset end, double own_mass) {
        points_.clear();
        weights_.clear();
        Offset n_missing = pull_.n_filled;
        for (Offset e = begin; e < end; ++e) n_missing -= is_mutual(e);
        entries_.clear();
        for (Offset e = begin; e < end; ++e) {
            if (!is_mutual(e) && n_missing-- <= 0) continue;
            entries_.push_back(e);
            weights_.push_back(squared_ratio(e, end - 1));
        }
        kernel_.exp_of_negative(weights_.data(), static_cast<std::int64_t>(weights_.size()));
        double sum = 0.0;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const auto point = static_cast<std::int64_t>(rows_.indices[entries_[i]]);
            points_.push_back(targets_.points + point * targets_.n_features);
            weights_[i] *= targets_.mass(point);
            sum += weights_[i];
        }
        const double share = (1.0 - pull_.kept) / (own_mass + sum);
        for (double& weight : weights_) weight *= share;
        return {static_cast<std::int64_t>(points_.size()), points_.data(), weights_.data()};
    }

  private:
    bool is_mutual(Offset e) const { return rows_.distances[e] <= targets_.reach[rows_.indices[e]]; }

    // (length / that of the last entry)^2
    double squared_ratio(Offset e, Offset last) const {
        const auto distance = static_cast<double>(rows_.distances[e]);
        if (distance == 0.0) return 0.0;  // also in a row without any length
        const double ratio = distance / static_cast<double>(rows_.distances[last]);
        return pull_.distances_squared ? ratio : ratio * ratio;
    }

    const Kernel& kernel_;
    const Graph<Real>& rows_;
    const Targets<Real>& targets_;
    const Pull pull_;
    std::vector<Offset> entries_;
    std::vector<const Real*> points_;
    std::vector<double> weights_;
};

// Moves one query after another. Sums are of differences, in double and in the order of entries, so that what all have
// in common is not rounded away.
template <class Real>
class Mover {
  public:
    Mover(const Kernel& kernel, std::int64_t n_features) : kernel_(kernel), query_(size_of(n_features)), by_(query_) {}

    void move(const Real* query, const WeighedRows<Real>& towards, Real* moved) {
        const auto n_features = static_cast<std::int64_t>(query_.size());
        std::copy(query, query + n_features, query_.begin());
        std::fill(by_.begin(), by_.end(), 0.0);
        if constexpr (std::is_same_v<Real, float>) {
            kernel_.add_differences_f(query_.data(), towards, n_features, by_.data());
        } else {
            kernel_.add_differences_d(query_.data(), towards, n_features, by_.data());
        }
        bool vanished = true;
        for (std::int64_t f = 0; f < n_features; ++f) {
            moved[f] = static_cast<Real>(query_[size_of(f)] + by_[size_of(f)]);
            vanished &= moved[f] == 0;
        }
        if (vanished) std::copy(query, query + n_features, moved);  // opposite directions have no mean
    }

  private:
    static std::size_t size_of(std::int64_t n) { return static_cast<std::size_t>(n); }

    const Kernel& kernel_;
    std::vector<double> query_, by_;
};

// moved[row] = query + sum of weight x (point - query) over the entries of the row that count. With own_first rows
// begin with the queries themselves, which are the first of the targets then; others have the mass one.
template <class Real>
void shift_towards(const Kernel& kernel, const Real* queries, const Graph<Real>& rows, bool own_first,
                   const Targets<Real>& targets, const Pull& pull, Real* moved, int n_threads) {
    constexpr std::int64_t chunk_rows = 256;
    const std::int64_t n_rows = rows.n_samples, n_features = targets.n_features;
    parallel_chunks((n_rows + chunk_rows - 1) / chunk_rows, n_threads, whole_loop, [&] {
        return [&, weigh = RowPull<Real>(kernel, rows, targets, pull),
                mover = Mover<Real>(kernel, n_features)](std::int64_t chunk) mutable {
            const std::int64_t last = std::min(n_rows, (chunk + 1) * chunk_rows);
            for (std::int64_t row = chunk * chunk_rows; row < last; ++row) {
                const Offset begin = rows.indptr[row] + (own_first ? 1 : 0);
                const double own_mass = own_first ? targets.mass(row) : 1.0;
                const std::int64_t at = row * n_features;
                mover.move(queries + at, weigh.of(begin, rows.indptr[row + 1], own_mass), moved + at);
            }
        };
    });
}

}  // namespace diffpeaks
