// The inner loops of the kd-tree, over all lanes at once: points of a leaf, boxes of a node, distances to be sorted.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "distance.hpp"

namespace diffpeaks {

constexpr int leaf_size = 32;  // points of a leaf: a bit of a mask each
constexpr int n_children = 8;  // boxes of a node

// A vector register of so many bytes, and what the loops below need of it.
template <class Real, int n_bytes>
struct Lanes {
    typedef Real Vector __attribute__((vector_size(n_bytes)));
    using Bit = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
    typedef Bit Bits __attribute__((vector_size(n_bytes)));
    static constexpr int width = n_bytes / sizeof(Real);

    // references throughout: a wide vector by value would depend on the unit for which the caller is compiled
    static void load(Vector& vector, const Real* values) { std::memcpy(&vector, values, n_bytes); }

    static std::uint32_t joined(const Bits& bits) {
        std::uint64_t words[n_bytes / 8], all = 0;
        std::memcpy(words, &bits, n_bytes);
        for (std::uint64_t word : words) all |= word;
        return static_cast<std::uint32_t>(sizeof(Real) == 4 ? all | all >> 32 : all);
    }
};

// Bit i says whether point i of the leaf lies within the bound; the leaf holds feature after feature.
template <class Add, class Real, int n_bytes>
inline __attribute__((always_inline)) std::uint32_t points_within(const Real* query, const Real* leaf,
                                                                  std::int64_t n_features, Real bound) {
    using L = Lanes<Real, n_bytes>;
    constexpr int n_vectors = leaf_size / L::width < 8 ? leaf_size / L::width : 8;  // as many as registers hold
    typename L::Bits found = {}, bit;
    for (int i = 0; i < L::width; ++i) bit[i] = typename L::Bit{1} << i;
    for (int first = 0; first < leaf_size; first += n_vectors * L::width) {
        typename L::Vector sums[n_vectors] = {};
        for (std::int64_t f = 0; f < n_features; ++f) {
            const typename L::Vector value = query[f] - typename L::Vector{};
            const Real* column = leaf + f * leaf_size + first;
#pragma GCC unroll 8
            for (int v = 0; v < n_vectors; ++v) {
                typename L::Vector point;
                L::load(point, column + v * L::width);
                Add::add(sums[v], value - point);
            }
        }
#pragma GCC unroll 8
        for (int v = 0; v < n_vectors; ++v) {
            const auto within = (typename L::Bits)(sums[v] <= bound);  // all bits of a lane, or none
            found |= within & (bit << (first + v * L::width));
        }
    }
    return L::joined(found);
}

// Sums from the query to the nearest place of each box. Feature by feature the boxes hold all lower, then all upper
// sides.
template <class Add, class Real, int n_bytes>
inline __attribute__((always_inline)) void sums_to_boxes(const Real* query, const Real* boxes, std::int64_t n_features,
                                                         Real* result) {
    constexpr int used_bytes = n_bytes < n_children * int{sizeof(Real)} ? n_bytes : n_children * int{sizeof(Real)};
    using L = Lanes<Real, used_bytes>;
    constexpr int n_vectors = n_children / L::width;
    typename L::Vector sums[n_vectors] = {};
    for (std::int64_t f = 0; f < n_features; ++f) {
        const typename L::Vector value = query[f] - typename L::Vector{};
        const Real* lower = boxes + 2 * f * n_children;
#pragma GCC unroll 8
        for (int v = 0; v < n_vectors; ++v) {
            typename L::Vector low, high;
            L::load(low, lower + v * L::width);
            L::load(high, lower + n_children + v * L::width);
            const typename L::Vector below = low - value, above = value - high;
            const typename L::Vector outside = below > above ? below : above;
            const typename L::Vector none = {};
            Add::add(sums[v], outside > none ? outside : none);
        }
    }
    std::memcpy(result, sums, sizeof(sums));
}

// How many of the first n values are smaller than each of leaf_size values.
template <class Real, int n_bytes>
inline __attribute__((always_inline)) void ranks_among(const Real* values, int n,
                                                       typename Lanes<Real, n_bytes>::Bit* result) {
    using L = Lanes<Real, n_bytes>;
    constexpr int n_vectors = leaf_size / L::width < 4 ? leaf_size / L::width : 4;
    for (int first = 0; first < leaf_size; first += n_vectors * L::width) {
        typename L::Vector own[n_vectors];
        typename L::Bits ranks[n_vectors] = {};
        std::memcpy(own, values + first, sizeof(own));
        for (int i = 0; i < n; ++i) {
            const typename L::Vector other = values[i] - typename L::Vector{};
#pragma GCC unroll 8
            for (int v = 0; v < n_vectors; ++v) ranks[v] -= (typename L::Bits)(other < own[v]);  // true is -1
        }
        std::memcpy(result + first, ranks, sizeof(ranks));
    }
}

// The loops are compiled for each width of vector unit and chosen when the program runs; beyond 256 bits nothing is
// gained. Without fused multiply-add every width gives the same numbers.
template <class Real>
struct Scan {
    using Rank = typename Lanes<Real, 16>::Bit;
    std::uint32_t (*points_within)(const Real* query, const Real* leaf, std::int64_t n_features, Real bound);
    void (*sums_to_boxes)(const Real* query, const Real* boxes, std::int64_t n_features, Real* result);
    void (*ranks_among)(const Real* values, int n, Rank* result);
};

#define DIFFPEAKS_SCAN(Name, n_bytes, target)                                                                          \
    template <class Add, class Real>                                                                                   \
    struct Name {                                                                                                      \
        target static std::uint32_t points(const Real* query, const Real* leaf, std::int64_t n_features, Real bound) { \
            return points_within<Add, Real, n_bytes>(query, leaf, n_features, bound);                                  \
        }                                                                                                              \
        target static void boxes(const Real* query, const Real* boxes, std::int64_t n_features, Real* result) {        \
            sums_to_boxes<Add, Real, n_bytes>(query, boxes, n_features, result);                                       \
        }                                                                                                              \
        target static void ranks(const Real* values, int n, typename Scan<Real>::Rank* result) {                       \
            ranks_among<Real, n_bytes>(values, n, result);                                                             \
        }                                                                                                              \
        static constexpr Scan<Real> loops() { return {points, boxes, ranks}; }                                         \
    };

DIFFPEAKS_SCAN(Scan128, 16, )
#if defined(__x86_64__)
DIFFPEAKS_SCAN(Scan256, 32, __attribute__((target("avx2"))))
#endif
#undef DIFFPEAKS_SCAN

template <class Add, class Real>
Scan<Real> widest_scan() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return Scan256<Add, Real>::loops();
#endif
    return Scan128<Add, Real>::loops();
}

}  // namespace diffpeaks
