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
#include "observer.hpp"

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
        if (other.is_open()) open(other.lower, other.upper);
    }
    void open(Index at, Index above) {
        if (!is_open() || std::tie(at, above) < std::tie(lower, upper)) std::tie(lower, upper) = {at, above};
    }
};

// How two hills are told apart: by the rise of the lower top above the pass, in log density, and by the share of its
// walk that the hill with less of it sends and receives over the pass.
struct Separation {
    double flow_weight;  // not below zero
    double usual_flow;   // at which the rise alone counts

    double of(double log_top, double log_pass, double share) const {
        // in single precision: the order of samples, which rounds sums in its way, has no part in it
        return static_cast<float>(log_top - log_pass - flow_weight * std::log(share / usual_flow));
    }
};

inline std::uint64_t pair_key(Index a, Index b) {
    const auto [first, second] = std::minmax(a, b);
    return static_cast<std::uint64_t>(first) << 32 | static_cast<std::uint64_t>(second);
}

// Passes that some rows of a graph lead over, in the order in which they were found, and what flows in their hills.
struct PartOfPasses {
    struct Found {
        Index a, b;
        Pass pass;
    };
    std::vector<Found> found;
    std::vector<double> volume;

    Pass& between(Index a, Index b) {
        const auto [at, is_new] = places.try_emplace(pair_key(a, b), found.size());
        if (is_new) found.push_back({a, b, {}});
        return found[at->second].pass;
    }

  private:
    std::unordered_map<std::uint64_t, std::size_t> places;
};

// The passes of all pairs of hills. Nothing depends on the order of the table, which is only looked into: hills beside
// a hill are listed in the order in which they were found.
class PassTable {
  public:
    explicit PassTable(std::size_t n_hills) : beside_(n_hills) {}

    Pass& between(Index a, Index b) {
        const auto [found, is_new] = passes_.try_emplace(pair_key(a, b));
        if (is_new) {
            beside_[a].push_back(b);
            beside_[b].push_back(a);
        }
        return found->second;
    }

    // A null pointer if there is none.
    Pass* find(Index a, Index b) {
        const auto found = passes_.find(pair_key(a, b));
        return found == passes_.end() ? nullptr : &found->second;
    }

    std::size_t n_beside(Index hill) const { return beside_[hill].size(); }

    // Calls visit(other, pass) for each pass of a hill, and forgets them.
    template <class Visit>
    void take_all(Index hill, Visit visit) {
        const std::vector<Index> beside = std::move(beside_[hill]);
        beside_[hill] = {};
        for (const Index other : beside) {
            const auto found = passes_.find(pair_key(hill, other));
            if (found == passes_.end()) continue;  // taken with the other hill
            const Pass pass = found->second;
            passes_.erase(found);
            visit(other, pass);
        }
    }

    // Calls visit(a, b, pass) for each pass.
    template <class Visit>
    void each(Visit visit) {
        for (Index a = 0; a < static_cast<Index>(beside_.size()); ++a) {
            for (const Index b : beside_[a]) {
                if (a < b) visit(a, b, between(a, b));
            }
        }
    }

  private:
    std::unordered_map<std::uint64_t, Pass> passes_;
    std::vector<std::vector<Index>> beside_;
};

// Hills, numbered, and what lies between them. Points of the links are numbered by rank.
class JoiningHills {
  public:
    // Of the tops, by hill, and of the hill of each point.
    JoiningHills(std::vector<Index> tops, std::vector<Index> hill_of_rank, const double* log_density)
        : tops_(std::move(tops)),
          hill_of_rank_(std::move(hill_of_rank)),
          log_density_(log_density, log_density + hill_of_rank_.size()),
          joined_(static_cast<Index>(tops_.size())),
          volume_(tops_.size(), 0.0),
          passes_(tops_.size()) {}

    Index n_points() const { return static_cast<Index>(hill_of_rank_.size()); }

    // Adds what a walk below max_link carries between hills: what each point sends by weight, times the weights of its
    // row. Its points may be others than those of the links; each has a hill.
    template <class Real, class Weight>
    void add_flow(const Graph<Real>& graph, double max_link, const Weight* weights, const double* sent_by_weight,
                  const Index* hill, int n_threads) {
        each_row(graph, max_link, n_threads, [&](PartOfPasses& part, Index row, Offset first, Offset last) {
            const Index from = hill[row];
            FewHills<double> flows;
            const auto flow_to = [&](Index to, double flow) {
                part.volume[from] += flow;
                part.volume[to] += flow;
                if (from != to) part.between(from, to).flow += flow;
            };
            for (Offset e = first; e < last; ++e) {
                const Index to = hill[graph.indices[e]];
                const double flow = sent_by_weight[row] * static_cast<double>(weights[e]);
                double* so_far = flows.of(to, 0.0);
                if (so_far) {
                    *so_far += flow;
                } else {
                    flow_to(to, flow);
                }
            }
            flows.take_all(flow_to);
        });
    }

    // Opens passes along the links below max_link.
    template <class Real>
    void open_passes(const Graph<Real>& links, double max_link, const Index* rank, int n_threads) {
        each_row(links, max_link, n_threads, [&](PartOfPasses& part, Index row, Offset first, Offset last) {
            const Index here = rank[row], hill = hill_of_rank_[here];
            FewHills<RankPair> highest;
            const auto open = [&](Index other, RankPair edge) { part.between(hill, other).open(edge.lower, edge.upper); };
            for (Offset e = first; e < last; ++e) {
                const Index there = rank[links.indices[e]], other = hill_of_rank_[there];
                if (hill == other) continue;
                const RankPair edge{std::max(here, there), std::min(here, there)};
                RankPair* known = highest.of(other, edge);
                if (known) {
                    *known = std::min(*known, edge);
                } else {
                    open(other, edge);
                }
            }
            highest.take_all(open);
        });
    }

    // Joins hills, the least apart first, and calls joined(top, pass, end on the other hill, separation) with ranks.
    template <class Joined>
    void join_all(const Separation& separation, Joined joined) {
        passes_.each([&](Index a, Index b, Pass& pass) { queue(a, b, pass, separation); });
        double level = 0.0;
        SerialLoop loop;
        while (!queue_.empty()) {
            loop.next();
            const Candidate next = queue_.top();
            queue_.pop();
            Pass* found = passes_.find(next.a, next.b);
            if (!found || found->apart != next.separation) continue;  // not any more
            // While a pass stays as it is, growing hills only come to be farther apart over it: where they are now is
            // asked when it is their turn.
            if (apart_now(next.a, next.b, *found, separation) != next.separation) {
                queue(next.a, next.b, *found, separation);
                continue;
            }
            level = std::max(level, next.separation);  // a hill that grew may be nearer to others: they join now
            const Index lower = std::max(tops_[next.a], tops_[next.b]);
            const Index absorbed = tops_[next.a] == lower ? next.a : next.b;
            const Index end = joined_.find(hill_of_rank_[found->lower]) == absorbed ? found->upper : found->lower;
            joined(lower, found->lower, end, level);
            merge(next.a, next.b, separation);
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

    // Calls visit(part, row, first entry, end of those below max_link). As many parts on one thread as on many, added in
    // their order.
    template <class Real, class Visit>
    void each_row(const Graph<Real>& graph, double max_link, int n_threads, Visit visit) {
        const std::int64_t n_rows = graph.n_samples, n_parts = n_parts_of(n_rows);
        std::vector<PartOfPasses> parts(static_cast<std::size_t>(n_parts));
        parallel_chunks(n_parts, n_threads, [&] {
            return [&](std::int64_t p) {
                PartOfPasses& part = parts[static_cast<std::size_t>(p)];
                part.volume.assign(volume_.size(), 0.0);
                for (std::int64_t row = n_rows * p / n_parts; row < n_rows * (p + 1) / n_parts; ++row) {
                    Offset last = graph.indptr[row + 1];
                    while (last > graph.indptr[row] && !(static_cast<double>(graph.distances[last - 1]) < max_link)) --last;
                    visit(part, static_cast<Index>(row), graph.indptr[row], last);
                }
            };
        });
        for (const PartOfPasses& part : parts) {
            for (const auto& [a, b, pass] : part.found) passes_.between(a, b).add(pass);
            for (std::size_t hill = 0; hill < volume_.size(); ++hill) volume_[hill] += part.volume[hill];
        }
    }

    double apart_now(Index a, Index b, const Pass& pass, const Separation& separation) const {
        const double share = pass.flow / std::min(volume_[a], volume_[b]);
        return separation.of(log_density_[std::max(tops_[a], tops_[b])], log_density_[pass.lower], share);
    }

    void queue(Index a, Index b, Pass& pass, const Separation& separation) {
        if (!pass.is_open()) return;
        pass.apart = apart_now(a, b, pass, separation);
        if (!(pass.apart < INFINITY)) return;
        const auto [higher, lower] = std::minmax(tops_[a], tops_[b]);
        queue_.push({pass.apart, lower, pass.upper, higher, a, b});
    }

    // The one with fewer passes becomes part of the other, which has its passes then.
    void merge(Index into, Index from, const Separation& separation) {
        if (passes_.n_beside(into) < passes_.n_beside(from)) std::swap(into, from);
        joined_.attach(from, into);
        tops_[into] = std::min(tops_[into], tops_[from]);
        volume_[into] += volume_[from];
        passes_.take_all(from, [&](Index other, const Pass& taken) {
            if (other == into) return;
            Pass& pass = passes_.between(into, other);
            pass.add(taken);
            queue(into, other, pass, separation);
        });
    }

    std::vector<Index> tops_;
    std::vector<Index> hill_of_rank_;
    std::vector<double> log_density_;
    UnionFind joined_;
    std::vector<double> volume_;
    PassTable passes_;
    std::priority_queue<Candidate> queue_;
};

}  // namespace diffpeaks
