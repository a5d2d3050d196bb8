// What the rows of a graph lead from hill to hill: the flow of a walk, and links.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "forest.hpp"
#include "graph.hpp"
#include "pair_map.hpp"

namespace diffpeaks {

// Pairs of hills, numbered in the order in which they are found. The ends of pair i are 2 i and 2 i + 1, so that the
// other end is one bit away.
class HillPairs {
  public:
    static constexpr Index none = PairMap::none;

    Index size() const { return static_cast<Index>(hills_.size() / 2); }
    Index hill_at(Index end) const { return hills_[static_cast<std::size_t>(end)]; }
    std::pair<Index, Index> hills(Index pair) const { return {hill_at(2 * pair), hill_at(2 * pair + 1)}; }
    Index number(Index a, Index b) {
        const Index number = numbers_.find_or_put(a, b, size());
        if (number == size()) hills_.insert(hills_.end(), {a, b});
        return number;
    }
    // The end of the pair of two hills that is the first of these.
    Index end_of(Index here, Index other) {
        const Index first = 2 * number(here, other);
        return hill_at(first) == here ? first : first + 1;
    }
    Index find(Index a, Index b) const { return numbers_.find(a, b); }

  private:
    PairMap numbers_;
    std::vector<Index> hills_;
};

// How values of a pair become one: flows are summed, and of links the highest is kept.
template <class Value>
struct Summing;
template <>
struct Summing<double> {
    static constexpr double nothing = 0.0;
    static bool is_nothing(double sum) { return sum == nothing; }
    static void add(double& sum, double more) { sum += more; }
};
template <>
struct Summing<RankPair> {
    static constexpr RankPair nothing{std::numeric_limits<Index>::max(), std::numeric_limits<Index>::max()};
    static bool is_nothing(const RankPair& highest) { return !(highest < nothing); }
    static void add(RankPair& highest, const RankPair& link) { highest = link < highest ? link : highest; }
};

// What a walk carries: what each point sends by weight, times the weights of its row.
template <class Real, class Weight>
struct FlowRows {
    using Value = double;
    const Graph<Real>& graph;
    const Index* hill;  // of each point
    const Weight* weights;
    const double* sent_by_weight;

    // Calls take(hill, flow) for the entries of a row before last, several of one hill at once; its own hill is one.
    template <class Take>
    void each(std::int64_t row, Offset last, Take take) const {
        FewHills<double> flows;
        for (Offset e = graph.indptr[row]; e < last; ++e) {
            const Index to = hill[graph.indices[e]];
            const double flow = sent_by_weight[row] * static_cast<double>(weights[e]);
            double* so_far = flows.of(to, 0.0);
            if (so_far) {
                *so_far += flow;
            } else {
                take(to, flow);
            }
        }
        flows.take_all(take);
    }
};

// The links that lead out of a hill.
template <class Real>
struct LinkRows {
    using Value = RankPair;
    const Graph<Real>& graph;
    const Index* hill;
    const Index* rank;

    template <class Take>
    void each(std::int64_t row, Offset last, Take take) const {
        FewHills<RankPair> highest;
        for (Offset e = graph.indptr[row]; e < last; ++e) {
            const Index point = graph.indices[e], other = hill[point];
            if (other == hill[row]) continue;
            const auto [upper, lower] = std::minmax(rank[row], rank[point]);
            const RankPair link{lower, upper};
            RankPair* known = highest.of(other, link);
            if (known) {
                *known = std::min(*known, link);
            } else {
                take(other, link);
            }
        }
        highest.take_all(take);
    }
};

}  // namespace diffpeaks
