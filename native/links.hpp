// Links along which hills are found: the nearest entries of each row, and mutual ones a little farther.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph.hpp"
#include "parallel.hpp"

namespace diffpeaks {

// Of each row the nearest entries, and of those up to within[row] the ones that are mutual: no farther from the point
// than the last of as many entries in their own row is from them.
template <class Real>
struct ShortLinks {
    const Graph<Real>& graph;
    const Offset* nearest;
    const Offset* within;
    const Real* reach;  // to that last entry

    // Calls keep(entry) for each link of a row.
    template <class Keep>
    void each(std::int64_t row, Keep keep) const {
        const Offset begin = graph.indptr[row];
        for (Offset e = begin; e < begin + within[row]; ++e) {
            if (e < begin + nearest[row] || graph.distances[e] <= reach[graph.indices[e]]) keep(e);
        }
    }
};

// The links as rows: counted first, so that each row knows its place.
template <class Real>
FlatRows<Real> rows_of_links(const ShortLinks<Real>& links, int n_threads) {
    const std::int64_t n_rows = links.graph.n_samples;
    FlatRows<Real> out;
    out.indptr.resize(static_cast<std::size_t>(n_rows) + 1);
    parallel_rows(n_rows, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
        for (std::int64_t row = first; row < last; ++row) {
            Offset n_links = 0;
            links.each(row, [&](Offset) { ++n_links; });
            out.indptr[static_cast<std::size_t>(row) + 1] = n_links;
        }
    });
    for (std::size_t row = 0; row + 1 < out.indptr.size(); ++row) out.indptr[row + 1] += out.indptr[row];
    out.indices.resize(static_cast<std::size_t>(out.indptr.back()));
    out.distances.resize(out.indices.size());
    parallel_rows(n_rows, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
        auto at = static_cast<std::size_t>(out.indptr[static_cast<std::size_t>(first)]);
        for (std::int64_t row = first; row < last; ++row) {
            links.each(row, [&](Offset e) {
                out.indices[at] = links.graph.indices[e];
                out.distances[at++] = links.graph.distances[e];
            });
        }
    });
    return out;
}

}  // namespace diffpeaks
