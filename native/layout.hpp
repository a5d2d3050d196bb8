// A map of points: neighbours pull each other together, and all points push each other apart, by the potential of all,
// which is kept on a grid.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "graph.hpp"
#include "parallel.hpp"

namespace diffpeaks {

// A square grid over the places, low enough that a cubic spline around each place lies within.
struct Grid {
    double low_x, low_y, spacing;
    std::int64_t width;
};

// The cubic spline around a place along one axis: four nodes, the first at `node`, with its values and slopes there.
struct Spline {
    std::int64_t node;
    std::array<double, 4> values, slopes;

    explicit Spline(double position) : node(static_cast<std::int64_t>(position) - 1) {
        const double t = position - static_cast<double>(node + 1), s = 1.0 - t;
        values = {s * s * s / 6, 2.0 / 3 - t * t * (1 - t / 2), 2.0 / 3 - s * s * (1 - s / 2), t * t * t / 6};
        slopes = {-s * s / 2, t * (1.5 * t - 2), s * (2 - 1.5 * s), t * t / 2};
    }
};

// The splines around a place along both axes.
inline std::array<Spline, 2> splines_at(const Grid& grid, const double* place) {
    return {Spline((place[0] - grid.low_x) / grid.spacing), Spline((place[1] - grid.low_y) / grid.spacing)};
}

// How many points each node of the grid stands for. Parts of the points add up apart, in a grid each, and are added in
// their order: as many parts on one thread as on many, so that sums are rounded alike.
inline void count_on_grid(const Grid& grid, std::int64_t n_places, const double* places, double* sums, double* counts,
                          int n_threads) {
    const std::int64_t n_parts = n_parts_of(n_places), n_nodes = grid.width * grid.width;
    parallel_chunks(n_parts, n_threads, [&] {
        return [&](std::int64_t part) {
            double* sum = sums + part * n_nodes;
            std::fill(sum, sum + n_nodes, 0.0);
            for (std::int64_t i = n_places * part / n_parts; i < n_places * (part + 1) / n_parts; ++i) {
                const auto [x, y] = splines_at(grid, places + 2 * i);
                for (std::size_t a = 0; a < 4; ++a) {
                    double* row = sum + (x.node + static_cast<std::int64_t>(a)) * grid.width + y.node;
                    for (std::size_t b = 0; b < 4; ++b) row[b] += x.values[a] * y.values[b];
                }
            }
        };
    });
    parallel_rows(n_nodes, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
        for (std::int64_t node = first; node < last; ++node) {
            double total = 0.0;
            for (std::int64_t part = 0; part < n_parts; ++part) total += sums[part * n_nodes + node];
            counts[node] = total;
        }
    });
}

// The potential at each place and its slope, three values each, from those at the nodes, `stride` apart from row to
// row.
inline void potential_at(const Grid& grid, const double* potential, std::int64_t stride, std::int64_t n_places,
                         const double* places, double* found, int n_threads) {
    parallel_rows(n_places, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
        for (std::int64_t i = first; i < last; ++i) {
            const auto [x, y] = splines_at(grid, places + 2 * i);
            double height = 0.0, slope_x = 0.0, slope_y = 0.0;
            for (std::size_t a = 0; a < 4; ++a) {
                const double* row = potential + (x.node + static_cast<std::int64_t>(a)) * stride + y.node;
                double along = 0.0, change = 0.0;
                for (std::size_t b = 0; b < 4; ++b) {
                    along += y.values[b] * row[b];
                    change += y.slopes[b] * row[b];
                }
                height += x.values[a] * along;
                slope_x += x.slopes[a] * along;
                slope_y += x.values[a] * change;
            }
            found[3 * i] = height;
            found[3 * i + 1] = slope_x / grid.spacing;
            found[3 * i + 2] = slope_y / grid.spacing;
        }
    });
}

// How a step is made: how much the pull of neighbours, the pull of the middle beside it, and the slope of the potential
// count, what of the last step is kept, and how long it may be.
struct Descent {
    double pull, gravity, push, momentum, longest;
};

// Gains grow along an axis where forces go on in the direction of the last step, and shrink where they turn.
inline double next_gain(double gain, bool goes_on) { return goes_on ? gain + 0.2 : std::max(0.8 * gain, 0.01); }

// The next step of each point from where all are now.
inline void next_steps(const Rows& rows, const float* weights, const double* places, const double* potential,
                       const Descent& how, double* steps, double* gains, int n_threads) {
    parallel_rows(rows.n_samples, n_threads, [=, &rows](std::int64_t first, std::int64_t last, std::int64_t) {
        for (std::int64_t i = first; i < last; ++i) {
            const double x = places[2 * i], y = places[2 * i + 1];
            double pull[2] = {0.0, 0.0};
            for (Offset e = rows.indptr[i]; e < rows.indptr[i + 1]; ++e) {
                const double* other = places + 2 * static_cast<std::int64_t>(rows.indices[e]);
                const double dx = other[0] - x, dy = other[1] - y;
                const double weight = static_cast<double>(weights[e]) / (1.0 + (dx * dx + dy * dy));
                pull[0] += weight * dx;
                pull[1] += weight * dy;
            }
            double *step = steps + 2 * i, *gain = gains + 2 * i;
            for (int axis = 0; axis < 2; ++axis) {
                const double inward = pull[axis] - how.gravity * places[2 * i + axis];
                const double force = how.pull * inward - how.push * potential[3 * i + 1 + axis];
                gain[axis] = next_gain(gain[axis], force * step[axis] > 0.0);
                step[axis] = how.momentum * step[axis] + gain[axis] * force;
            }
            const double length = std::sqrt(step[0] * step[0] + step[1] * step[1]);
            if (length > how.longest) {
                step[0] *= how.longest / length;
                step[1] *= how.longest / length;
            }
        }
    });
}

}  // namespace diffpeaks
