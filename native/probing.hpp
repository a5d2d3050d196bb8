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

// beside: for each block its own cell, then those nearest to its origin; they are ranked for each query, which visits the
// n_probes nearest. n_probes zero means that all queries visit all cells. With a positive reach a query then visits the
// other cells whose squared distance plus spread_weight times their spread is within `reach` times its limit.
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
    std::vector<float> offset(static_cast<std::size_t>(cells.n_features), 0.0f), squares(static_cast<std::size_t>(cells.n_cells));
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
    ProbedBlock(const Kernel& kernel, const Cells& cells, const Probing& probing, std::int64_t block, const double* origin,
                const std::vector<float>& queries, const std::vector<float>& query_squares)
        : kernel_(kernel), cells_(cells), probing_(probing), beside_(probing.beside + block * probing.n_beside),
          queries_(queries), query_squares_(query_squares),
          n_queries_(static_cast<Index>(query_squares.size())),
          offsets_(static_cast<std::size_t>(probing.n_beside * cells.n_features), 0.0f),
          squares_(static_cast<std::size_t>(probing.n_beside)) {
        for (std::int64_t c = 0; c < probing.n_beside; ++c) {
            float* offset = offsets_.data() + c * cells.n_features;
            residual(cells.centroids + beside_[c] * cells.n_coordinates, origin, cells.n_coordinates, cells.scale, offset);
            kernel.dots(offset, 1, offset, 1, cells.n_features, &squares_[static_cast<std::size_t>(c)]);
        }
        rank_near();
    }

    std::vector<Visit> nearest() const {
        std::vector<Visit> visits = empty_visits();
        for (Index query = 0; query < n_queries_; ++query) {
            for (std::int64_t c = 0; c < probing_.n_beside; ++c) {
                if (chosen(query, c)) visits[static_cast<std::size_t>(c)].visitors.push_back(query);
            }
        }
        return with_visitors(std::move(visits));
    }

    // Whether a cell is among the nearest of a query.
    bool probed(Index query, Index cell) const {
        const Index* found = std::find(beside_, beside_ + probing_.n_beside, cell);
        return found != beside_ + probing_.n_beside && chosen(query, found - beside_);
    }

  private:
    void rank_near() {
        const auto n_beside = static_cast<std::size_t>(probing_.n_beside);
        const auto n_probes = std::min(n_beside, static_cast<std::size_t>(probing_.n_probes));
        std::vector<float> products(n_beside * static_cast<std::size_t>(n_queries_));
        kernel_.dots(queries_.data(), n_queries_, offsets_.data(), probing_.n_beside, cells_.n_features, products.data());
        std::vector<std::pair<float, Index>> ranked(n_beside);
        chosen_.assign(n_beside * static_cast<std::size_t>(n_queries_), 0);
        for (std::size_t query = 0; query < static_cast<std::size_t>(n_queries_); ++query) {
            for (std::size_t c = 0; c < n_beside; ++c) ranked[c] = {squares_[c] - 2 * products[query * n_beside + c], static_cast<Index>(c)};
            ranked[0].first = -std::numeric_limits<float>::infinity();  // its own cell, where it finds itself
            std::nth_element(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(n_probes - 1), ranked.end());
            for (std::size_t p = 0; p < n_probes; ++p) chosen_[query * n_beside + static_cast<std::size_t>(ranked[p].second)] = 1;
        }
    }

    bool chosen(Index query, std::int64_t candidate) const {
        return chosen_[static_cast<std::size_t>(query * probing_.n_beside + candidate)];
    }

    std::vector<Visit> empty_visits() const {
        std::vector<Visit> visits(static_cast<std::size_t>(probing_.n_beside));
        for (std::size_t c = 0; c < visits.size(); ++c) visits[c].cell = beside_[c];
        return visits;
    }

    static std::vector<Visit> with_visitors(std::vector<Visit> visits) {
        visits.erase(std::remove_if(visits.begin(), visits.end(), [](const Visit& v) { return v.visitors.empty(); }), visits.end());
        return visits;
    }

    const Kernel& kernel_;
    const Cells& cells_;
    const Probing& probing_;
    const Index* beside_;
    const std::vector<float>& queries_;
    const std::vector<float>& query_squares_;
    Index n_queries_;
    std::vector<float> offsets_, squares_;
    std::vector<char> chosen_;
};

}  // namespace diffpeaks
