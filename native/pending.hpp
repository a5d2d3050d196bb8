// Members that may be neighbours of the queries of a block: lower bounds of their squared distances, waiting to be
// excluded or measured.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "graph.hpp"
#include "kernels/kernel.hpp"

namespace diffpeaks {

// At least so many bounds as are asked for are at most `above`, and fewer are below `below`.
struct Bracket {
    float below, above;
};

// The n-th of some values, none of them negative, or closely around it; infinite if there are fewer. Floats that are
// not negative are ordered like their bits, and those are halved: counting is faster than sorting.
inline Bracket last_of(const Kernel& kernel, const float* values, std::int64_t n_values, std::int64_t n) {
    if (n_values < n) return {0.0f, std::numeric_limits<float>::infinity()};
    const auto float_of = [](std::uint32_t bits) {
        float value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    };
    std::uint32_t below = 0, above = 0x7f7fffffu;  // the largest float
    std::int64_t found = n_values;
    while (above - below > 1 && found > n + n / 8) {
        const std::uint32_t middle = below + (above - below) / 2;
        const std::int64_t inside = kernel.count_at_most(values, n_values, float_of(middle));
        (inside >= n ? above : below) = middle;
        if (inside >= n) found = inside;
    }
    return {float_of(below), float_of(above)};
}

class PendingLists {
  public:
    // Lists of at least that length; a kernel adds up to `run` entries at once and may write a vector beyond.
    PendingLists(const Kernel& kernel, std::int64_t length, std::int64_t run)
        : kernel_(kernel), full_(length), capacity_(full_ + run + panel_width) {}

    void begin(std::int64_t n_queries) {
        bounds_.resize(static_cast<std::size_t>(n_queries * capacity_));
        slots_.resize(static_cast<std::size_t>(n_queries * capacity_));
        counts_.assign(static_cast<std::size_t>(n_queries), 0);
    }

    Pending for_kernel() { return {bounds_.data(), slots_.data(), counts_.data(), capacity_}; }
    Index count(Index query) const { return counts_[static_cast<std::size_t>(query)]; }
    bool full(Index query) const { return count(query) > full_; }

    // What a kernel appended, from entry `first` on, are products; they become squared distances, which compare across
    // cells.
    void products_to_squares(Index query, Index first, float half_square) {
        float* bounds = list(query);
        for (Index i = first; i < count(query); ++i) bounds[i] = std::max(2 * (half_square - bounds[i]), 0.0f);
    }

    // The n-th of the bounds, or closely around it; infinite if there are fewer.
    Bracket last_of(Index query, std::int64_t n) const {
        return diffpeaks::last_of(kernel_, bounds_.data() + query * capacity_, count(query), n);
    }

    void keep_at_most(Index query, float most) {
        Index& n = counts_[static_cast<std::size_t>(query)];
        n = static_cast<Index>(kernel_.keep_at_most(list(query), slots_.data() + query * capacity_, n, most));
    }

    struct Entry {
        float bound;
        Index slot;
        bool operator<(const Entry& other) const { return bound < other.bound; }
    };

    // Moves the entries that are at most so large from a list to `entries`.
    void take_at_most(Index query, float most, std::vector<Entry>& entries) {
        float* bounds = list(query);
        Index* slots = slots_.data() + query * capacity_;
        Index& n = counts_[static_cast<std::size_t>(query)];
        Index n_left = 0;
        entries.clear();
        for (Index i = 0; i < n; ++i) {
            if (bounds[i] <= most) {
                entries.push_back({bounds[i], slots[i]});
            } else {
                bounds[n_left] = bounds[i];
                slots[n_left++] = slots[i];
            }
        }
        n = n_left;
    }

  private:
    float* list(Index query) { return bounds_.data() + query * capacity_; }

    const Kernel& kernel_;
    std::int64_t full_, capacity_;
    std::vector<float> bounds_;
    std::vector<Index> slots_, counts_;
};

}  // namespace diffpeaks
