// Points in cells: each a residual to the centroid of its cell, rounded to bf16 and laid out for the kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "distance.hpp"
#include "graph.hpp"
#include "kernels/kernel.hpp"
#include "parallel.hpp"

namespace diffpeaks {

// Coordinates: rows of numbers whose distances, in units of 1 / scale, exceed those of the points by no more than twice
// `error`. What they leave out of a point has at most the length of its tail.
template <class Real>
struct Coordinates {
    const Real* rows;
    std::int64_t n_features;
    double scale;
    double error;
    const float* tails;  // a null pointer if nothing is left out
    const Index* row;    // which of the rows; a null pointer stands for each in turn

    std::int64_t index(std::int64_t i) const { return row ? static_cast<std::int64_t>(row[i]) : i; }
    const Real* at(std::int64_t i) const { return rows + index(i) * n_features; }
    float tail(std::int64_t i) const { return tails ? tails[index(i)] : 0.0f; }
    bool whole() const { return tails == nullptr; }

    // For a search among the coordinates themselves, which they represent without error.
    Coordinates without_error() const { return {rows, n_features, scale, 0.0, nullptr, row}; }
    Coordinates with_rows(const Index* others) const { return {rows, n_features, scale, error, tails, others}; }
};

struct Cells {
    std::int64_t n_cells;
    std::int64_t n_features;  // padded to a multiple of feature_block
    std::int64_t n_coordinates;
    const double* centroids;  // n_cells x n_coordinates
    double scale;
    const void* rows;         // the coordinates of the points, where distances are computed from them
    const Offset* starts;     // first slot of each cell; slots are padded to whole panels
    const Index* slot_point;  // which point stands there; NO_POINT for padding
    Bf16* panels;
    float* norms;
    float* half_squares;
    float* rounding;  // of each cell: what bf16 lost of a member, as a share of its norm, at most
    float* radius;    // of each cell: the largest norm of a member
    float* spread;    // of each cell: the mean squared norm of its members
    float* tail;      // of each cell: the longest tail of a member

    std::int64_t n_panels(std::int64_t cell) const { return (starts[cell + 1] - starts[cell]) / panel_width; }
};

// The difference of two rows in double, scaled, as floats.
template <class A, class B>
void residual(const A* row, const B* from, std::int64_t n, double scale, float* out) {
    for (std::int64_t f = 0; f < n; ++f) {
        out[f] = static_cast<float>((static_cast<double>(row[f]) - static_cast<double>(from[f])) * scale);
    }
}

// Coordinates along some directions: dot products of each row, relative to `center`, with the rows of `directions`,
// which are padded; and the squared norm of the row.
template <class Real>
void project(const Kernel& kernel, const Coordinates<Real>& points, std::int64_t n_rows, const double* center,
             const float* directions, std::int64_t n_directions, std::int64_t n_padded, float* out, float* squares,
             int n_threads) {
    constexpr std::int64_t batch = 16;
    parallel_rows(n_rows, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
        std::vector<float> rows(static_cast<std::size_t>(batch * n_padded), 0.0f);
        for (std::int64_t i = first; i < last; i += batch) {
            const std::int64_t n = std::min(batch, last - i);
            for (std::int64_t row = 0; row < n; ++row) {
                float* shifted = rows.data() + row * n_padded;
                residual(points.at(i + row), center, points.n_features, 1.0, shifted);
                kernel.dots(shifted, 1, shifted, 1, n_padded, squares + i + row);
            }
            kernel.dots(rows.data(), n, directions, n_directions, n_padded, out + i * n_directions);
        }
    });
}

// What a sum of squares of that many features errs by in float, as a share of itself.
inline double square_error(std::int64_t n_features) {
    return static_cast<double>(n_features / n_lanes + 16) * std::ldexp(1.0, -24);
}

// A bound on squared distances as a bound on those of scaled coordinates, which err.
inline double in_coordinates(double squared, double scale, double error) {
    const double distance = std::sqrt(squared) * scale + 2 * error;
    return distance * distance * (1 + 1e-6) + 1e-30;
}

// Packs one member: its values in the panel, its norms beside them. Returns what bf16 lost, as a share of its norm.
inline double pack_member(const Cells& cells, Offset slot, const float* row, const float* zero, Bf16* rounded) {
    const std::int64_t n_features = cells.n_features;
    const Shifted member = shift_to_bf16(row, zero, n_features, rounded);
    Bf16* panel = cells.panels + (slot / panel_width) * panel_width * n_features + 2 * (slot % panel_width);
    for (std::int64_t f = 0; f < n_features; f += 2) {
        std::copy(rounded + f, rounded + f + 2, panel + f * panel_width);
    }
    const double error = square_error(n_features), square = static_cast<double>(member.square);
    const double norm = std::sqrt(square * (1 + error)), lost = std::sqrt(member.rounding * (1 + error));
    cells.norms[slot] = static_cast<float>(norm * (1 + 1e-6));
    cells.half_squares[slot] = static_cast<float>(0.5 * square * (1 - 4 * error));
    return norm > 0 ? lost / norm + std::ldexp(1.0, -23) : 0.0;
}

// Packs the members of a cell; `rows` is room for three rows, of which the second stays zero.
template <class Real>
void pack_cell(const Cells& cells, const Coordinates<Real>& points, std::int64_t cell, std::vector<float>& rows) {
    const std::int64_t n_features = cells.n_features;
    float *row = rows.data(), *zero = row + n_features, *rounded = zero + n_features;
    const double* centroid = cells.centroids + cell * cells.n_coordinates;
    double rounding = 0, squares = 0, n_members = 0;
    float radius = 0, tail = 0;
    for (Offset slot = cells.starts[cell]; slot < cells.starts[cell + 1]; ++slot) {
        const bool padding = cells.slot_point[slot] == NO_POINT;
        std::fill(row, row + n_features, 0.0f);
        if (!padding) {
            tail = std::max(tail, points.tail(slot));
            residual(points.at(slot), centroid, cells.n_coordinates, cells.scale, row);
        }
        rounding = std::max(rounding, pack_member(cells, slot, row, zero, reinterpret_cast<Bf16*>(rounded)));
        radius = std::max(radius, cells.norms[slot]);
        squares += static_cast<double>(cells.norms[slot]) * static_cast<double>(cells.norms[slot]);
        n_members += !padding;
        if (padding) cells.half_squares[slot] = std::numeric_limits<float>::infinity();
    }
    cells.rounding[cell] = static_cast<float>(rounding * (1 + 1e-6));
    cells.radius[cell] = radius;
    cells.tail[cell] = tail;
    cells.spread[cell] = static_cast<float>(squares / std::max(n_members, 1.0));
}

// `points` holds the rows of the members in the order of slots.
template <class Real>
void pack_cells(const Cells& cells, const Coordinates<Real>& points, int n_threads) {
    parallel_chunks(cells.n_cells, n_threads, [&] {
        return [&, rows = std::vector<float>(static_cast<std::size_t>(3 * cells.n_features))](
                   std::int64_t cell) mutable { pack_cell(cells, points, cell, rows); };
    });
}

}  // namespace diffpeaks
