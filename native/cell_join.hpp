// Cell join: blocks of queries that lie together against one cell after another, nearest cell first.
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
#include "probing.hpp"

namespace diffpeaks {

constexpr std::int64_t run_panels = 16;  // panels that are multiplied by all queries while they are in the cache
constexpr std::int64_t run_members = run_panels * panel_width;

// The rows from which distances are computed.
template <class Real>
struct ExactRows {
    const Real* queries;
    const Real* points;
    std::int64_t n_features;
};

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
    BlockJoin(const Kernel& kernel, const Cells& cells, const ExactRows<Real>& rows, const Probing& probing,
              Goal goal)
        : kernel_(kernel), cells_(cells), rows_(rows), probing_(probing), goal_(std::move(goal)),
          product_error_(static_cast<double>(cells.n_features + 16) * std::ldexp(1.0, -23)),
          offset_(static_cast<std::size_t>(cells.n_features)) {
        const std::int64_t wanted = std::min<std::int64_t>(goal_.n_wanted(), 1 << 20);
        full_ = (goal_.n_wanted() == wanted ? std::max<std::int64_t>(4 * wanted, 1024) : 0) + run_members;
        capacity_ = full_ + run_members + panel_width;
    }

    void run(const QueryBlocks& blocks, std::int64_t block, const Coordinates<Coordinate>& coordinates) {
        begin(blocks, block, coordinates);
        if (probing_.n_probes == 0) {
            for (const Index cell : cells_by_distance(cells_, origin_, kernel_)) visit(cell, everyone_);
        } else {
            const ProbedBlock probed(kernel_, cells_, probing_, block, origin_, residuals_, squares_);
            for (const auto& [cell, visitors] : probed.nearest()) visit(cell, visitors);
            if (probing_.reach > 0) visit_within_reach(blocks, block, coordinates, probed);
        }
        for (Index query = 0; query < n_queries_; ++query) {
            settle(query);
            goal_.finish(query, query_row_[query]);
        }
    }

    Goal& goal() { return goal_; }

  private:
    void begin(const QueryBlocks& blocks, std::int64_t block, const Coordinates<Coordinate>& coordinates) {
        const Offset first = blocks.starts[block];
        n_queries_ = static_cast<Index>(blocks.starts[block + 1] - first);
        query_row_ = blocks.query_row + first;
        const auto n = static_cast<std::size_t>(n_queries_), width = static_cast<std::size_t>(cells_.n_features);
        residuals_.assign(n * width, 0.0f);
        norms_.resize(n);
        tails_.resize(n);
        error_ = coordinates.error;
        squares_.resize(n);
        origin_ = blocks.origins + block * cells_.n_coordinates;
        for (std::size_t q = 0; q < n; ++q) {
            float* row = residuals_.data() + q * width;
            residual(coordinates.at(first + static_cast<Offset>(q)), origin_, cells_.n_coordinates, cells_.scale, row);
            kernel_.dots(row, 1, row, 1, cells_.n_features, &squares_[q]);
            tails_[q] = coordinates.tail(first + static_cast<Offset>(q));
            norms_[q] = std::sqrt(static_cast<double>(squares_[q]) * (1 + square_error(cells_.n_features)));
        }
        const std::size_t n_rows = n + most_tile_rows;  // a kernel reads whole tiles
        tile_.resize(n_rows * width);
        for (auto* values : {&slack_, &need_, &half_square_}) values->resize(n_rows);
        active_.resize(n_rows);
        pending_bounds_.resize(n * static_cast<std::size_t>(capacity_));
        pending_slots_.resize(n * static_cast<std::size_t>(capacity_));
        pending_count_.assign(n, 0);
        gap_.assign(n, 0.0f);
        everyone_.resize(n);
        std::iota(everyone_.begin(), everyone_.end(), 0);
        goal_.begin(n_queries_);
    }

    // The cells that may hold nearer points than those found in the nearest cells: a search among centroids.
    void visit_within_reach(const QueryBlocks& blocks, std::int64_t block, const Coordinates<Coordinate>& coordinates,
                            const ProbedBlock& probed) {
        std::vector<double> bounds;
        for (Index query = 0; query < n_queries_; ++query) {
            settle(query);
            bounds.push_back(std::min(probing_.reach * limit(query), 1e30) / (cells_.scale * cells_.scale));
        }
        const Cells& centroids = *probing_.centroids;
        const ExactRows<Coordinate> rows{coordinates.rows, static_cast<const Coordinate*>(centroids.rows), cells_.n_coordinates};
        const CellGoal goal(cells_.spread, probing_.spread_weight / (cells_.scale * cells_.scale));
        BlockJoin<Coordinate, Coordinate, CellGoal> among(kernel_, centroids, rows, Probing{}, goal);
        among.goal().set_bounds(std::move(bounds));
        Coordinates<Coordinate> plain = coordinates;
        plain.tails = nullptr;
        plain.error = 0;
        among.run(blocks, block, plain);
        std::vector<Visit> visits(static_cast<std::size_t>(cells_.n_cells));
        for (Index query = 0; query < n_queries_; ++query) {
            for (const Index cell : among.goal().found(query)) {
                if (!probed.probed(query, cell)) visits[static_cast<std::size_t>(cell)].visitors.push_back(query);
            }
        }
        for (Index cell = 0; cell < cells_.n_cells; ++cell) {
            const auto& visitors = visits[static_cast<std::size_t>(cell)].visitors;
            if (!visitors.empty()) visit(cell, visitors);
        }
    }

    // ---- one cell ---------------------------------------------------------------------------------------------------

    void visit(std::int64_t cell, const std::vector<Index>& visitors) {
        residual(cells_.centroids + cell * cells_.n_coordinates, origin_, cells_.n_coordinates, cells_.scale, offset_.data());
        float square;
        kernel_.dots(offset_.data(), 1, offset_.data(), 1, cells_.n_features, &square);
        const int n_active = shift_queries(cell, std::sqrt(static_cast<double>(square)), visitors);
        const std::int64_t n_panels = cells_.n_panels(cell);
        for (std::int64_t panel = 0; panel < n_panels; panel += run_panels) {
            const Offset slot = cells_.starts[cell] + panel * panel_width;
            const Panels run{cells_.panels + slot * cells_.n_features, cells_.norms + slot, cells_.half_squares + slot,
                             static_cast<Index>(slot), static_cast<int>(std::min(run_panels, n_panels - panel))};
            for (int first = 0; first < n_active; first += kernel_.tile_rows) {
                scan(cell, run, first, std::min(kernel_.tile_rows, n_active - first));
            }
        }
    }

    // Brings the visitors to the coordinates of the cell, all but those that the whole cell is too far from.
    int shift_queries(std::int64_t cell, double offset_norm, const std::vector<Index>& visitors) {
        const std::size_t value_size = kernel_.wide_queries ? sizeof(float) : sizeof(Bf16);
        const double radius = static_cast<double>(cells_.radius[cell]), rounding = static_cast<double>(cells_.rounding[cell]);
        const double error = square_error(cells_.n_features);
        int n = 0;
        for (const Index query : visitors) {
            char* row = reinterpret_cast<char*>(tile_.data()) + static_cast<std::size_t>(n) * static_cast<std::size_t>(cells_.n_features) * value_size;
            const Shifted shifted = kernel_.shift(residuals_.data() + query * cells_.n_features, offset_.data(), cells_.n_features, row);
            const double norm = std::sqrt(shifted.square * (1 + error)), shift_error = std::ldexp(norms_[query] + offset_norm, -22);
            if (norm * (1 - 2 * error) - shift_error - radius > std::sqrt(limit(query, cell))) continue;
            const double lost = std::sqrt(shifted.rounding * (1 + error)) + shift_error;
            const double slack = (lost + norm * (rounding + product_error_)) * (1 + 1e-5);
            slack_[n] = static_cast<float>(slack);
            // the squared norm errs too, by what the shift did to it
            half_square_[n] = static_cast<float>(0.5 * std::max(0.0, norm * norm * (1 - 4 * error) - 2 * norm * shift_error));
            const double arithmetic = 4 * slack * radius + 8 * error * (norm * norm + radius * radius) + 4 * norm * shift_error;
            gap_[query] = std::max(gap_[query], static_cast<float>((arithmetic + left_out(query, cell, norm + radius)) * (1 + 1e-5)));
            active_[n++] = query;
        }
        return n;
    }

    // By how much a squared distance may exceed that of the coordinates.
    double left_out(Index query, std::int64_t cell, double farthest) const {
        const double tails = static_cast<double>(tails_[query]) + static_cast<double>(cells_.tail[cell]);
        return tails * tails + 4 * error_ * (farthest + error_);
    }

    // A bound on squared distances in coordinates: theirs, as seen through coordinates that err.
    double in_coordinates(double squared) const {
        const double distance = std::sqrt(squared) * cells_.scale + 2 * error_;
        return distance * distance * (1 + 1e-6) + 1e-30;
    }
    double limit(Index query) const { return in_coordinates(goal_.limit(query)); }
    double limit(Index query, std::int64_t cell) const { return in_coordinates(goal_.limit(query, cell)); }

    void scan(std::int64_t cell, const Panels& run, int first, int n_rows) {
        Index before[most_tile_rows];
        for (int row = first; row < first + n_rows; ++row) {
            const double need = half_square_[row] * (1 - 1e-6) - 0.5 * limit(active_[row], cell);
            need_[row] = static_cast<float>(std::max(need - 1e-6 * std::abs(need), -1e38));
            before[row - first] = pending_count_[active_[row]];
        }
        const std::size_t value_size = kernel_.wide_queries ? sizeof(float) : sizeof(Bf16);
        const char* values = reinterpret_cast<const char*>(tile_.data()) + static_cast<std::size_t>(first) * static_cast<std::size_t>(cells_.n_features) * value_size;
        const QueryTile tile{values, cells_.n_features, n_rows, slack_.data() + first, need_.data() + first, active_.data() + first};
        kernel_.scan(tile, run, {pending_bounds_.data(), pending_slots_.data(), pending_count_.data(), capacity_});
        for (int row = first; row < first + n_rows; ++row) {
            const Index query = active_[row];
            float* bounds = pending_bounds_.data() + query * capacity_;
            // from products to squared distances, which compare across cells
            for (Index i = before[row - first]; i < pending_count_[query]; ++i) bounds[i] = std::max(2 * (half_square_[row] - bounds[i]), 0.0f);
            if (pending_count_[query] > full_) relieve(query);
        }
    }

    // ---- what is pending --------------------------------------------------------------------------------------------

    // Makes room in the list of a query and lowers its limit: by bounds if that is enough, else by distances.
    void relieve(Index query) {
        tighten(query);
        if (pending_count_[query] > full_ - run_members) settle(query);
    }

    // As many lower bounds as wanted, plus the gap to the upper ones, make a limit. Returns the last of these bounds.
    float tighten(Index query) {
        const Index n_pending = pending_count_[query];
        if (n_pending < goal_.n_wanted()) return std::numeric_limits<float>::infinity();
        float* bounds = pending_bounds_.data() + query * capacity_;
        const float last = enough(bounds, n_pending, goal_.n_wanted());
        const double upper = (static_cast<double>(last) + gap_[query]) * (1 + 1e-6);
        goal_.lower_limit(query, upper / (cells_.scale * cells_.scale) * (1 + 1e-12));
        const auto below = static_cast<float>(limit(query) * (1 + 1e-5));
        Index* slots = pending_slots_.data() + query * capacity_;
        pending_count_[query] = static_cast<Index>(kernel_.keep_at_most(bounds, slots, n_pending, below));
        return last;
    }

    // A value that at least n of the values do not exceed, and hardly more. Floats that are not negative are ordered like
    // their bits, and those are halved: counting is faster than sorting.
    float enough(const float* values, Index n_values, std::int64_t n) const {
        std::uint32_t below = 0, above = 0x7f7fffffu;  // the largest float
        std::int64_t count = n_values;
        while (above - below > 1 && count > n + n / 8) {
            const std::uint32_t middle = below + (above - below) / 2;
            const std::int64_t found = kernel_.count_at_most(values, n_values, as_float(middle));
            (found >= n ? above : below) = middle;
            if (found >= n) count = found;
        }
        return as_float(above);
    }

    // Computes distances, of the most promising first, until the bounds exclude the rest.
    void settle(Index query) {
        const float first_bound = tighten(query);
        const float* bounds = pending_bounds_.data() + query * capacity_;
        const Index* slots = pending_slots_.data() + query * capacity_;
        ranked_.clear();
        for (Index i = 0; i < pending_count_[query]; ++i) ranked_.emplace_back(bounds[i], slots[i]);
        pending_count_[query] = 0;
        const auto rest = std::partition(ranked_.begin(), ranked_.end(), [=](const auto& entry) { return entry.first <= first_bound; });
        measure(query, ranked_.begin(), rest);
        const double most = limit(query) * (1 + 1e-5);
        const auto promising = std::partition(rest, ranked_.end(), [=](const auto& entry) { return static_cast<double>(entry.first) <= most; });
        std::sort(rest, promising);
        measure(query, rest, promising);
    }

    bool may_count(Index query, float bound) const { return static_cast<double>(bound) <= limit(query) * (1 + 1e-5); }

    // Distances of the entries that can still count: the limit falls on the way.
    template <class Iterator>
    void measure(Index query, Iterator first, Iterator last) {
        const Real* row = rows_.queries + static_cast<std::int64_t>(query_row_[query]) * rows_.n_features;
        for (auto entry = first; entry != last; ++entry) {
            if (!may_count(query, entry->first)) continue;
            if (entry + 1 != last) prefetch(cells_.slot_point[(entry + 1)->second]);
            const Index point = cells_.slot_point[entry->second];
            goal_.offer(query, point, squared(row, rows_.points + static_cast<std::int64_t>(point) * rows_.n_features));
        }
    }

    // The row of a point lies anywhere in memory; it is on its way while another distance is computed.
    void prefetch(Index point) const {
        const char* row = reinterpret_cast<const char*>(rows_.points + static_cast<std::int64_t>(point) * rows_.n_features);
        const std::int64_t n_bytes = std::min<std::int64_t>(rows_.n_features * static_cast<std::int64_t>(sizeof(Real)), 4096);
        for (std::int64_t byte = 0; byte < n_bytes; byte += 64) __builtin_prefetch(row + byte);
    }

    double squared(const float* x, const float* y) const { return kernel_.squared_distance_f(x, y, rows_.n_features); }
    double squared(const double* x, const double* y) const { return kernel_.squared_distance_d(x, y, rows_.n_features); }

    const Kernel& kernel_;
    const Cells cells_;
    const ExactRows<Real> rows_;
    const Probing probing_;
    Goal goal_;
    double product_error_;
    std::int64_t full_, capacity_;  // of a pending list: when it is relieved, and what it can hold

    Index n_queries_ = 0;
    const Index* query_row_ = nullptr;
    const double* origin_ = nullptr;
    std::vector<float> residuals_, squares_, offset_, slack_, need_, half_square_, gap_, tails_, tile_, pending_bounds_;
    double error_ = 0;
    std::vector<double> norms_;
    std::vector<Index> active_, pending_slots_, pending_count_;
    std::vector<std::pair<float, Index>> ranked_;
    std::vector<Index> everyone_;
};

template <class Real, class Coordinate, class MakeGoal>
void cell_join(const Kernel& kernel, const Cells& cells, const ExactRows<Real>& rows, const QueryBlocks& blocks,
               const Coordinates<Coordinate>& coordinates, const Probing& probing,
               MakeGoal make_goal, int n_threads) {
    using Join = BlockJoin<Real, Coordinate, decltype(make_goal())>;
    parallel_chunks(blocks.n_blocks, n_threads, [&] {
        return [&, join = Join(kernel, cells, rows, probing, make_goal())](std::int64_t block) mutable {
            join.run(blocks, block, coordinates);
        };
    });
}

}  // namespace diffpeaks
