// Hills of a density on a graph: nearest denser neighbour, saddles between hills, links followed to their end.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "graph.hpp"
#include "parallel.hpp"

namespace diffpeaks {

class UnionFind {
  public:
    explicit UnionFind(Index n) : up_(static_cast<std::size_t>(n)) {
        for (Index i = 0; i < n; ++i) up_[i] = i;
    }
    Index find(Index i) {
        while (up_[i] != i) i = up_[i] = up_[up_[i]];
        return i;
    }
    void attach(Index root, Index to) { up_[root] = to; }

  private:
    std::vector<Index> up_;
};

// Position of the first entry of each row that is denser than the row's own point, -1 where there is none.
inline void first_denser(const Rows& graph, const Index* rank, Offset* position, int n_threads) {
    parallel_rows(graph.n_samples, n_threads, [=, &graph](std::int64_t first, std::int64_t last, std::int64_t) {
        for (std::int64_t row = first; row < last; ++row) {
            position[row] = -1;
            for (Offset e = graph.indptr[row] + 1; e < graph.indptr[row + 1]; ++e) {
                if (rank[graph.indices[e]] < rank[row]) {
                    position[row] = e;
                    break;
                }
            }
        }
    });
}

// Where a point stands: its hill and its rank, side by side because every edge asks for both.
struct Place {
    Index hill;
    Index rank;
};

// The hill of each point: its own index where it has no parent, else its parent's hill. Parents come first in order.
inline std::vector<Place> hills(Index n_samples, const Index* order, const Index* parent) {
    std::vector<Place> places(static_cast<std::size_t>(n_samples));
    SerialLoop loop;
    for (Index r = 0; r < n_samples; ++r) {
        loop.next();
        const Index point = order[r];
        places[point] = {parent[point] == NO_POINT ? point : places[parent[point]].hill, r};
    }
    return places;
}

// Edges between two hills, grouped by the rank of their less dense end and, inside a group, densest other end first.
struct CrossEdges {
    std::vector<Offset> group;  // n_samples + 1
    std::vector<Index> upper;   // rank of the denser end
};

struct RankPair {
    Index lower;
    Index upper;

    // Both as one number, so that a comparison is no branch: ranks are not below zero.
    bool operator<(const RankPair& other) const { return key() < other.key(); }

  private:
    std::uint64_t key() const {
        return static_cast<std::uint64_t>(lower) << 32 | static_cast<std::uint64_t>(upper);
    }
};

// A value for each of the first few hills beside that of a point: most points touch no more.
template <class Value>
class FewHills {
  public:
    // The value of a hill, the first time as it is given; a null pointer where there are too many hills.
    Value* of(Index hill, Value first) {
        const auto known = std::find(hills_.begin(), hills_.begin() + n_, hill) - hills_.begin();
        if (known == most) return nullptr;
        if (known == n_) {
            hills_[n_] = hill;
            values_[n_++] = first;
        }
        return &values_[known];
    }
    // Calls visit(hill, value) for each, and forgets them.
    template <class Visit>
    void take_all(Visit visit) {
        for (std::ptrdiff_t i = 0; i < n_; ++i) visit(hills_[i], values_[i]);
        n_ = 0;
    }

  private:
    static constexpr std::ptrdiff_t most = 8;
    std::array<Index, most> hills_;
    std::array<Value, most> values_;
    std::ptrdiff_t n_ = 0;
};

// Of the edges from a point to another hill the highest is enough: whatever else leads from hill to hill comes later in
// the flood, when they have met.
template <class Real>
std::vector<std::vector<RankPair>> crossings(const Graph<Real>& graph, double max_link,
                                             const std::vector<Place>& places, int n_threads) {
    std::vector<std::vector<RankPair>> parts(static_cast<std::size_t>(std::max(n_threads, 1)));
    parallel_rows(graph.n_samples, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t part) {
        std::vector<RankPair>& kept = parts[static_cast<std::size_t>(part)];
        FewHills<RankPair> highest;
        for (std::int64_t row = first; row < last; ++row) {
            const Place here = places[static_cast<std::size_t>(row)];
            for (Offset e = graph.indptr[row]; e < graph.indptr[row + 1]; ++e) {
                if (!(static_cast<double>(graph.distances[e]) < max_link))
                    break;  // rows are sorted: the rest is longer
                const Place there = places[static_cast<std::size_t>(graph.indices[e])];
                if (here.hill == there.hill) continue;
                const RankPair edge{std::max(here.rank, there.rank), std::min(here.rank, there.rank)};
                RankPair* known = highest.of(there.hill, edge);
                if (known) {
                    *known = std::min(*known, edge);
                } else {
                    kept.push_back(edge);
                }
            }
            highest.take_all([&](Index, const RankPair& edge) { kept.push_back(edge); });
        }
    });
    return parts;
}

inline CrossEdges grouped(Index n_samples, const std::vector<std::vector<RankPair>>& parts) {
    CrossEdges edges;
    edges.group.assign(static_cast<std::size_t>(n_samples) + 1, 0);
    for (const auto& part : parts) {
        for (const RankPair& pair : part) ++edges.group[static_cast<std::size_t>(pair.lower) + 1];
    }
    for (Index r = 0; r < n_samples; ++r) edges.group[r + 1] += edges.group[r];
    edges.upper.resize(static_cast<std::size_t>(edges.group.back()));
    std::vector<Offset> next(edges.group.begin(), edges.group.end() - 1);
    for (const auto& part : parts) {
        for (const RankPair& pair : part) edges.upper[next[pair.lower]++] = pair.upper;
    }
    SerialLoop loop;
    for (Index r = 0; r < n_samples; ++r) {
        loop.next();
        std::sort(edges.upper.begin() + edges.group[r], edges.upper.begin() + edges.group[r + 1]);
    }
    return edges;
}

// Hills that rise out of a flood as it sinks. Where two of them meet, the lower peak gets the point of the meeting
// (saddle) and the point on the other hill that it touches there (crossing). Peaks that never meet a denser one keep
// NO_POINT.
class Flood {
  public:
    Flood(Index n_samples, Index* saddle, Index* crossing) : flooded_(n_samples), saddle_(saddle), crossing_(crossing) {
        std::fill(saddle, saddle + n_samples, NO_POINT);
        std::fill(crossing, crossing + n_samples, NO_POINT);
    }
    // Point here, on the hill of that peak, touches the denser point there on another; rank_of tells the lower peak.
    template <class Rank>
    void meet(Index here, Index hill_here, Index there, Index hill_there, Rank rank_of) {
        const Index mine = flooded_.find(hill_here), other = flooded_.find(hill_there);
        if (mine == other) return;
        const bool mine_is_lower = rank_of(mine) > rank_of(other);
        const Index absorbed = mine_is_lower ? mine : other;
        saddle_[absorbed] = here;
        crossing_[absorbed] = mine_is_lower ? there : here;
        flooded_.attach(absorbed, mine_is_lower ? other : mine);
    }

  private:
    UnionFind flooded_;
    Index* saddle_;
    Index* crossing_;
};

// Floods the hills from the top.
template <class Real>
void merge_hills(const Graph<Real>& graph, double max_link, const Index* order, const Index* parent, Index* saddle,
                 Index* crossing, int n_threads) {
    const std::vector<Place> places = hills(graph.n_samples, order, parent);
    const CrossEdges edges = grouped(graph.n_samples, crossings(graph, max_link, places, n_threads));
    const auto rank_of = [&](Index peak) { return places[static_cast<std::size_t>(peak)].rank; };
    Flood flood(graph.n_samples, saddle, crossing);
    SerialLoop loop;
    for (Index lower = 0; lower < graph.n_samples; ++lower) {
        loop.next();
        const Index here = order[lower];
        for (Offset e = edges.group[lower]; e < edges.group[lower + 1]; ++e) {
            const Index there = order[edges.upper[e]];
            flood.meet(here, places[here].hill, there, places[there].hill, rank_of);
        }
    }
}

// Where following the links ends: the point that links to itself.
inline void follow_links(Index n_samples, const Index* links, Index* ends) {
    std::fill(ends, ends + n_samples, NO_POINT);
    std::vector<Index> path;
    SerialLoop loop;
    for (Index start = 0; start < n_samples; ++start) {
        loop.next();
        Index point = start;
        path.clear();
        while (ends[point] == NO_POINT && links[point] != point) {
            loop.next();
            path.push_back(point);
            point = links[point];
            if (static_cast<Index>(path.size()) > n_samples) throw std::runtime_error("the links form a cycle");
        }
        const Index end = ends[point] == NO_POINT ? point : ends[point];
        ends[point] = end;
        for (const Index passed : path) ends[passed] = end;
    }
}

// The links that are shorter than max_link, and the tops to which they lead. Where longest_up is known, the longest link
// from each point to the top of its hill, only the points are followed whose way to it is broken.
inline void split_hills(Index n_samples, const Index* parent, const double* delta, const Index* hill,
                        const double* longest_up, double max_link, Index* short_parent, double* short_delta,
                        Index* part, int n_threads) {
    parallel_rows(n_samples, n_threads, [=](std::int64_t first, std::int64_t last, std::int64_t) {
        for (std::int64_t point = first; point < last; ++point) {
            const bool is_short = delta[point] < max_link;
            short_parent[point] = is_short ? parent[point] : NO_POINT;
            short_delta[point] = is_short ? delta[point] : INFINITY;
            part[point] = longest_up && longest_up[point] < max_link ? hill[point] : NO_POINT;
        }
    });
    std::vector<Index> path;
    SerialLoop loop;
    for (Index start = 0; start < n_samples; ++start) {
        loop.next();
        Index point = start;
        for (path.clear(); part[point] == NO_POINT && short_parent[point] != NO_POINT; point = short_parent[point]) {
            path.push_back(point);
            if (static_cast<Index>(path.size()) > n_samples) throw std::runtime_error("the links form a cycle");
        }
        if (part[point] == NO_POINT) part[point] = point;
        for (const Index passed : path) part[passed] = part[point];
    }
}

// Joins the ends of the entries that joins(row, entry) accepts; each point gets the first point of its component.
template <class Joins>
void join_where(const Rows& graph, Joins joins, Index* component) {
    UnionFind joined(graph.n_samples);
    SerialLoop loop;
    for (Index row = 0; row < graph.n_samples; ++row) {
        loop.next();
        for (Offset e = graph.indptr[row] + 1; e < graph.indptr[row + 1]; ++e) {
            if (!joins(row, e)) continue;
            const Index a = joined.find(row), b = joined.find(graph.indices[e]);
            if (a != b) joined.attach(std::max(a, b), std::min(a, b));
        }
    }
    for (Index row = 0; row < graph.n_samples; ++row) component[row] = joined.find(row);
}

// Joins core points along graph edges; the others stay alone.
inline void join_cores(const Rows& graph, const bool* core, Index* component) {
    join_where(graph, [&](Index row, Offset e) { return core[row] && core[graph.indices[e]]; }, component);
}

// The same along the entries of at most that length alone. Lengths need not ascend within a row.
template <class Real>
void join_within(const Rows& graph, const Real* lengths, double max_length, const bool* core, Index* component) {
    join_where(
        graph,
        [&](Index row, Offset e) {
            return core[row] && static_cast<double>(lengths[e]) <= max_length && core[graph.indices[e]];
        },
        component);
}

}  // namespace diffpeaks
