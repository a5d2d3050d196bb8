// Distances of points to one query after another, from the rows of both.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "distance.hpp"
#include "kernels/kernel.hpp"

namespace diffpeaks {

template <class Real>
class ExactDistances {
  public:
    ExactDistances(const Kernel& kernel, const Real* queries, const Real* points, std::int64_t n_features)
        : kernel_(&kernel), queries_(queries), points_(points), n_features_(n_features) {}

    void begin(std::int64_t query) {
        query_row_ = queries_ + query * n_features_;
        query_.assign(query_row_, query_row_ + n_features_);
    }

    double squared(std::int64_t point) const {
        const Real* row = points_ + point * n_features_;
        if constexpr (std::is_same_v<Real, float>) {
            return kernel_->squared_distance_f(query_.data(), row, n_features_);
        } else {
            return kernel_->squared_distance_d(query_.data(), row, n_features_);
        }
    }

    // About the squared distance, and sooner; its error is at most the share `rough_error`, or too small for a float.
    float rough(std::int64_t point) const {
        if constexpr (std::is_same_v<Real, float>) {
            return kernel_->rough_distance(query_row_, points_ + point * n_features_, n_features_);
        } else {
            return static_cast<float>(squared(point));
        }
    }

    // Of each lane's sum, of the lanes together, and of what is left over.
    double rough_error() const { return static_cast<double>(n_features_ / n_lanes + 64) * std::ldexp(1.0, -24); }

    // A row lies anywhere in memory; it is on its way while another distance is computed.
    void prefetch(std::int64_t point) const {
        const auto* row = reinterpret_cast<const char*>(points_ + point * n_features_);
        const auto n_bytes = n_features_ * static_cast<std::int64_t>(sizeof(Real));
        for (std::int64_t byte = 0; byte < std::min<std::int64_t>(n_bytes, 4096); byte += 64) {
            __builtin_prefetch(row + byte);
        }
    }

    const Kernel& kernel() const { return *kernel_; }

  private:
    const Kernel* kernel_;
    const Real *queries_, *points_, *query_row_ = nullptr;
    std::int64_t n_features_;
    std::vector<double> query_;
};

}  // namespace diffpeaks
