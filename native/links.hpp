// Links along which hills are found: the nearest entries of each row, and mutual ones a little farther.
#pragma once

#include <algorithm>
#include <cstdint>

#include "graph.hpp"
#include "parallel.hpp"

namespace diffpeaks {

// Of each row the nearest entries, and of those up to within[row] the ones that are mutual: no farther from the point
// than the last of as many entries in their own row is from them.
template <class Real>
struct ShortLinks {
    const Rows& graph;
    const Real* distances;
    const Offset* nearest;
    const Offset* within;
    const Real* reach;  // to that last entry

    // Calls keep(entry) for each link of a row.
    template <class Keep>
    void each(std::int64_t row, Keep keep) const {
        const Offset begin = graph.indptr[row];
        for (Offset e = begin; e < begin + within[row]; ++e) {
            if (e < begin + nearest[row] || distances[e] <= reach[graph.indices[e]]) keep(e);
        }
    }
};

// How many there are in each row.
template <class Real>
void count_links(const ShortLinks<Real>& links, Offset* counts, int n_threads) {
    parallel_rows(links.graph.n_samples, n_threads, [=](std::int64_t first, std::int64_t last, std::int64_t) {
        for (std::int64_t row = first; row < last; ++row) {
            Offset n_links = 0;
            links.each(row, [&](Offset) { ++n_links; });
            counts[row] = n_links;
        }
    });
}

// The links themselves, in rows that begin where starts says.
template <class Real>
void fill_links(const ShortLinks<Real>& links, const Offset* starts, Index* indices, Real* lengths, int n_threads) {
    parallel_rows(links.graph.n_samples, n_threads, [=](std::int64_t first, std::int64_t last, std::int64_t) {
        for (std::int64_t row = first; row < last; ++row) {
            Offset at = starts[row];
            links.each(row, [&](Offset e) {
                indices[at] = links.graph.indices[e];
                lengths[at++] = links.distances[e];
            });
        }
    });
}

}  // namespace diffpeaks
