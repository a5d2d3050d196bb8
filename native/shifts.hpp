// Points moved towards others: where rows of neighbours pull them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph.hpp"
#include "parallel.hpp"

namespace diffpeaks {

// moved[row] = query + sum of weight x (point - query) over the entries of the row, in double and in their order:
// of differences, so that what all have in common is not rounded away.
template <class Real>
void shift_towards(const Real* queries, const Real* points, std::int64_t n_features, std::int64_t n_rows,
                   const Offset* indptr, const Index* indices, const double* weights, Real* moved, int n_threads) {
    constexpr std::int64_t chunk_rows = 256;
    parallel_chunks((n_rows + chunk_rows - 1) / chunk_rows, n_threads, whole_loop, [&] {
        return [&, shift = std::vector<double>(static_cast<std::size_t>(n_features))](std::int64_t chunk) mutable {
            const std::int64_t last = std::min(n_rows, (chunk + 1) * chunk_rows);
            for (std::int64_t row = chunk * chunk_rows; row < last; ++row) {
                const Real* query = queries + row * n_features;
                std::fill(shift.begin(), shift.end(), 0.0);
                for (Offset e = indptr[row]; e < indptr[row + 1]; ++e) {
                    const Real* point = points + static_cast<std::int64_t>(indices[e]) * n_features;
                    const double weight = weights[e];
                    for (std::int64_t f = 0; f < n_features; ++f) {
                        shift[f] += weight * (static_cast<double>(point[f]) - static_cast<double>(query[f]));
                    }
                }
                std::transform(shift.begin(), shift.end(), query, moved + row * n_features, [](double by, Real from) {
                    return static_cast<Real>(static_cast<double>(from) + by);
                });
            }
        };
    });
}

}  // namespace diffpeaks
