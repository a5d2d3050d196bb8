// Points that follow most of their neighbours: the cluster that these agree on, and a denser one of them in it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph.hpp"
#include "parallel.hpp"

namespace diffpeaks {

// Entries of a row nearer than max_link whose points have the row's point among theirs, the point itself left out.
template <class Real>
struct MutualRows {
    Rows rows;
    const Real* distances;
    double max_link;

    template <class Visit>
    void visit(Index row, Visit visit) const {
        for (Offset e = rows.indptr[row] + 1; e < rows.indptr[row + 1]; ++e) {
            if (!(static_cast<double>(distances[e]) < max_link)) return;  // rows are sorted: the rest is longer
            const Index point = rows.indices[e];
            const Real reach = distances[rows.indptr[point + 1] - 1];
            if (distances[e] <= reach && !visit(point, distances[e])) return;
        }
    }
};

inline bool all_alike(const Rows& rows, Index row, const Index* labels) {
    const Index* begin = rows.indices + rows.indptr[row];
    const Index* end = rows.indices + rows.indptr[row + 1];
    return std::all_of(begin, end, [=](Index point) { return labels[point] == labels[row]; });
}

// The label with the most mass in each row, the point's own counted; of equal ones its own, then the first. Masses are
// equal that differ by rounding alone, so that their scale does not matter.
template <class Real>
void majority_labels(const MutualRows<Real>& mutual, const double* masses, const Index* labels, Index* winners,
                     int n_threads) {
    parallel_rows(mutual.rows.n_samples, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
        std::vector<std::pair<Index, double>> votes;
        for (Index row = static_cast<Index>(first); row < last; ++row) {
            winners[row] = labels[row];
            if (all_alike(mutual.rows, row, labels)) continue;  // as nearly all are; whether mutual need not be asked
            votes.assign(1, {labels[row], masses[row]});
            mutual.visit(row, [&](Index point, Real) {
                std::size_t v = 0;
                while (v < votes.size() && votes[v].first != labels[point]) ++v;
                if (v == votes.size()) votes.push_back({labels[point], 0.0});
                votes[v].second += masses[point];
                return true;
            });
            constexpr double rounding = 1e-9;
            std::pair<Index, double> best = votes.front();
            for (const auto& vote : votes) {
                const bool is_first = vote.first < best.first && best.first != labels[row];
                const bool is_as_much = vote.second >= best.second * (1 - rounding);
                if (vote.second > best.second * (1 + rounding) || (is_as_much && is_first)) best = vote;
            }
            winners[row] = best.first;
        }
    });
}

// Links points, densest first, to their nearest denser mutual neighbour with the label that they want. Whose parent has
// it already, and who finds none, keeps the parent, and the parent's label; points without one are left alone.
template <class Real>
void follow_majority(const MutualRows<Real>& mutual, const Index* order, const Index* rank, const Index* wanted,
                     Index* labels, Index* parent, double* delta) {
    for (Index r = 0; r < mutual.rows.n_samples; ++r) {
        const Index point = order[r];
        if (parent[point] == NO_POINT) continue;
        if (labels[parent[point]] != wanted[point]) {
            mutual.visit(point, [&](Index other, Real length) {
                if (rank[other] > rank[point] || labels[other] != wanted[point]) return true;
                parent[point] = other;
                delta[point] = static_cast<double>(length);
                return false;
            });
        }
        labels[point] = labels[parent[point]];
    }
}

}  // namespace diffpeaks
