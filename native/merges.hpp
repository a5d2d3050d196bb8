// Scores of a clustering while its clusters merge, one pair after the other.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "forest.hpp"
#include "graph.hpp"

namespace diffpeaks {

// Sums over clusters from which every score follows. n_gc: samples of class g in cluster c.
struct Agreement {
    std::int64_t right_pairs;   // ordered pairs of one class in one cluster: n_gc (n_gc - 1)
    std::int64_t joined_pairs;  // ordered pairs in one cluster
    double purity;              // n_gc^2 / |c|
    double completeness;        // n_gc^2 / |g|
};

// Starts with every sample alone; a merge costs the number of classes in the cluster that has fewer.
class MergingClusters {
  public:
    MergingClusters(Index n_samples, const Index* classes, Index n_classes)
        : joined_(n_samples), clusters_(static_cast<std::size_t>(n_samples)), class_sizes_(n_classes, 0) {
        for (Index i = 0; i < n_samples; ++i) ++class_sizes_[classes[i]];
        total_ = {0, 0, static_cast<double>(n_samples), 0.0};
        for (Index i = 0; i < n_samples; ++i) {
            clusters_[i] = {1, 1, {{classes[i], 1}}};
            total_.completeness += 1.0 / static_cast<double>(class_sizes_[classes[i]]);
        }
    }

    void merge(Index a, Index b) {
        a = joined_.find(a);
        b = joined_.find(b);
        if (a == b) return;
        if (clusters_[a].counts.size() < clusters_[b].counts.size()) std::swap(a, b);
        joined_.attach(b, a);
        absorb(clusters_[a], clusters_[b]);
    }

    const Agreement& total() const { return total_; }

  private:
    struct Cluster {
        std::int64_t size;
        std::int64_t squares;                  // sum of n_gc^2
        std::map<Index, std::int64_t> counts;  // in one order, in which sums are rounded
    };

    void absorb(Cluster& into, Cluster& from) {
        total_.purity -= purity(into) + purity(from);
        for (const auto& [label, count] : from.counts) {
            std::int64_t& held = into.counts[label];
            const std::int64_t new_pairs = 2 * held * count;
            into.squares += new_pairs;
            total_.right_pairs += new_pairs;
            total_.completeness += static_cast<double>(new_pairs) / static_cast<double>(class_sizes_[label]);
            held += count;
        }
        into.squares += from.squares;
        total_.joined_pairs += 2 * into.size * from.size;
        into.size += from.size;
        total_.purity += purity(into);
        from.counts = {};  // the memory, too
    }

    static double purity(const Cluster& c) { return static_cast<double>(c.squares) / static_cast<double>(c.size); }

    UnionFind joined_;
    std::vector<Cluster> clusters_;
    std::vector<std::int64_t> class_sizes_;
    Agreement total_;
};

// Row i of the outputs holds the sums after the first i merges; there is one row more than merges.
inline void score_merges(Index n_samples, const Index* classes, Index n_classes, std::int64_t n_merges,
                         const Index* from, const Index* to, std::int64_t* pairs, double* shares) {
    MergingClusters clusters(n_samples, classes, n_classes);
    SerialLoop loop;
    for (std::int64_t i = 0;; ++i) {
        loop.next();
        pairs[2 * i] = clusters.total().right_pairs;
        pairs[2 * i + 1] = clusters.total().joined_pairs;
        shares[2 * i] = clusters.total().purity;
        shares[2 * i + 1] = clusters.total().completeness;
        if (i == n_merges) return;
        clusters.merge(from[i], to[i]);
    }
}

}  // namespace diffpeaks
