// Hills that join over passes: how high a pass is, and how much of the walk goes over it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "forest.hpp"
#include "graph.hpp"
#include "kept_rows.hpp"
#include "observer.hpp"
#include "pair_map.hpp"

namespace diffpeaks {

// Between two hills. Where no link leads from one to the other there is a flow, perhaps, but no pass.
struct Pass {
    double flow = 0.0;
    Index lower = NO_POINT;  // the less dense end of the highest link, and the other one: the least ranks
    Index upper = NO_POINT;
    float apart = -INFINITY;  // how far the hills are apart, as the queue has it

    bool is_open() const { return lower != NO_POINT; }
    void add(double more) { flow += more; }
    void add(const RankPair& link) {
        if (!is_open() || link < RankPair{lower, upper}) std::tie(lower, upper) = std::tie(link.lower, link.upper);
    }
    void add(const Pass& other) {
        add(other.flow);
        if (other.is_open()) add(RankPair{other.lower, other.upper});
    }
};

// How two hills are told apart: by the rise of the lower top above the pass, in log density, and by the share of its
// walk that the hill with less of it sends and receives over the pass.
struct Separation {
    double flow_weight;  // not below zero
    double usual_flow;   // at which the rise alone counts

    float of(double log_top, double log_pass, double share) const {
        // in single precision: the order of samples, which rounds sums in its way, has no part in it
        return static_cast<float>(log_top - log_pass - flow_weight * std::log(share / usual_flow));
    }
};

// The passes of all pairs of hills. Nothing depends on the order of the table, which is only looked into: hills beside
// a hill are listed in the order in which they were found.
class PassTable {
  public:
    explicit PassTable(std::size_t n_hills) : beside_(n_hills) {}

    // Makes room for the passes of so many pairs.
    void reserve(std::size_t n_pairs) {
        numbers_.reserve(n_pairs);
        passes_.reserve(n_pairs);
        hills_.reserve(n_pairs);
    }

    Pass& between(Index a, Index b) {
        const auto number = numbers_.find_or_put(a, b, static_cast<Index>(passes_.size()));
        if (static_cast<std::size_t>(number) == passes_.size()) {
            passes_.emplace_back();
            hills_.emplace_back(a, b);
            beside_[a].push_back(b);
            beside_[b].push_back(a);
        }
        return passes_[static_cast<std::size_t>(number)];
    }

    // A null pointer if there is none.
    Pass* find(Index a, Index b) {
        const Index number = numbers_.find(a, b);
        return number == PairMap::none ? nullptr : &passes_[static_cast<std::size_t>(number)];
    }

    std::size_t n_beside(Index hill) const { return beside_[hill].size(); }

    // Calls visit(other, pass) for each pass of a hill, and forgets them.
    template <class Visit>
    void take_all(Index hill, Visit visit) {
        const std::vector<Index> beside = std::move(beside_[hill]);
        beside_[hill] = {};
        for (const Index other : beside) {
            const Index number = numbers_.take(hill, other);
            if (number == PairMap::none) continue;  // taken with the other hill
            visit(other, Pass(passes_[static_cast<std::size_t>(number)]));
        }
    }

    // Calls visit(a, b, pass) for each pass, before any was taken.
    template <class Visit>
    void each(Visit visit) {
        for (std::size_t i = 0; i < passes_.size(); ++i) visit(hills_[i].first, hills_[i].second, passes_[i]);
    }

  private:
    PairMap numbers_;
    std::vector<Pass> passes_;  // by number
    std::vector<std::pair<Index, Index>> hills_;
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

    std::size_t n_hills() const { return tops_.size(); }
    Index n_points() const { return static_cast<Index>(hill_of_rank_.size()); }

    // Adds what rows lead over passes below max_link, and what flows in their hills: the same with kept rows, or none.
    template <class RowsOfHills, class Value = typename RowsOfHills::Value>
    void add(const RowsOfHills& rows, double max_link, const KeptRows<Value>* kept, int n_threads) {
        const SumsOfHills<Value> found = sums_of_hills(rows, tops_.size(), max_link, kept, n_threads);
        found.each_pair([&](Index a, Index b, const Value& value) { passes_.between(a, b).add(value); });
        found.add_volumes(volume_);
    }

    // Adds sums that are known: what flows between pairs of hills, each pair once, and what flows in each hill.
    void add_sums(const Index* a, const Index* b, const double* flow, std::size_t n_pairs, const double* volume) {
        passes_.reserve(n_pairs);
        for (std::size_t i = 0; i < n_pairs; ++i) passes_.between(a[i], b[i]).add(flow[i]);
        for (std::size_t hill = 0; hill < volume_.size(); ++hill) volume_[hill] += volume[hill];
    }

    // Joins hills, the least apart first, and calls joined(top, pass, end on the other hill, separation) with ranks.
    template <class Joined>
    void join_all(const Separation& separation, Joined joined) {
        passes_.each([&](Index a, Index b, Pass& pass) { queue(a, b, pass, separation); });
        float level = 0.0f;
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
        float separation;
        Index lower, end, higher;  // tops, and between them the denser end of the pass
        Index a, b;
        bool operator<(const Candidate& other) const {  // of a queue whose largest comes first
            return std::tie(separation, lower, end, higher) >
                   std::tie(other.separation, other.lower, other.end, other.higher);
        }
    };

    float apart_now(Index a, Index b, const Pass& pass, const Separation& separation) const {
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
