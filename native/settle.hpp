// The last step of every neighbour search: distances computed in one way, rows in one order.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "distance.hpp"
#include "exact_distances.hpp"
#include "graph.hpp"
#include "kernels/dispatch.hpp"
#include "parallel.hpp"

namespace diffpeaks {

// Distance of each query to each of its listed points; summed in double, in one order, so that the value for a pair is
// the same whichever search proposed it and whichever side asks.
template <class Add, class Real>
void pair_distances(const Real* queries, const Real* points, std::int64_t n_features, std::int64_t n_rows,
                    const Offset* indptr, const Index* indices, Real* distances, const Measure& measure,
                    int n_threads) {
    const Kernel& kernel = chosen_kernel();
    parallel_rows(n_rows, n_threads, [=, &kernel](std::int64_t first, std::int64_t last, std::int64_t) {
        ExactDistances<Real> squares(kernel, queries, points, n_features);
        for (std::int64_t row = first; row < last; ++row) {
            const Real* query = queries + row * n_features;
            if constexpr (std::is_same_v<Add, SumOfSquares>) squares.begin(row);
            for (Offset e = indptr[row]; e < indptr[row + 1]; ++e) {
                double sum;
                if constexpr (std::is_same_v<Add, SumOfSquares>) {  // the same number, with wider vectors
                    sum = squares.squared(indices[e]);
                } else {
                    const Real* point = points + static_cast<std::int64_t>(indices[e]) * n_features;
                    sum = sum_of_differences<Add, 1>(query, point, n_features);
                }
                distances[e] = measure.distance<Real>(sum);
            }
        }
    });
}

// Of each row keeps the entries that are not proved to lie behind its n_nearest smallest values: those up to the last
// of them plus twice the slack of the row. Entries move to the front; kept[row] says how many there are.
template <class Real>
void keep_nearest(std::int64_t n_rows, const Offset* indptr, Index* indices, Real* values, const double* slack,
                  std::int64_t n_nearest, Offset* kept) {
    std::vector<Real> sorted;
    SerialLoop loop;
    for (std::int64_t row = 0; row < n_rows; ++row) {
        loop.next();
        const Offset begin = indptr[row], end = indptr[row + 1];
        kept[row] = end - begin;
        if (end - begin <= n_nearest) continue;
        sorted.assign(values + begin, values + end);
        std::nth_element(sorted.begin(), sorted.begin() + (n_nearest - 1), sorted.end());
        const double limit = static_cast<double>(sorted[static_cast<std::size_t>(n_nearest - 1)]) + 2 * slack[row];
        Offset next = begin;
        for (Offset e = begin; e < end; ++e) {
            if (!(static_cast<double>(values[e]) <= limit)) continue;
            values[next] = values[e];
            indices[next++] = indices[e];
        }
        kept[row] = next - begin;
    }
}

// Sorts each row by (distance, index).
template <class Real>
void sort_rows(std::int64_t n_rows, const Offset* indptr, Index* indices, Real* distances, int n_threads) {
    parallel_rows(n_rows, n_threads, [=](std::int64_t first, std::int64_t last, std::int64_t) {
        std::vector<std::pair<Real, Index>> entries;
        for (std::int64_t row = first; row < last; ++row) {
            const Offset begin = indptr[row], end = indptr[row + 1];
            entries.clear();
            for (Offset e = begin; e < end; ++e) entries.emplace_back(distances[e], indices[e]);
            if (std::is_sorted(entries.begin(), entries.end())) continue;
            std::sort(entries.begin(), entries.end());
            for (Offset e = begin; e < end; ++e) {
                distances[e] = entries[static_cast<std::size_t>(e - begin)].first;
                indices[e] = entries[static_cast<std::size_t>(e - begin)].second;
            }
        }
    });
}

// Rows sorted by (distance, index) become rows that start with the point itself. A row that lost itself among more
// duplicates than it can hold gives up its last entry. Returns some row that had lost itself, or NO_POINT.
template <class Real>
Index move_self_first(std::int64_t n_rows, const Offset* indptr, Index* indices, Real* distances, int n_threads) {
    std::atomic<Index> lost{NO_POINT};
    parallel_rows(n_rows, n_threads, [=, &lost](std::int64_t first, std::int64_t last, std::int64_t) {
        for (std::int64_t row = first; row < last; ++row) {
            const Offset begin = indptr[row], end = indptr[row + 1];
            if (begin == end) {
                lost = static_cast<Index>(row);
                continue;
            }
            Offset self = begin;
            while (self < end - 1 && indices[self] != row) ++self;
            if (indices[self] != row) lost = static_cast<Index>(row);
            std::move_backward(indices + begin, indices + self, indices + self + 1);
            std::move_backward(distances + begin, distances + self, distances + self + 1);
            indices[begin] = static_cast<Index>(row);
            distances[begin] = 0;
        }
    });
    return lost;
}

}  // namespace diffpeaks
