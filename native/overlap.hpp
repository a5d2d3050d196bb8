// What the neighbour lists of two points have in common: rank-order distances, shared neighbours.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "graph.hpp"
#include "parallel.hpp"

namespace diffpeaks {

// Ranks of the points in one row, counted from 1 (the row's own point); 0 for a point that it does not list.
class RowRanks {
  public:
    explicit RowRanks(const Rows& graph) : graph_(graph), ranks_(static_cast<std::size_t>(graph.n_samples), 0) {}
    void enter(Index row) {
        Index rank = 0;
        for (Offset e = graph_.indptr[row]; e < graph_.indptr[row + 1]; ++e) ranks_[graph_.indices[e]] = ++rank;
    }
    void leave(Index row) {
        for (Offset e = graph_.indptr[row]; e < graph_.indptr[row + 1]; ++e) ranks_[graph_.indices[e]] = 0;
    }
    // How many points of a row have a rank from 1 to `last` here.
    Offset shared(Index row, Index last) const {
        Offset count = 0;
        for (Offset e = graph_.indptr[row]; e < graph_.indptr[row + 1]; ++e) {
            // 0, which stands for none, wraps round to the largest number
            const auto place = static_cast<std::uint32_t>(ranks_[graph_.indices[e]]) - 1;
            count += place < static_cast<std::uint32_t>(last);
        }
        return count;
    }
    // How many of the first points of a row have no rank here.
    Offset missing(Index row, Index n_first) const {
        Offset count = 0;
        for (Offset e = graph_.indptr[row]; e < graph_.indptr[row] + n_first; ++e) {
            count += ranks_[graph_.indices[e]] == 0;
        }
        return count;
    }

  private:
    const Rows& graph_;
    std::vector<Index> ranks_;
};

// The rank of a point in a row, counted from 1; 0 if it is not listed.
inline Index rank_in(const Rows& graph, Index row, Index point) {
    const Index* begin = graph.indices + graph.indptr[row];
    const Index* end = graph.indices + graph.indptr[row + 1];
    const Index* found = std::find(begin, end, point);
    return found == end ? 0 : static_cast<Index>(found - begin) + 1;
}

// Calls visit(ranks, row) for every row, with the ranks of its points at hand.
template <class Visit>
void with_row_ranks(const Rows& graph, int n_threads, Visit visit) {
    constexpr Index chunk_rows = 1024;
    const std::int64_t n_chunks = (static_cast<std::int64_t>(graph.n_samples) + chunk_rows - 1) / chunk_rows;
    parallel_chunks(n_chunks, n_threads, [&] {
        return [&, ranks = RowRanks(graph)](std::int64_t chunk) mutable {
            const auto first = static_cast<Index>(chunk * chunk_rows);
            const auto last =
                static_cast<Index>(std::min<std::int64_t>(first + std::int64_t{chunk_rows}, graph.n_samples));
            for (Index row = first; row < last; ++row) {
                ranks.enter(row);
                visit(ranks, row);
                ranks.leave(row);
            }
        };
    });
}

// The rank-order distance of each pair that list each other, once, in the row of the lower index; infinity elsewhere.
inline void rank_distances(const Rows& graph, double* distances, int n_threads) {
    with_row_ranks(graph, n_threads, [&](const RowRanks& ranks, Index a) {
        for (Offset e = graph.indptr[a]; e < graph.indptr[a + 1]; ++e) {
            distances[e] = std::numeric_limits<double>::infinity();
            const Index b = graph.indices[e];
            if (b <= a) continue;
            const Index a_in_b = rank_in(graph, b, a);
            if (a_in_b == 0) continue;
            const auto b_in_a = static_cast<Index>(e - graph.indptr[a]) + 1;
            const Offset missing = b_in_a - ranks.shared(b, b_in_a) + ranks.missing(b, a_in_b);
            distances[e] = static_cast<double>(missing) / static_cast<double>(std::min(a_in_b, b_in_a) - 1);
        }
    });
}

// How many points each point shares at least `min_shared` neighbours with, where both list each other; itself counted.
inline void shared_counts(const Rows& graph, Index min_shared, double* counts, int n_threads) {
    with_row_ranks(graph, n_threads, [&](const RowRanks& ranks, Index row) {
        Offset count = 0;
        for (Offset e = graph.indptr[row]; e < graph.indptr[row + 1]; ++e) {
            const Index other = graph.indices[e];
            if (rank_in(graph, other, row) == 0) continue;
            count += ranks.shared(other, std::numeric_limits<Index>::max()) >= min_shared;
        }
        counts[row] = static_cast<double>(count);
    });
}

}  // namespace diffpeaks
