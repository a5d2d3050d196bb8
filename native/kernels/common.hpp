// Loops that every kernel has in common, compiled anew for each instruction set. All of it is in an unnamed namespace:
// see kernel.hpp.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../distance.hpp"
#include "kernel.hpp"

namespace diffpeaks {
namespace {

// Round to nearest, ties to even; the values are finite and far from the largest float.
inline std::uint32_t rounded_bits(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    bits += 0x7fffu + ((bits >> 16) & 1u);
    return bits & 0xffff0000u;
}

inline float as_float(std::uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline void store_rounded(std::uint32_t bits, float* out) { *out = as_float(bits); }
inline void store_rounded(std::uint32_t bits, Bf16* out) { *out = static_cast<Bf16>(bits >> 16); }

inline float lane_sum(float* lanes) {
#pragma GCC unroll 8
    for (int width = n_lanes / 2; width > 0; width /= 2) {
#pragma GCC unroll 8
        for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
    }
    return lanes[0];
}

// n_features is a multiple of feature_block
template <class Out>
Shifted shift_row(const float* query, const float* offset, std::int64_t n_features, void* out) {
    Out* values = static_cast<Out*>(out);
    float squares[n_lanes] = {}, lost[n_lanes] = {};
    for (std::int64_t f = 0; f < n_features; f += n_lanes) {
        for (int lane = 0; lane < n_lanes; ++lane) {
            const float value = query[f + lane] - offset[f + lane];
            const std::uint32_t bits = rounded_bits(value);
            store_rounded(bits, values + f + lane);
            const float difference = value - as_float(bits);
            squares[lane] += value * value;
            lost[lane] += difference * difference;
        }
    }
    return {lane_sum(squares), lane_sum(lost)};
}

inline std::int64_t count_values(const float* values, std::int64_t n, float most) {
    std::int32_t count = 0;
    for (std::int64_t i = 0; i < n; ++i) count += values[i] <= most;
    return count;
}

inline std::int64_t keep_values(float* values, std::int32_t* slots, std::int64_t n, float most) {
    std::int64_t kept = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const float value = values[i];
        values[kept] = value;
        slots[kept] = slots[i];
        kept += value <= most;
    }
    return kept;
}

#if defined(__AVX512F__)
constexpr int vector_width = 16;
#elif defined(__AVX2__)
constexpr int vector_width = 8;
#else
constexpr int vector_width = 4;
#endif
using Vector = float __attribute__((vector_size(vector_width * sizeof(float))));
constexpr int vectors_per_lanes = n_lanes / vector_width;

// Dot products of X rows with Y rows at once, so that what is loaded is used several times.
template <int X, int Y>
void dot_block(const float* x, const float* y, std::int64_t n_features, float* out, std::int64_t out_stride) {
    Vector sums[X][Y][vectors_per_lanes] = {};
    for (std::int64_t f = 0; f < n_features; f += n_lanes) {
        for (int v = 0; v < vectors_per_lanes; ++v) {
            Vector left[X], right;
            for (int i = 0; i < X; ++i) std::memcpy(&left[i], x + i * n_features + f + v * vector_width, sizeof right);
            for (int j = 0; j < Y; ++j) {
                std::memcpy(&right, y + j * n_features + f + v * vector_width, sizeof right);
                for (int i = 0; i < X; ++i) sums[i][j][v] += left[i] * right;
            }
        }
    }
    for (int i = 0; i < X; ++i) {
        for (int j = 0; j < Y; ++j) {
            float lanes[n_lanes];
            std::memcpy(lanes, sums[i][j], sizeof lanes);
            out[i * out_stride + j] = lane_sum(lanes);
        }
    }
}

template <int X>
void dots_of(const float* x, const float* rows, std::int64_t n_rows, std::int64_t n_features, float* out) {
    constexpr int Y = vector_width == 16 ? 4 : 2;  // as many sums as there are registers for
    std::int64_t row = 0;
    for (; row + Y <= n_rows; row += Y) dot_block<X, Y>(x, rows + row * n_features, n_features, out + row, n_rows);
    for (; row < n_rows; ++row) dot_block<X, 1>(x, rows + row * n_features, n_features, out + row, n_rows);
}

inline void dot_rows(const float* x, std::int64_t n_x, const float* rows, std::int64_t n_rows, std::int64_t n_features,
                     float* out) {
    constexpr int X = vector_width == 16 ? 4 : vector_width == 8 ? 2 : 1;
    std::int64_t i = 0;
    for (; i + X <= n_x; i += X) dots_of<X>(x + i * n_features, rows, n_rows, n_features, out + i * n_rows);
    for (; i < n_x; ++i) dots_of<1>(x + i * n_features, rows, n_rows, n_features, out + i * n_rows);
}

// Two sums at a time, because one would wait for itself.
inline float rough_squared_distance(const float* query, const float* point, std::int64_t n_features) {
    constexpr int at_once = 2 * n_lanes;
    float lanes[at_once] = {}, sum = 0;
    std::int64_t f = 0;
    for (; f + at_once <= n_features; f += at_once) {
        for (int lane = 0; lane < at_once; ++lane) {
            const float difference = query[f + lane] - point[f + lane];
            lanes[lane] += difference * difference;
        }
    }
    for (; f < n_features; ++f) sum += (query[f] - point[f]) * (query[f] - point[f]);
    for (int lane = 0; lane < n_lanes; ++lane) lanes[lane] += lanes[lane + n_lanes];
    return sum + lane_sum(lanes);
}

// So many points at a time, so that sums are loaded and stored once for all of them.
template <int N, class Real>
void add_some_differences(const double* query, const Real* const* rows, const double* weights, std::int64_t n_features,
                          double* __restrict sums) {
    for (std::int64_t f = 0; f < n_features; ++f) {
        double sum = sums[f];
        for (int i = 0; i < N; ++i) sum += weights[i] * (static_cast<double>(rows[i][f]) - query[f]);
        sums[f] = sum;
    }
}

template <class Real>
void add_differences(const double* query, const WeighedRows<Real>& points, std::int64_t n_features, double* sums) {
    constexpr int at_once = 4;
    std::int64_t i = 0;
    for (; i + at_once <= points.n; i += at_once) {
        add_some_differences<at_once>(query, points.rows + i, points.weights + i, n_features, sums);
    }
    for (; i < points.n; ++i) add_some_differences<1>(query, points.rows + i, points.weights + i, n_features, sums);
}

// The number whose mantissa ends with an integer is that integer plus this; adding it rounds to one.
constexpr double rounding_shift = 6755399441055744.0;  // 1.5 x 2^52

inline double power_of_two(double shifted) {
    std::int64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = static_cast<std::int64_t>((static_cast<std::uint64_t>(bits) + 1023u) << 52);
    std::memcpy(&shifted, &bits, sizeof bits);
    return shifted;
}

// exp(x) = 2^k exp(r) with |r| <= log(2) / 2 by Taylor's series, whose first left out term is below 2^-57. The power is
// taken in two halves, so that the result may be less than the least normal number.
inline void exp_of_negative(double* values, std::int64_t n) {
    constexpr double log2_of_e = 1.4426950408889634, most = 760.0;  // exp(-760) is zero
    constexpr double log_of_2_high = 0x1.62e42fefa0000p-1, log_of_2_low = 0x1.cf79abc9e3b3ap-40;
    for (std::int64_t i = 0; i < n; ++i) {
        const double x = values[i] < most ? -values[i] : -most;
        const double k = (x * log2_of_e + rounding_shift) - rounding_shift;
        const double r = (x - k * log_of_2_high) - k * log_of_2_low;
        double sum = 1.0 / 6227020800.0;
        sum = sum * r + 1.0 / 479001600.0;
        sum = sum * r + 1.0 / 39916800.0;
        sum = sum * r + 1.0 / 3628800.0;
        sum = sum * r + 1.0 / 362880.0;
        sum = sum * r + 1.0 / 40320.0;
        sum = sum * r + 1.0 / 5040.0;
        sum = sum * r + 1.0 / 720.0;
        sum = sum * r + 1.0 / 120.0;
        sum = sum * r + 1.0 / 24.0;
        sum = sum * r + 1.0 / 6.0;
        sum = sum * r + 0.5;
        sum = (sum * r) * r + r + 1.0;
        const double half = k * 0.5 + rounding_shift;
        values[i] = sum * power_of_two(half) * power_of_two((k - (half - rounding_shift)) + rounding_shift);
    }
}

// Unit supplies the instructions: `rows` queries times `panels` panels at a time, and the choice among one vector.
template <class Unit>
void scan_panels(const QueryTile& tile, const Panels& members, const Pending& pending) {
    const std::int64_t panel_values = tile.n_features * panel_width;
    Unit unit;
    float products[Unit::rows * Unit::panels * panel_width];
    for (int first = 0; first < members.n_panels; first += Unit::panels) {
        // an odd last panel is multiplied twice and read once
        const int second = first + 1 < members.n_panels ? first + 1 : first;
        unit.multiply(tile, members.values + first * panel_values, members.values + second * panel_values, products);
        const int n_panels = Unit::panels == 1 || second == first ? 1 : 2;
        for (int row = 0; row < tile.n_rows; ++row) {
            const std::int64_t list = tile.row[row];
            float* bounds = pending.bounds + list * pending.capacity;
            std::int32_t* slots = pending.slots + list * pending.capacity;
            std::int32_t count = pending.counts[list];
            for (int p = 0; p < n_panels; ++p) {
                const int at = (first + p) * panel_width;
                count += Unit::choose(products + (row * Unit::panels + p) * panel_width, members.norms + at,
                                      members.half_squares + at, tile.slack[row], tile.need[row],
                                      members.first_slot + at, bounds + count, slots + count);
            }
            pending.counts[list] = count;
        }
    }
}

// A small tile for few queries, which would leave most of a large one empty.
template <class Small, class Large>
void scan_by_rows(const QueryTile& tile, const Panels& members, const Pending& pending) {
    (tile.n_rows <= Small::rows ? scan_panels<Small> : scan_panels<Large>)(tile, members, pending);
}

template <class Small, class Large, class QueryValue>
constexpr Kernel kernel_of(const char* name, decltype(Kernel::keep_at_most) keep_at_most) {
    return {name,
            std::is_same_v<QueryValue, float>,
            Large::rows,
            scan_by_rows<Small, Large>,
            shift_row<QueryValue>,
            dot_rows,
            count_values,
            keep_at_most,
            squared_distance<float>,
            squared_distance<double>,
            rough_squared_distance,
            add_differences<float>,
            add_differences<double>,
            exp_of_negative};
}

}  // namespace
}  // namespace diffpeaks
