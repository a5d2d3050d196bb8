// A block of queries that lie together against one cell after another.
//
// A matrix product of bf16 residuals bounds every squared distance from below, with all rounding counted in; only a
// member that the bound cannot exclude gets its distance computed. So the answer is the exact one among the cells that
// are visited, whichever kernel made the product.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "cells.hpp"
#include "goals.hpp"
#include "kernels/dispatch.hpp"
#include "pending.hpp"

namespace diffpeaks {

constexpr std::int64_t run_panels = 16;  // panels that are multiplied by all queries while they are in the cache
constexpr std::int64_t run_members = run_panels * panel_width;
constexpr std::int64_t longest_list = std::int64_t{1} << 20;

// Queries that lie together: position i asks for row query_row[i]; block b is [starts[b], starts[b + 1]), around an
// origin.
struct QueryBlocks {
    std::int64_t n_blocks;
    const Offset* starts;
    const double* origins;  // n_blocks x n_coordinates
    const Index* query_row;
};

template <class Real, class Coordinate, class Goal>
class BlockJoin {
  public:
    BlockJoin(const Kernel& kernel, const Cells& cells, ExactDistances<Real> distances,
              const Coordinates<Coordinate>& coordinates, Goal goal)
        : kernel_(kernel),
          cells_(cells),
          distances_(std::move(distances)),
          coordinates_(coordinates),
          goal_(std::move(goal)),
          pending_(kernel, length_for(goal_.n_wanted(), coordinates.whole()), run_members),
          square_error_(square_error(cells.n_features)),
          product_error_(static_cast<double>(cells.n_features + 16) * std::ldexp(1.0, -23)),
          offset_(static_cast<std::size_t>(cells.n_features)) {}

    void begin(const QueryBlocks& blocks, std::int64_t block) {
        const Offset first = blocks.starts[block];
        n_queries_ = static_cast<Index>(blocks.starts[block + 1] - first);
        query_row_ = blocks.query_row + first;
        origin_ = blocks.origins + block * cells_.n_coordinates;
        const auto n = static_cast<std::size_t>(n_queries_), width = static_cast<std::size_t>(cells_.n_features);
        residuals_.assign(n * width, 0.0f);
        norms_.resize(n);
        tails_.resize(n);
        for (std::size_t q = 0; q < n; ++q) {
            const Offset position = first + static_cast<Offset>(q);
            float* row = residuals_.data() + q * width;
            residual(coordinates_.at(position), origin_, cells_.n_coordinates, cells_.scale, row);
            norms_[q] = norm(row);
            tails_[q] = coordinates_.tail(position);
        }
        const std::size_t n_rows = n + most_tile_rows;  // a kernel reads whole tiles
        tile_.resize(n_rows * width);
        for (auto* values : {&slack_, &need_, &half_square_}) values->resize(n_rows);
        active_.resize(n_rows);
        gap_.assign(n, 0.0f);
        everyone_.resize(n);
        std::iota(everyone_.begin(), everyone_.end(), 0);
        pending_.begin(n_queries_);
        goal_.begin(n_queries_);
    }

    void visit(std::int64_t cell, const IndexRange& visitors) {
        const std::int64_t n_panels = cells_.n_panels(cell);
        if (n_panels == 0) return;  // as of cells whose points are elsewhere
        const double* centroid = cells_.centroids + cell * cells_.n_coordinates;
        residual(centroid, origin_, cells_.n_coordinates, cells_.scale, offset_.data());
        const int n_active = shift_queries(cell, norm(offset_.data()), visitors);
        for (std::int64_t panel = 0; panel < n_panels; panel += run_panels) {
            const Offset slot = cells_.starts[cell] + panel * panel_width;
            const Panels run{cells_.panels + slot * cells_.n_features, cells_.norms + slot, cells_.half_squares + slot,
                             static_cast<Index>(slot), static_cast<int>(std::min(run_panels, n_panels - panel))};
            for (int first = 0; first < n_active; first += kernel_.tile_rows) {
                scan(cell, run, first, std::min(kernel_.tile_rows, n_active - first));
            }
        }
    }

    // Computes all distances that are still open; more cells may be visited afterwards.
    void settle(Index query) {
        measure_best(query, tighten(query));
        measure_rest(query);
    }

    void finish() {
        for (Index query = 0; query < n_queries_; ++query) {
            if constexpr (Goal::members_only) accept_certain(query, tighten(query));
            settle(query);
        }
        goal_.finish(query_row_);
    }

    Goal& goal() { return goal_; }
    const std::vector<float>& residuals() const { return residuals_; }
    const double* origin() const { return origin_; }
    Index n_queries() const { return n_queries_; }
    IndexRange everyone() const { return {everyone_.data(), everyone_.data() + everyone_.size()}; }

    // The squared distance, in coordinates, beyond which no point is wanted.
    double limit(Index query) const { return bound(goal_.limit(query)); }

  private:
    // A list is short, so that its limit is soon found; where the bounds leave much open it is longer, so that fewer
    // distances are computed in vain. Where all points of a ball are wanted there is no limit to find.
    static std::int64_t length_for(std::int64_t n_wanted, bool whole) {
        if (n_wanted > longest_list) return 0;
        return whole ? 2 * n_wanted + 32 : 16 * n_wanted + 64;
    }

    // The norm of a row, or a little more.
    double norm(const float* row) const {
        float square;
        kernel_.dots(row, 1, row, 1, cells_.n_features, &square);
        return std::sqrt(static_cast<double>(square) * (1 + square_error_));
    }

    char* tile_row(int row) {
        const std::size_t value_size = kernel_.wide_queries ? sizeof(float) : sizeof(Bf16);
        return reinterpret_cast<char*>(tile_.data()) +
               static_cast<std::size_t>(row) * static_cast<std::size_t>(cells_.n_features) * value_size;
    }

    // Brings the visitors to the coordinates of the cell, all but those that the whole cell is too far from.
    int shift_queries(std::int64_t cell, double offset_norm, const IndexRange& visitors) {
        const double radius = static_cast<double>(cells_.radius[cell]);
        const double rounding = static_cast<double>(cells_.rounding[cell]);
        int n = 0;
        for (const Index query : visitors) {
            const float* row = residuals_.data() + query * cells_.n_features;
            const Shifted shifted = kernel_.shift(row, offset_.data(), cells_.n_features, tile_row(n));
            const double norm = std::sqrt(shifted.square * (1 + square_error_));
            const double shift_error = std::ldexp(norms_[query] + offset_norm, -22);
            if (norm * (1 - 2 * square_error_) - shift_error - radius > std::sqrt(limit(query, cell))) continue;
            const double lost = std::sqrt(shifted.rounding * (1 + square_error_)) + shift_error;
            const double slack = (lost + norm * (rounding + product_error_)) * (1 + 1e-5);
            // the squared norm errs too, by its sum and by what the shift did to it
            const double square_lost = norm * norm * 4 * square_error_ + 2 * norm * shift_error;
            const double gap = 4 * slack * radius + 2 * square_lost +
                               8 * square_error_ * (norm * norm + radius * radius) +
                               left_out(query, cell, norm + radius);
            slack_[n] = static_cast<float>(slack);
            half_square_[n] = static_cast<float>(0.5 * std::max(0.0, norm * norm - square_lost));
            gap_[query] = std::max(gap_[query], static_cast<float>(gap * (1 + 1e-5)));
            active_[n++] = query;
        }
        return n;
    }

    // By how much a squared distance may exceed that of the coordinates.
    double left_out(Index query, std::int64_t cell, double farthest) const {
        if (coordinates_.whole()) return 0;
        const double tails = static_cast<double>(tails_[query]) + static_cast<double>(cells_.tail[cell]);
        return tails * tails + 4 * coordinates_.error * (farthest + coordinates_.error);
    }

    double bound(double squared) const { return in_coordinates(squared, cells_.scale, coordinates_.error); }
    double limit(Index query, std::int64_t cell) const { return bound(goal_.limit(query, cell)); }

    void scan(std::int64_t cell, const Panels& run, int first, int n_rows) {
        Index before[most_tile_rows];
        for (int row = first; row < first + n_rows; ++row) {
            const double need = half_square_[row] * (1 - 1e-6) - 0.5 * limit(active_[row], cell);
            need_[row] = static_cast<float>(std::max(need - 1e-6 * std::abs(need), -1e38));
            before[row - first] = pending_.count(active_[row]);
        }
        const QueryTile tile{tile_row(first),       cells_.n_features,    n_rows,
                             slack_.data() + first, need_.data() + first, active_.data() + first};
        kernel_.scan(tile, run, pending_.for_kernel());
        for (int row = first; row < first + n_rows; ++row) {
            const Index query = active_[row];
            pending_.products_to_squares(query, before[row - first], half_square_[row]);
            if (pending_.full(query)) relieve(query);
        }
    }

    // Makes room in the list of a query and lowers its limit: by bounds if that is enough, else by some distances, else
    // by all.
    void relieve(Index query) {
        const Bracket last = tighten(query);
        if (pending_.full(query)) measure_best(query, last);
        if (pending_.full(query)) measure_rest(query);
    }

    // What is nearer than all but fewer points than wanted needs no distance to be known as one of them.
    void accept_certain(Index query, const Bracket& last) {
        if (!goal_.untouched(query)) return;
        pending_.take_at_most(query, last.below * (1 - 1e-5f) - gap_[query], entries_);
        for (const auto& entry : entries_) goal_.accept(query, cells_.slot_point[entry.slot]);
    }

    // As many lower bounds as wanted, plus the gap to the upper ones, make a limit. Returns the last of these bounds.
    Bracket tighten(Index query) {
        const Bracket last = pending_.last_of(query, goal_.n_wanted());
        if (std::isinf(last.above)) return last;
        const double upper = (static_cast<double>(last.above) + gap_[query]) * (1 + 1e-6);
        goal_.lower_limit(query, upper / (cells_.scale * cells_.scale));
        pending_.keep_at_most(query, static_cast<float>(limit(query) * (1 + 1e-5)));
        return last;
    }

    // Computes the distances of the most promising; they lower the limit for the others.
    void measure_best(Index query, const Bracket& last) {
        pending_.take_at_most(query, last.above, entries_);
        measure(query);
        pending_.keep_at_most(query, static_cast<float>(limit(query) * (1 + 1e-5)));
    }

    void measure_rest(Index query) {
        pending_.take_at_most(query, std::numeric_limits<float>::infinity(), entries_);
        std::sort(entries_.begin(), entries_.end());
        measure(query);
    }

    // Distances of the entries that can still count: the limit falls on the way.
    void measure(Index query) {
        if (entries_.empty()) return;
        distances_.begin(query_row_[query]);
        double known = goal_.limit(query), most = limit(query) * (1 + 1e-5);
        for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
            if (goal_.limit(query) < known) {
                known = goal_.limit(query);
                most = limit(query) * (1 + 1e-5);
            }
            if (static_cast<double>(entry->bound) > most) continue;
            if (entry + 1 != entries_.end()) distances_.prefetch(cells_.slot_point[(entry + 1)->slot]);
            const Index point = cells_.slot_point[entry->slot];
            goal_.offer(query, point, distances_.squared(point));
        }
    }

    const Kernel& kernel_;
    const Cells cells_;
    ExactDistances<Real> distances_;
    const Coordinates<Coordinate> coordinates_;
    Goal goal_;
    PendingLists pending_;
    double square_error_, product_error_;  // of sums of squares and of products, as shares

    // of the block
    Index n_queries_ = 0;
    const Index* query_row_ = nullptr;
    const double* origin_ = nullptr;
    std::vector<float> residuals_, tails_, gap_;
    std::vector<double> norms_;
    std::vector<Index> everyone_;

    // of a cell
    std::vector<float> offset_, tile_, slack_, need_, half_square_;
    std::vector<Index> active_;
    std::vector<PendingLists::Entry> entries_;
};

}  // namespace diffpeaks
