// The random walk along rows of neighbours: weights, steps, and how rows spread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "graph.hpp"
#include "kernels/kernel.hpp"
#include "parallel.hpp"

namespace diffpeaks {

// A length for each of many, or one for all of them.
struct Lengths {
    const double* values;
    bool is_one;

    double operator[](std::int64_t i) const { return is_one ? values[0] : values[i]; }
};

// Kernels as functions of u = (distance / bandwidth)^2; all are 1 at distance zero.
enum class WeightKernel : int { gaussian, uniform, epanechnikov, laplace };

// (distance / bandwidth)^2 of a row, the bandwidth of a pair length * by_entry. Where that is zero, coinciding points
// are at zero.
template <class Real>
void squared_ratios(const Real* distances, const Index* points, std::int64_t n, double length, Lengths by_entry,
                    double* ratios) {
    const double scale = length * by_entry.values[0];
    if (by_entry.is_one && scale > 0.0) {  // one bandwidth for the row: many entries at a time
        for (std::int64_t i = 0; i < n; ++i) {
            const double ratio = static_cast<double>(distances[i]) / scale;
            ratios[i] = ratio * ratio;
        }
        return;
    }
    for (std::int64_t i = 0; i < n; ++i) {
        const double distance = static_cast<double>(distances[i]), bandwidth = length * by_entry[points[i]];
        const double ratio = bandwidth == 0.0 && distance == 0.0 ? 0.0 : distance / bandwidth;
        ratios[i] = ratio * ratio;
    }
}

// The values of a kernel in the place of u.
inline void kernel_values(const Kernel& cpu, WeightKernel kernel, double* u, std::int64_t n) {
    if (kernel == WeightKernel::laplace) std::transform(u, u + n, u, [](double square) { return std::sqrt(square); });
    if (kernel == WeightKernel::gaussian || kernel == WeightKernel::laplace) return cpu.exp_of_negative(u, n);
    if (kernel == WeightKernel::uniform) return std::fill(u, u + n, 1.0);
    std::transform(u, u + n, u, [](double square) { return std::max(1.0 - square, 0.0); });
}

// Which bandwidth a pair has, as a length by_row * by_entry, and how much the other end of an entry weighs.
struct Weighing {
    WeightKernel kernel;
    Lengths by_row, by_entry, masses;
};

// The weight of each entry, and what the weights of each row add up to. Where a bandwidth is zero, coinciding points
// have the weight of distance zero. The sum is of the weights as they are kept.
template <class Real, class Weight>
void weigh_rows(const Kernel& cpu, const Graph<Real>& graph, const Weighing& how, Weight* weights, double* volume,
                int n_threads) {
    parallel_rows(graph.n_samples, n_threads, [=, &cpu, &graph](std::int64_t first, std::int64_t last, std::int64_t) {
        std::vector<double> u;
        for (std::int64_t row = first; row < last; ++row) {
            const Offset begin = graph.indptr[row];
            const std::int64_t n = graph.indptr[row + 1] - begin;
            const Real* distances = graph.distances + begin;
            const Index* points = graph.indices + begin;
            u.resize(static_cast<std::size_t>(n));
            squared_ratios(distances, points, n, how.by_row[row], how.by_entry, u.data());
            kernel_values(cpu, how.kernel, u.data(), n);
            double sum = 0.0;
            for (std::int64_t i = 0; i < n; ++i) {
                weights[begin + i] = static_cast<Weight>(u[static_cast<std::size_t>(i)] * how.masses[points[i]]);
                sum += static_cast<double>(weights[begin + i]);
            }
            volume[row] = sum;
        }
    });
}

// What arrives at each point when every point sends along its row, to each entry in proportion to its weight. Parts of
// the rows add up apart, in a row of sums each, and are added in their order: as many parts on one thread as on many,
// so that sums are rounded alike. `step` is the part that this one is of all steps.
template <class Weight>
void send_mass(const Rows& graph, const Weight* weights, const double* sent_by_weight, double* sums, double* arriving,
               LoopPart step, int n_threads) {
    const std::int64_t n_rows = graph.n_samples, n_parts = n_parts_of(n_rows);
    parallel_chunks(n_parts, n_threads, step, [&] {
        return [&](std::int64_t part) {
            double* sum = sums + part * n_rows;
            std::fill(sum, sum + n_rows, 0.0);
            for (std::int64_t row = n_rows * part / n_parts; row < n_rows * (part + 1) / n_parts; ++row) {
                const double sent = sent_by_weight[row];
                for (Offset e = graph.indptr[row]; e < graph.indptr[row + 1]; ++e) {
                    sum[graph.indices[e]] += static_cast<double>(weights[e]) * sent;
                }
            }
        };
    });
    parallel_rows(n_rows, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
        for (std::int64_t point = first; point < last; ++point) {
            double total = 0.0;
            for (std::int64_t part = 0; part < n_parts; ++part) total += sums[part * n_rows + point];
            arriving[point] = total;
        }
    });
}

constexpr int ratios_in_product = 16;  // of which one logarithm is taken

// Less the logarithms of products, one after another.
inline double less_logs(const double* products, std::int64_t n) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < n; ++i) sum -= std::log(products[i]);
    return sum;
}

// The sum of log(last distance / distance) over each row of at least that many entries, without the point itself; a
// ratio counts as no more than 1 / least. Logarithms are taken of products, which are few.
template <class Real>
void row_spreads(const Graph<Real>& graph, Offset fewest, double least, double* spreads, int n_threads) {
    parallel_rows(graph.n_samples, n_threads, [=, &graph](std::int64_t first, std::int64_t last, std::int64_t) {
        std::vector<double> products;
        for (std::int64_t row = first; row < last; ++row) {
            const Offset begin = graph.indptr[row], end = graph.indptr[row + 1];
            const double reach = end > begin ? static_cast<double>(graph.distances[end - 1]) : 0.0;
            products.clear();
            for (Offset e = begin + 1; e < end && end - begin >= fewest && reach > 0.0; ++e) {
                if ((e - begin - 1) % ratios_in_product == 0) products.push_back(1.0);
                products.back() *= std::max(static_cast<double>(graph.distances[e]) / reach, least);
            }
            spreads[row] = less_logs(products.data(), static_cast<std::int64_t>(products.size()));
        }
    });
}

}  // namespace diffpeaks
