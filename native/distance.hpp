// The distance of two points: the one number that every search must agree on.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace diffpeaks {

// What a difference adds to the sum that stands for a distance, and how two sums make one. The functions take numbers
// as well as vectors of them.
struct SumOfSquares {
    template <class T>
    [[gnu::always_inline]] static void add(T& sum, const T& difference) {
        sum += difference * difference;
    }
    [[gnu::always_inline]] static double joined(double sum, double other) { return sum + other; }
};
struct SumOfSizes {  // Minkowski's p = 1
    template <class T>
    [[gnu::always_inline]] static void add(T& sum, const T& difference) {
        sum += difference < T{} ? -difference : difference;
    }
    [[gnu::always_inline]] static double joined(double sum, double other) { return sum + other; }
};
struct LargestSize {  // Minkowski's p = infinity
    template <class T>
    [[gnu::always_inline]] static void add(T& sum, const T& difference) {
        const T size = difference < T{} ? -difference : difference;
        sum = size > sum ? size : sum;
    }
    [[gnu::always_inline]] static double joined(double sum, double other) { return other > sum ? other : sum; }
};

// A sum of differences in double. In every full block of n_lanes features each lane sums its own feature; the lanes
// are added in halves, then come the remaining features in order. Vector units of any width give the same number, and
// without contraction to fused multiply-add every processor does. The functions are static because they are compiled
// for several instruction sets, and the linker must not take one for another.
constexpr int n_lanes = 16;

template <class Add, int stride, class X, class Y>
static double sum_of_lanes(const X* x, const Y* y, std::int64_t n_features) {
    double lanes[n_lanes] = {};
    for (std::int64_t f = 0; f < n_features; f += n_lanes) {
        for (int lane = 0; lane < n_lanes; ++lane) {
            Add::add(lanes[lane], static_cast<double>(x[f + lane]) - static_cast<double>(y[(f + lane) * stride]));
        }
    }
#pragma GCC unroll 8
    for (int width = n_lanes / 2; width > 0; width /= 2) {
#pragma GCC unroll 8
        for (int lane = 0; lane < width; ++lane) lanes[lane] = Add::joined(lanes[lane], lanes[lane + width]);
    }
    return lanes[0];
}

template <class Add, int stride, class X, class Y>
static double sum_of_differences(const X* x, const Y* y, std::int64_t n_features) {
    std::int64_t f = n_features - n_features % n_lanes;
    double sum = f == 0 ? 0.0 : sum_of_lanes<Add, stride>(x, y, f);
    for (; f < n_features; ++f) Add::add(sum, static_cast<double>(x[f]) - static_cast<double>(y[f * stride]));
    return sum;
}

// Of a query in double, which is widened once for all its distances.
template <class Real>
static double squared_distance(const double* query, const Real* point, std::int64_t n_features) {
    return sum_of_differences<SumOfSquares, 1>(query, point, n_features);
}

// How a sum becomes a distance: its root or itself, times a factor, and zero below what rounding leaves of zero.
struct Measure {
    bool root;
    double factor;
    double zero;

    template <class Real>
    Real distance(double sum) const {
        const Real value = static_cast<Real>(factor * (root ? std::sqrt(sum) : sum));
        return static_cast<double>(value) < zero ? Real{0} : value;
    }

    // No pair at most so far apart has a larger sum, when sums are computed in Real. Each term and each partial sum is
    // rounded a few times, and what is too small for Real vanishes.
    template <class Real>
    Real largest_sum(double distance, std::int64_t n_features) const {
        const double reach = (distance < zero ? zero : distance) / factor;
        const double n_roundings = 2.0 * static_cast<double>(n_features) + 20.0;
        const double slack = 1.0 + n_roundings * static_cast<double>(std::numeric_limits<Real>::epsilon());
        const double vanished = n_roundings * static_cast<double>(std::numeric_limits<Real>::denorm_min());
        return static_cast<Real>((root ? reach * reach : reach) * slack + vanished);
    }
};

// Calls f with what a Minkowski distance of that order adds up.
template <class F>
void with_order(double order, F f) {
    if (order == 1) return f(SumOfSizes());
    if (order == 2) return f(SumOfSquares());
    if (std::isinf(order)) return f(LargestSize());
    throw std::invalid_argument("order must be 1, 2 or infinity");
}

}  // namespace diffpeaks
