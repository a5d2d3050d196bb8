// Weighted means of points: where rows of neighbours have their centres.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph.hpp"
#include "parallel.hpp"

namespace diffpeaks {

// means[row] = sum of weight x point over the entries of the row, in double and in the order of the entries.
template <class Real>
void weighted_means(const Real* points, std::int64_t n_features, std::int64_t n_rows, const Offset* indptr,
                    const Index* indices, const double* weights, Real* means, int n_threads) {
    constexpr std::int64_t chunk_rows = 256;
    parallel_chunks((n_rows + chunk_rows - 1) / chunk_rows, n_threads, whole_loop, [&] {
        return [&, sums = std::vector<double>(static_cast<std::size_t>(n_features))](std::int64_t chunk) mutable {
            const std::int64_t last = std::min(n_rows, (chunk + 1) * chunk_rows);
            for (std::int64_t row = chunk * chunk_rows; row < last; ++row) {
                std::fill(sums.begin(), sums.end(), 0.0);
                for (Offset e = indptr[row]; e < indptr[row + 1]; ++e) {
                    const Real* point = points + static_cast<std::int64_t>(indices[e]) * n_features;
                    const double weight = weights[e];
                    for (std::int64_t f = 0; f < n_features; ++f) sums[f] += weight * static_cast<double>(point[f]);
                }
                std::transform(sums.begin(), sums.end(), means + row * n_features,
                               [](double sum) { return static_cast<Real>(sum); });
            }
        };
    });
}

}  // namespace diffpeaks
