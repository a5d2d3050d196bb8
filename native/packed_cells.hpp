// Cells as Python holds them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "cells.hpp"

namespace diffpeaks {

// Owns the packed members; centroids and slots are arrays that Python made and this keeps alive.
class PackedCells {
  public:
    PackedCells(Table<double> centroids, double scale, In<Offset> starts, In<Index> slot_point, std::int64_t n_features)
        : centroids_(centroids), starts_(starts), slot_point_(slot_point) {
        const auto n_cells = centroids.shape(0), n_slots = slot_point.shape(0);
        check_length("starts", "values", length(starts), length(centroids) + 1);
        check_length("slot_point", "values", length(slot_point), starts.data()[n_cells]);
        check_slots(length(slot_point));
        check_padded(n_features, width(centroids));
        for (std::size_t slot = 0; slot < n_slots; ++slot) n_points_ = std::max(n_points_, slot_point.data()[slot] + 1);
        panels_.reset(new Bf16[n_slots * static_cast<std::size_t>(n_features)]);
        for (auto* values : {&norms_, &half_squares_}) values->resize(n_slots);
        for (auto* values : {&rounding_, &radius_, &spread_, &tail_}) values->resize(n_cells);
        cells_ = {static_cast<std::int64_t>(n_cells),
                  n_features,
                  static_cast<std::int64_t>(centroids.shape(1)),
                  centroids_.data(),
                  scale,
                  nullptr,
                  starts_.data(),
                  slot_point_.data(),
                  panels_.get(),
                  norms_.data(),
                  half_squares_.data(),
                  rounding_.data(),
                  radius_.data(),
                  spread_.data(),
                  tail_.data()};
    }

    const Cells& cells() const { return cells_; }
    std::int64_t n_slots() const { return length(slot_point_); }
    std::int64_t n_points() const { return n_points_; }  // of which members may be some

    // Takes the spread of cells from who knows all their members, where some are not here.
    void set_spread(const float* values) { std::copy(values, values + cells_.n_cells, spread_.begin()); }

    // Puts every member farther away: by an amount, for each point, that is added to squared distances.
    void put_farther(const float* squares) {
        for (std::size_t slot = 0; slot < half_squares_.size(); ++slot) {
            const Index point = cells_.slot_point[slot];
            if (point != NO_POINT) half_squares_[slot] += 0.5f * squares[point] * (1 - 1e-5f);
        }
    }

  private:
    static void check_padded(std::int64_t n_features, std::int64_t n_coordinates) {
        if (n_features >= n_coordinates && n_features % feature_block == 0) return;
        throw std::invalid_argument("n_features is " + std::to_string(n_features) + ", expected a multiple of " +
                                    std::to_string(feature_block) + " of at least " + std::to_string(n_coordinates));
    }

    // Kernels number slots in 32 bits.
    static void check_slots(std::int64_t n_slots) {
        constexpr std::int64_t most = std::numeric_limits<Index>::max();
        if (n_slots <= most) return;
        throw std::invalid_argument("points in cells, padded to multiples of " + std::to_string(panel_width) +
                                    ", take " + std::to_string(n_slots) + " slots, more than " + std::to_string(most) +
                                    "; use fewer points, or search='tree' or 'brute'");
    }

    Table<double> centroids_;
    In<Offset> starts_;
    In<Index> slot_point_;
    std::unique_ptr<Bf16[]> panels_;
    std::vector<float> norms_, half_squares_, rounding_, radius_, spread_, tail_;
    Index n_points_ = 0;
    Cells cells_;
};

}  // namespace diffpeaks
