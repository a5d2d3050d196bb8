// Distances of points to one query after another, from the rows of both.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernels/kernel.hpp"

namespace diffpeaks {

template <class Real>
class ExactDistances {
  public:
    ExactDistances(const Kernel& kernel, const Real* queries, const Real* points, std::int64_t n_features)
        : kernel_(&kernel), queries_(queries), points_(points), n_features_(n_features) {}

    void begin(std::int64_t query) {
        const Real* row = queries_ + query * n_features_;
        query_.assign(row, row + n_features_);
    }

    double squared(std::int64_t point) const {
        const Real* row = points_ + point * n_features_;
        if constexpr (std::is_same_v<Real, float>) {
            return kernel_->squared_distance_f(query_.data(), row, n_features_);
        } else {
            return kernel_->squared_distance_d(query_.data(), row, n_features_);
        }
    }

    // A row lies anywhere in memory; it is on its way while another distance is computed.
    void prefetch(std::int64_t point) const {
        const auto* row = reinterpret_cast<const char*>(points_ + point * n_features_);
        const auto n_bytes = n_features_ * static_cast<std::int64_t>(sizeof(Real));
        for (std::int64_t byte = 0; byte < std::min<std::int64_t>(n_bytes, 4096); byte += 64) {
            __builtin_prefetch(row + byte);
        }
    }

  private:
    const Kernel* kernel_;
    const Real *queries_, *points_;
    std::int64_t n_features_;
    std::vector<double> query_;
};

}  // namespace diffpeaks
