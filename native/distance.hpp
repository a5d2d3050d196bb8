// The distance of two points: the one number that every search must agree on.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace diffpeaks {

// A sum of squared differences in double. In every full block of n_lanes features each lane sums its own feature; the
// lanes are added in halves, then come the remaining features in order. Vector units of any width give the same number,
// and without contraction to fused multiply-add every processor does.
constexpr int n_lanes = 16;

// Static, because it is compiled for several instruction sets, and the linker must not take one for another.
template <class Real>
static double squared_distance(const Real* x, const Real* y, std::int64_t n_features) {
    double lanes[n_lanes] = {};
    std::int64_t f = 0;
    for (; f + n_lanes <= n_features; f += n_lanes) {
        for (int lane = 0; lane < n_lanes; ++lane) {
            const double difference = static_cast<double>(x[f + lane]) - static_cast<double>(y[f + lane]);
            lanes[lane] += difference * difference;
        }
    }
    for (int width = n_lanes / 2; width > 0; width /= 2) {
        for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
    }
    double sum = lanes[0];
    for (; f < n_features; ++f) {
        const double difference = static_cast<double>(x[f]) - static_cast<double>(y[f]);
        sum += difference * difference;
    }
    return sum;
}

// What is reported of a squared distance. The least angle that rounding of unit vectors can make counts as none.
enum class DistanceForm : int { root = 0, square = 1, half_square = 2 };

template <class Real>
static Real reported(double squared, DistanceForm form) {
    if (form == DistanceForm::root) return static_cast<Real>(std::sqrt(squared));
    if (form == DistanceForm::square) return static_cast<Real>(squared);
    constexpr Real zero = 4 * std::numeric_limits<Real>::epsilon();
    const Real half = static_cast<Real>(squared) / 2;
    return half < zero * zero / 2 ? Real{0} : half;
}

}  // namespace diffpeaks
