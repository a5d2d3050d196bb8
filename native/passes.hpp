// Hills that join over passes: how high a pass is, and how much of the walk goes over it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "forest.hpp"
#include "graph.hpp"

namespace diffpeaks {

// Between two hills. Where no link leads from one to the other there is a flow, perhaps, but no pass.
struct Pass {
    double flow = 0.0;
    Index lower = NO_POINT;  // the less dense end of the highest link, and the other one: the least ranks
    Index upper = NO_POINT;
    double apart = -INFINITY;  // how far the hills are apart, as the queue has it

    bool is_open() const { return lower != NO_POINT; }
    void add(const Pass& other) {
        flow += other.flow;
        apart = -INFINITY;
        if (other.is_open()) open(other.lower, other.upper);
    }
    void open(Index at, Index above) {
        if (!is_open() || std::tie(at, above) < std::tie(lower, upper)) std::tie(lower, upper) = {at, above};
    }
};

// How two hills are told apart: by the rise of the lower top above the pass, in log density, and by the share of its
// walk that the hill with less of it sends and receives over the pass.
struct Separation {
    double flow_weight;
    double usual_flow;  // at which the rise alone counts

    double of(double log_top, double log_pass, double share) const {
        // in single precision: the order of samples, which rounds sums in its way, has no part in it
        return static_cast<float>(log_top - log_pass - flow_weight * std::log(share / usual_flow));
    }
};

// Hills, numbered, and what lies between them. Points are numbered by rank.
class JoiningHills {
  public:
    // Of the tops, by hill, and of the hill of each point.
    JoiningHills(std::vector<Index> tops, const double* log_density, const Index* hill_of_rank)
        : tops_(std::move(tops)),
          log_density_(log_density),
          hill_of_rank_(hill_of_rank),
          joined_(static_cast<Index>(tops_.size())),
          volume_(tops_.size(), 0.0),
          passes_(tops_.size()) {}

    void add_flow(Index from, Index to, double flow) {
        volume_[from] += flow;
        volume_[to] += flow;
        if (from == to) return;
        passes_[from][to].flow += flow;
        passes_[to][from].flow += flow;
    }

    void open_pass(Index a, Index b, Index lower, Index upper) {
        passes_[a][b].open(lower, upper);
        passes_[b][a].open(lower, upper);
    }

    // Joins hills, the least apart first, and calls joined(top, pass, end on the other hill, separation) with ranks.
    template <class Joined>
    void join_all(const Separation& separation, Joined joined) {
        for (Index hill = 0; hill < static_cast<Index>(tops_.size()); ++hill) queue_passes(hill, separation);
        double level = 0.0;
        while (!queue_.empty()) {
            const Candidate next = queue_.top();
            queue_.pop();
            const auto found = passes_[next.a].find(next.b);
            if (found == passes_[next.a].end() || found->second.apart != next.separation) continue;  // not any more
            level = std::max(level, next.separation);  // a hill that grew may be nearer to others: they join now
            const Pass pass = found->second;
            const Index lower = std::max(tops_[next.a], tops_[next.b]);
            const Index absorbed = tops_[next.a] == lower ? next.a : next.b;
            const Index end = joined_.find(hill_of_rank_[pass.lower]) == absorbed ? pass.upper : pass.lower;
            joined(lower, pass.lower, end, level);
            queue_passes(merged(next.a, next.b), separation);
        }
    }

  private:
    struct Candidate {
        double separation;
        Index lower, end, higher;  // tops, and between them the denser end of the pass
        Index a, b;
        bool operator<(const Candidate& other) const {  // of a queue whose largest comes first
            return std::tie(separation, lower, end, higher) >
                   std::tie(other.separation, other.lower, other.end, other.higher);
        }
    };

    // Those passes of a hill that the queue does not have as they are now.
    void queue_passes(Index hill, const Separation& separation) {
        for (auto& [other, pass] : passes_[hill]) {
            if (!pass.is_open()) continue;
            const Index lower = std::max(tops_[hill], tops_[other]), higher = std::min(tops_[hill], tops_[other]);
            const double share = pass.flow / std::min(volume_[hill], volume_[other]);
            const double apart = separation.of(log_density_[lower], log_density_[pass.lower], share);
            if (!(apart < INFINITY) || apart == pass.apart) continue;
            pass.apart = passes_[other].at(hill).apart = apart;
            queue_.push({apart, lower, pass.upper, higher, hill, other});
        }
    }

    // The one with fewer neighbours becomes part of the other, whose number is returned.
    Index merged(Index into, Index from) {
        if (passes_[into].size() < passes_[from].size()) std::swap(into, from);
        joined_.attach(from, into);
        tops_[into] = std::min(tops_[into], tops_[from]);
        volume_[into] += volume_[from];
        for (const auto& [other, pass] : passes_[from]) {
            passes_[other].erase(from);
            if (other == into) continue;
            passes_[into][other].add(pass);
            passes_[other][into].add(pass);
        }
        passes_[from] = {};  // the memory, too
        return into;
    }

    std::vector<Index> tops_;
    const double* log_density_;
    const Index* hill_of_rank_;
    UnionFind joined_;
    std::vector<double> volume_;
    std::vector<std::unordered_map<Index, Pass>> passes_;
    std::priority_queue<Candidate> queue_;
};

// The walk over points: rows of neighbours, the chances to go to them, and what each point weighs.
template <class Real>
struct WeighedWalk {
    Rows rows;
    const Real* lengths;
    const double* chances;
    const double* masses;
};

// Joins all hills that meet, along links and by the walk below max_link. The lower top of two gets the point where they
// meet, the point that it touches on the other side, and how far apart they were. Points of the walk may be others than
// those of the links; each has a hill.
template <class Real>
void join_hills(const WeighedWalk<Real>& walk, const Index* hill_of_walker, const Rows& links, const Real* lengths,
                double max_link, const Index* order, const Index* rank, const Index* hill_of_rank,
                const double* log_density, std::vector<Index> tops, const Separation& separation, Index* saddle,
                Index* crossing, double* prominence) {
    JoiningHills hills(std::move(tops), log_density, hill_of_rank);
    for (Index row = 0; row < walk.rows.n_samples; ++row) {
        for (Offset e = walk.rows.indptr[row]; e < walk.rows.indptr[row + 1]; ++e) {
            if (!(static_cast<double>(walk.lengths[e]) < max_link)) break;  // rows are sorted: the rest is longer
            hills.add_flow(hill_of_walker[row], hill_of_walker[walk.rows.indices[e]],
                           walk.masses[row] * walk.chances[e]);
        }
    }
    for (Index row = 0; row < links.n_samples; ++row) {
        for (Offset e = links.indptr[row] + 1; e < links.indptr[row + 1]; ++e) {
            if (!(static_cast<double>(lengths[e]) < max_link)) break;
            const auto [upper, lower] = std::minmax(rank[row], rank[links.indices[e]]);
            const Index a = hill_of_rank[lower], b = hill_of_rank[upper];
            if (a != b) hills.open_pass(a, b, lower, upper);
        }
    }
    hills.join_all(separation, [=](Index top, Index pass, Index end, double apart) {
        saddle[order[top]] = order[pass];
        crossing[order[top]] = order[end];
        prominence[order[top]] = apart;
    });
}

}  // namespace diffpeaks
