// A neighbour graph as flat arrays, and what can be asked of its rows alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace diffpeaks {

using Index = std::int32_t;    // a point
using Offset = std::int64_t;   // a position in the flat arrays, which may hold more than 2^31 entries

constexpr Index NO_POINT = -1;

struct Rows {
    Index n_samples;
    const Offset* indptr;
    const Index* indices;
};

enum class RowFault : int { none, self_not_first, self_distance, index_range, distance_value, order, repeated };

struct FirstFault {
    Index row;
    RowFault fault;
};

// The invariants of NeighborGraph: self first at distance zero, then strictly ascending by (distance, index).
template <class Real>
FirstFault first_fault(const Rows& graph, const Real* distances) {
    std::vector<Index> last_row_with(static_cast<std::size_t>(graph.n_samples), NO_POINT);
    for (Index row = 0; row < graph.n_samples; ++row) {
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
            const bool after_previous =
                distances[e] > distances[e - 1] || (distances[e] == distances[e - 1] && (e == begin + 1 || point > graph.indices[e - 1]));
            if (!after_previous) return {row, RowFault::order};
        }
    }
    return {NO_POINT, RowFault::none};
}

// The first row with an entry that its neighbour does not return at the same distance, up to a relative tolerance.
template <class Real>
Index first_asymmetric(const Rows& graph, const Real* distances, double tolerance) {
    for (Index row = 0; row < graph.n_samples; ++row) {
        for (Offset e = graph.indptr[row] + 1; e < graph.indptr[row + 1]; ++e) {
            const double distance = static_cast<double>(distances[e]);
            const Index point = graph.indices[e];
            const Real* const begin = distances + graph.indptr[point];
            const Real* const end = distances + graph.indptr[point + 1];
            const Real* back = std::lower_bound(begin, end, static_cast<Real>(distance * (1 - tolerance)));
            bool returned = false;
            for (; back != end && static_cast<double>(*back) <= distance * (1 + tolerance) && !returned; ++back) {
                returned = graph.indices[back - distances] == row;
            }
            if (!returned) return row;
        }
    }
    return NO_POINT;
}

// Points with a graph neighbour of another label, whichever of the two lists the other.
inline void mark_border(const Rows& graph, const Index* labels, bool* border) {
    for (Index row = 0; row < graph.n_samples; ++row) {
        for (Offset e = graph.indptr[row] + 1; e < graph.indptr[row + 1]; ++e) {
            const Index point = graph.indices[e];
            if (labels[row] != labels[point]) border[row] = border[point] = true;
        }
    }
}

}  // namespace diffpeaks
