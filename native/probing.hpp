// Which cells the queries of a block visit: for each the nearest few and, once it knows how far its neighbours are,
// those that may hold nearer ones. Every number that decides is computed alike by all kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "cells.hpp"

namespace diffpeaks {

// beside: for each block its own cell, then those nearest to its origin; they are ranked for each query, which visits
// the n_probes nearest. n_probes zero means that all queries visit all cells. With a positive reach a query then visits
// the other cells whose squared distance plus spread_weight times their spread is within `reach` times its limit.
struct Probing {
    const Index* beside;
    std::int64_t n_beside;
    std::int64_t n_probes;
    double spread_weight;
    double reach;
    const Cells* centroids;  // the centroids as points in cells of their own
};

// All cells, from the nearest on.
inline std::vector<Index> cells_by_distance(const Cells& cells, const double* origin, const Kernel& kernel) {
    std::vector<float> offset(static_cast<std::size_t>(cells.n_features), 0.0f),
        squares(static_cast<std::size_t>(cells.n_cells));
    for (std::int64_t cell = 0; cell < cells.n_cells; ++cell) {
        residual(cells.centroids + cell * cells.n_coordinates, origin, cells.n_coordinates, cells.scale, offset.data());
        kernel.dots(offset.data(), 1, offset.data(), 1, cells.n_features, &squares[static_cast<std::size_t>(cell)]);
    }
    std::vector<Index> order(squares.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return squares[a] < squares[b]; });
    return order;
}

struct Visit {
    Index cell;
    std::vector<Index> visitors;
};

// The nearest cells of the queries of one block.
class ProbedBlock {
  public:
    ProbedBlock(const Kernel& kernel, const Cells& cells, const Probing& probing, std::int64_t block,
                const double* origin, const std::vector<float>& queries, Index n_queries)
        : n_queries_(n_queries), n_beside_(probing.n_beside), beside_(probing.beside + block * probing.n_beside) {
        const auto n_beside = static_cast<std::size_t>(n_beside_), n_rows = static_cast<std::size_t>(n_queries);
        std::vector<float> offsets(n_beside * static_cast<std::size_t>(cells.n_features), 0.0f);
        std::vector<float> squares(n_beside), products(n_beside * n_rows);
        for (std::size_t c = 0; c < n_beside; ++c) {
            float* offset = offsets.data() + c * static_cast<std::size_t>(cells.n_features);
            residual(cells.centroids + beside_[c] * cells.n_coordinates, origin, cells.n_coordinates, cells.scale,
                     offset);
            kernel.dots(offset, 1, offset, 1, cells.n_features, &squares[c]);
        }
        kernel.dots(queries.data(), n_queries, offsets.data(), n_beside_, cells.n_features, products.data());
        choose(squares, products, std::min(n_beside, static_cast<std::size_t>(probing.n_probes)));
    }

    std::vector<Visit> nearest() const {
        std::vector<Visit> visits;
        for (std::int64_t c = 0; c < n_beside_; ++c) {
            Visit visit{beside_[c], {}};
            for (Index query = 0; query < n_queries_; ++query) {
                if (chosen(query, c)) visit.visitors.push_back(query);
            }
            if (!visit.visitors.empty()) visits.push_back(std::move(visit));
        }
        return visits;
    }

    // Whether a cell is among the nearest of a query.
    bool probed(Index query, Index cell) const {
        const Index* found = std::find(beside_, beside_ + n_beside_, cell);
        return found != beside_ + n_beside_ && chosen(query, found - beside_);
    }

  private:
    void choose(const std::vector<float>& squares, const std::vector<float>& products, std::size_t n_probes) {
        const std::size_t n_beside = squares.size();
        std::vector<std::pair<float, Index>> ranked(n_beside);
        chosen_.assign(products.size(), 0);
        for (std::size_t first = 0; first < products.size(); first += n_beside) {
            for (std::size_t c = 0; c < n_beside; ++c) {
                ranked[c] = {squares[c] - 2 * products[first + c], static_cast<Index>(c)};
            }
            ranked[0].first = -std::numeric_limits<float>::infinity();  // its own cell, where it finds itself
            std::nth_element(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(n_probes - 1), ranked.end());
            for (std::size_t p = 0; p < n_probes; ++p) chosen_[first + static_cast<std::size_t>(ranked[p].second)] = 1;
        }
    }

    bool chosen(Index query, std::int64_t candidate) const {
        return chosen_[static_cast<std::size_t>(query * n_beside_ + candidate)];
    }

    Index n_queries_;
    std::int64_t n_beside_;
    const Index* beside_;
    std::vector<char> chosen_;
};

}  // namespace diffpeaks
