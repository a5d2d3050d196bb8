// Points grouped by where they lie: equal rows are found by a hash and told apart by their values. And how far they are
// from zero.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "distance.hpp"
#include "graph.hpp"
#include "parallel.hpp"

namespace diffpeaks {

// Equal rows have equal hashes: adding zero turns -0.0 into 0.0.
template <class Real>
std::uint64_t row_hash(const Real* row, std::int64_t n_features) {
    std::uint64_t hash = 0x9e3779b97f4a7c15u;
    for (std::int64_t f = 0; f < n_features; ++f) {
        const Real value = row[f] + Real{0};
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof value);
        hash = (hash ^ bits) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    return hash;
}

// The first point that lies where each point lies.
template <class Real>
void first_equal(const Real* points, std::int64_t n_samples, std::int64_t n_features, Index* first, int n_threads) {
    struct Key {
        std::uint64_t hash;
        Index point;
        bool operator<(const Key& other) const { return hash != other.hash ? hash < other.hash : point < other.point; }
    };
    std::vector<Key> keys(static_cast<std::size_t>(n_samples));
    parallel_rows(n_samples, n_threads, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
        for (std::int64_t i = begin; i < end; ++i) {
            keys[static_cast<std::size_t>(i)] = {row_hash(points + i * n_features, n_features), static_cast<Index>(i)};
        }
    });
    std::sort(keys.begin(), keys.end());
    std::vector<Index> different;  // the first points of the locations that share a hash
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (i == 0 || keys[i].hash != keys[i - 1].hash) different.clear();
        const Real* row = points + keys[i].point * n_features;
        const auto same = std::find_if(different.begin(), different.end(), [&](Index other) {
            return std::equal(row, row + n_features, points + other * n_features);
        });
        first[keys[i].point] = same == different.end() ? keys[i].point : *same;
        if (same == different.end()) different.push_back(keys[i].point);
    }
}

// The squared distance of each row from zero.
template <class Real>
void squared_lengths(const Real* rows, std::int64_t n_rows, std::int64_t n_features, double* squares, int n_threads) {
    const Real zero{};
    parallel_rows(n_rows, n_threads, [=, &zero](std::int64_t first, std::int64_t last, std::int64_t) {
        for (std::int64_t row = first; row < last; ++row) {
            squares[row] = sum_of_differences<SumOfSquares, 0>(rows + row * n_features, &zero, n_features);
        }
    });
}

}  // namespace diffpeaks
