// The random walk along rows of neighbours: weights, chances, steps, and how rows spread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "graph.hpp"
#include "parallel.hpp"

namespace diffpeaks {

// A length for each of many, or one for all of them.
struct Lengths {
    const double* values;
    bool is_one;

    double operator[](std::int64_t i) const { return is_one ? values[0] : values[i]; }
};

// (distance / (by_row * by_entry))^2 of each entry. Where that length is zero, coinciding points are at zero.
template <class Real>
void squared_ratios(std::int64_t n_rows, const Offset* indptr, const Index* indices, const Real* distances,
                    Lengths by_row, Lengths by_entry, double* ratios, int n_threads) {
    parallel_rows(n_rows, n_threads, [=](std::int64_t first, std::int64_t last, std::int64_t) {
        for (std::int64_t row = first; row < last; ++row) {
            const double length = by_row[row], scale = length * by_entry.values[0];
            if (by_entry.is_one && scale > 0.0) {  // one scale for the row: many entries at a time
                for (Offset e = indptr[row]; e < indptr[row + 1]; ++e) {
                    const double ratio = static_cast<double>(distances[e]) / scale;
                    ratios[e] = ratio * ratio;
                }
                continue;
            }
            for (Offset e = indptr[row]; e < indptr[row + 1]; ++e) {
                const double distance = static_cast<double>(distances[e]), of_pair = length * by_entry[indices[e]];
                const double ratio = of_pair == 0.0 && distance == 0.0 ? 0.0 : distance / of_pair;
                ratios[e] = ratio * ratio;
            }
        }
    });
}

// Divides each row by its sum.
inline void normalize_rows(std::int64_t n_rows, const Offset* indptr, double* values, int n_threads) {
    parallel_rows(n_rows, n_threads, [=](std::int64_t first, std::int64_t last, std::int64_t) {
        for (std::int64_t row = first; row < last; ++row) {
            double sum = 0.0;
            for (Offset e = indptr[row]; e < indptr[row + 1]; ++e) sum += values[e];
            for (Offset e = indptr[row]; e < indptr[row + 1]; ++e) values[e] /= sum;
        }
    });
}

// What arrives at each point when every point sends its mass along its row. Parts of the rows add up apart, and are
// added in their order: as many parts on one thread as on many, so that sums are rounded alike.
inline void send_mass(const Rows& graph, const double* chances, const double* mass, double* arriving, int n_threads) {
    constexpr std::int64_t n_parts = 8, few_rows = 1 << 15;
    const std::int64_t n_rows = graph.n_samples, n_used = n_rows < few_rows ? 1 : n_parts;
    std::vector<std::vector<double>> sums(static_cast<std::size_t>(n_used));
    parallel_chunks(n_used, n_threads, [&] {
        return [&](std::int64_t part) {
            auto& sum = sums[static_cast<std::size_t>(part)];
            sum.assign(static_cast<std::size_t>(n_rows), 0.0);
            for (std::int64_t row = n_rows * part / n_used; row < n_rows * (part + 1) / n_used; ++row) {
                const double sent = mass[row];
                for (Offset e = graph.indptr[row]; e < graph.indptr[row + 1]; ++e) {
                    sum[static_cast<std::size_t>(graph.indices[e])] += chances[e] * sent;
                }
            }
        };
    });
    parallel_rows(n_rows, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
        for (std::int64_t point = first; point < last; ++point) {
            double total = 0.0;
            for (const auto& sum : sums) total += sum[static_cast<std::size_t>(point)];
            arriving[point] = total;
        }
    });
}

// The sum of log(last distance / distance) over each row of at least that many entries, without the point itself; a
// ratio counts as no more than 1 / least. Logarithms are taken of products, which are few.
template <class Real>
void row_spreads(const Graph<Real>& graph, Offset fewest, double least, double* spreads, int n_threads) {
    constexpr int in_product = 16;
    parallel_rows(graph.n_samples, n_threads, [=, &graph](std::int64_t first, std::int64_t last, std::int64_t) {
        for (std::int64_t row = first; row < last; ++row) {
            const Offset begin = graph.indptr[row], end = graph.indptr[row + 1];
            spreads[row] = 0.0;
            const double reach = end > begin ? static_cast<double>(graph.distances[end - 1]) : 0.0;
            if (end - begin < fewest || !(reach > 0.0)) continue;
            double product = 1.0, sum = 0.0;
            int n_factors = 0;
            for (Offset e = begin + 1; e < end; ++e) {
                product *= std::max(static_cast<double>(graph.distances[e]) / reach, least);
                if (++n_factors == in_product) {
                    sum -= std::log(product);
                    product = 1.0;
                    n_factors = 0;
                }
            }
            spreads[row] = sum - std::log(product);
        }
    });
}

}  // namespace diffpeaks
