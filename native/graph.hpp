// A neighbour graph as flat arrays, and what can be asked of its rows alone.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <vector>

#include "parallel.hpp"

namespace diffpeaks {

using Index = std::int32_t;   // a point
using Offset = std::int64_t;  // a position in the flat arrays, which may hold more than 2^31 entries

constexpr Index NO_POINT = -1;

// Some indices, one after another in memory.
struct IndexRange {
    const Index *first, *last;
    const Index* begin() const { return first; }
    const Index* end() const { return last; }
};

struct Rows {
    Index n_samples;
    const Offset* indptr;
    const Index* indices;
};

// Rows with the distance of each entry.
template <class Real>
struct Graph : Rows {
    const Real* distances;
};

// The same, made here: rows that own their arrays.
template <class Real>
struct FlatRows {
    std::vector<Offset> indptr{0};
    std::vector<Index> indices;
    std::vector<Real> distances;
};

enum class RowFault : int { none, self_not_first, self_distance, index_range, distance_value, order, repeated };

struct FirstFault {
    Index row;
    RowFault fault;
};

// The invariants of NeighborGraph: self first at distance zero, then strictly ascending by (distance, index).
template <class Real>
FirstFault first_fault(const Graph<Real>& graph) {
    const Real* distances = graph.distances;
    SerialLoop loop;
    std::vector<Index> last_row_with(static_cast<std::size_t>(graph.n_samples), NO_POINT);
    for (Index row = 0; row < graph.n_samples; ++row) {
        loop.next();
        const Offset begin = graph.indptr[row], end = graph.indptr[row + 1];
        if (begin >= end || graph.indices[begin] != row) return {row, RowFault::self_not_first};
        if (distances[begin] != 0) return {row, RowFault::self_distance};
        last_row_with[row] = row;
        for (Offset e = begin + 1; e < end; ++e) {
            const Index point = graph.indices[e];
            if (point < 0 || point >= graph.n_samples) return {row, RowFault::index_range};
            if (!(distances[e] >= 0) || std::isinf(distances[e])) return {row, RowFault::distance_value};
            if (last_row_with[point] == row) return {row, RowFault::repeated};
            last_row_with[point] = row;
            const bool tied_in_order = e == begin + 1 || point > graph.indices[e - 1];
            if (distances[e] < distances[e - 1] || (distances[e] == distances[e - 1] && !tied_in_order)) {
                return {row, RowFault::order};
            }
        }
    }
    return {NO_POINT, RowFault::none};
}

// Whether the row of `from` lists `to` at that distance, up to a relative tolerance.
template <class Real>
bool lists(const Graph<Real>& graph, Index from, Index to, Real distance, double tolerance) {
    const Real* distances = graph.distances;
    const Offset begin = graph.indptr[from] + 1, end = graph.indptr[from + 1];
    // entries ascend by (distance, index): the very distance is found by halving, however many are tied
    Offset low = begin, high = end;
    while (low < high) {
        const Offset middle = low + (high - low) / 2;
        const bool before =
            distances[middle] < distance || (distances[middle] == distance && graph.indices[middle] < to);
        if (before) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const double reach = tolerance * static_cast<double>(distance);
    for (Offset e = low; e < end && static_cast<double>(distances[e] - distance) <= reach; ++e) {
        if (graph.indices[e] == to) return true;
    }
    for (Offset e = low - 1; e >= begin && static_cast<double>(distance - distances[e]) <= reach; --e) {
        if (graph.indices[e] == to) return true;
    }
    return false;
}

// Some row with an entry that its neighbour does not return at the same distance, up to a relative tolerance.
template <class Real>
Index some_asymmetric(const Graph<Real>& graph, double tolerance, int n_threads) {
    std::atomic<Index> found{NO_POINT};
    parallel_rows(graph.n_samples, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
        for (std::int64_t row = first; row < last && found == NO_POINT; ++row) {
            for (Offset e = graph.indptr[row] + 1; e < graph.indptr[row + 1]; ++e) {
                const Index self = static_cast<Index>(row);
                if (!lists(graph, graph.indices[e], self, graph.distances[e], tolerance)) found = self;
            }
        }
    });
    return found;
}

// Points with a neighbour of another label nearer than max_link, whichever of the two lists the other.
template <class Real>
void mark_border(const Graph<Real>& graph, double max_link, const Index* labels, bool* border) {
    SerialLoop loop;
    for (Index row = 0; row < graph.n_samples; ++row) {
        loop.next();
        for (Offset e = graph.indptr[row] + 1; e < graph.indptr[row + 1]; ++e) {
            if (!(static_cast<double>(graph.distances[e]) < max_link)) break;  // rows are sorted: the rest is longer
            const Index point = graph.indices[e];
            if (labels[row] != labels[point]) border[row] = border[point] = true;
        }
    }
}

}  // namespace diffpeaks
