// Samples by value, the largest first: a radix sort, which keeps the order of equal values.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "graph.hpp"

namespace diffpeaks {

// An unsigned number for each value, smaller for larger values.
inline std::uint64_t descending_key(double value) {
    value += 0.0;  // both zeros are one value
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const std::uint64_t sign = std::uint64_t{1} << 63;
    return bits & sign ? bits : ~(bits | sign);
}

// Sorts the samples in order by their values, digit by digit of the keys from the lowest on.
inline void sort_descending(const double* values, Index* order, std::int64_t n) {
    constexpr int n_bits = 11, n_digits = 6;
    constexpr std::size_t n_bins = std::size_t{1} << n_bits;
    struct Keyed {
        std::uint64_t key;
        Index sample;
    };
    const auto digit = [](const Keyed& keyed, int which) { return (keyed.key >> (which * n_bits)) & (n_bins - 1); };
    std::vector<Keyed> from(static_cast<std::size_t>(n)), to(from.size());
    std::vector<std::array<std::size_t, n_bins>> counts(n_digits);
    for (std::size_t i = 0; i < from.size(); ++i) {
        from[i] = {descending_key(values[order[i]]), order[i]};
        for (int which = 0; which < n_digits; ++which) ++counts[static_cast<std::size_t>(which)][digit(from[i], which)];
    }
    for (int which = 0; which < n_digits; ++which) {
        auto& places = counts[static_cast<std::size_t>(which)];
        if (n == 0 || places[digit(from[0], which)] == from.size()) continue;  // all have the same
        std::size_t before = 0;
        for (std::size_t& place : places) before += std::exchange(place, before);
        for (const Keyed& keyed : from) to[places[digit(keyed, which)]++] = keyed;
        from.swap(to);
    }
    for (std::size_t i = 0; i < from.size(); ++i) order[i] = from[i].sample;
}

}  // namespace diffpeaks
