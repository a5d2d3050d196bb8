// Which cells the queries of a block visit: for each the nearest few and, once it knows how far its neighbours are,
// those that may hold nearer ones. Every number that decides is computed alike by all kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "block_join.hpp"
#include "cells.hpp"

namespace diffpeaks {

// beside: for each block its own cell, then those nearest to its origin; they are ranked for each query, which visits
// the n_probes nearest, or a few more. n_probes zero means that all queries visit all cells. With a positive reach a
// query also visits cells by score, their squared distance plus spread_weight times their spread: those up to `reach`
// times its limit, and the n_reached best of them where they are more. Limits that are known are scaled squares by the
// row of a query. Where the scores of the last cells that queries reach are known too, some of the cells may be looked
// at apart from others, and the centroids are those of these cells.
struct Probing {
    const Index* beside;
    std::int64_t n_beside;
    std::int64_t n_probes;
    double spread_weight;
    double reach;
    std::int64_t n_reached;
    const Cells* centroids;  // the centroids as points in cells of their own
    const double* limits = nullptr;
    const double* last_scores = nullptr;
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

// Pairs of a key and a query, to be visited in the order of keys.
class Visits {
  public:
    void clear() { pairs_.clear(); }
    void add(Index key, Index query) { pairs_.emplace_back(key, query); }

    // Calls visit(key, queries) for every key in [0, n_keys) that has any.
    template <class Visit>
    void in_order(std::int64_t n_keys, Visit visit) {
        ends_.assign(static_cast<std::size_t>(n_keys), 0);
        for (const auto& pair : pairs_) ++ends_[static_cast<std::size_t>(pair.first)];
        std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
        queries_.resize(pairs_.size());
        for (auto pair = pairs_.rbegin(); pair != pairs_.rend(); ++pair) {
            queries_[--ends_[static_cast<std::size_t>(pair->first)]] = pair->second;
        }
        // each end has moved to where its key starts
        for (std::size_t key = 0; key < ends_.size(); ++key) {
            const std::size_t first = ends_[key], last = key + 1 < ends_.size() ? ends_[key + 1] : pairs_.size();
            const IndexRange queries{queries_.data() + first, queries_.data() + last};
            if (first < last) visit(static_cast<Index>(key), queries);
        }
    }

  private:
    std::vector<std::pair<Index, Index>> pairs_;
    std::vector<std::size_t> ends_;
    std::vector<Index> queries_;
};

// The nearest cells of the queries of one block, among the candidates beside it.
class NearestCells {
  public:
    NearestCells(const Kernel& kernel, const Cells& cells, const Probing& probing, std::int64_t block,
                 const double* origin, const std::vector<float>& queries, Index n_queries)
        : n_queries_(n_queries), beside_(probing.beside + block * probing.n_beside) {
        const auto n_beside = static_cast<std::size_t>(probing.n_beside), n_rows = static_cast<std::size_t>(n_queries);
        std::vector<float> offsets(n_beside * static_cast<std::size_t>(cells.n_features), 0.0f);
        std::vector<float> squares(n_beside), products(n_beside * n_rows);
        for (std::size_t c = 0; c < n_beside; ++c) {
            float* offset = offsets.data() + c * static_cast<std::size_t>(cells.n_features);
            residual(cells.centroids + beside_[c] * cells.n_coordinates, origin, cells.n_coordinates, cells.scale,
                     offset);
            kernel.dots(offset, 1, offset, 1, cells.n_features, &squares[c]);
        }
        kernel.dots(queries.data(), n_queries, offsets.data(), probing.n_beside, cells.n_features, products.data());
        const std::int64_t n_probes = std::min(probing.n_beside, probing.n_probes);
        std::vector<float> far(n_beside);
        for (Index query = 0; query < n_queries; ++query) {
            const float* own = products.data() + static_cast<std::size_t>(query) * n_beside;
            const float* row = queries.data() + query * cells.n_features;
            float square;
            kernel.dots(row, 1, row, 1, cells.n_features, &square);
            for (std::size_t c = 0; c < n_beside; ++c) far[c] = std::max(square + (squares[c] - 2 * own[c]), 0.0f);
            far[0] = 0.0f;  // its own cell, where it finds itself
            const float most = last_of(kernel, far.data(), probing.n_beside, n_probes).above;
            for (std::size_t c = 0; c < n_beside; ++c) {
                if (far[c] <= most) chosen_.push_back(static_cast<Index>(c));
            }
            ends_.push_back(chosen_.size());
        }
    }

    Index cell(Index candidate) const { return beside_[candidate]; }

    void add_to(Visits& visits) const {
        for (Index query = 0; query < n_queries_; ++query) {
            for (const Index candidate : candidates(query)) visits.add(candidate, query);
        }
    }

    // Marks those of all queries, by the number of the cell.
    void mark(bool* cells) const {
        for (const Index candidate : chosen_) cells[cell(candidate)] = true;
    }

    std::vector<Index> of(Index query) const {
        std::vector<Index> found;
        for (const Index candidate : candidates(query)) found.push_back(cell(candidate));
        return found;
    }

    bool has(Index query, Index wanted) const {
        const IndexRange own = candidates(query);
        return std::any_of(own.begin(), own.end(), [&](Index candidate) { return cell(candidate) == wanted; });
    }

  private:
    // Some of the cells beside the block, by their places there.
    IndexRange candidates(Index query) const {
        const auto at = static_cast<std::size_t>(query);
        return {chosen_.data() + ends_[at], chosen_.data() + ends_[at + 1]};
    }

    Index n_queries_;
    const Index* beside_;
    std::vector<Index> chosen_;            // candidates of one query after another
    std::vector<std::size_t> ends_ = {0};  // of these
};

}  // namespace diffpeaks
