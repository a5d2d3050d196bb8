// The nearest denser point, however far, in a kd-tree.
#pragma once

#include <cstdint>
#include <limits>

#include "kdsearch.hpp"

namespace diffpeaks {

// Of the points met so far the nearest one that is denser, which is to say of lower rank.
template <class Real>
class NearestDenser {
  public:
    explicit NearestDenser(const Index* rank) : rank_(rank) {}

    void start(Index own_rank) {
        own_rank_ = own_rank;
        nearest_ = {std::numeric_limits<Real>::infinity(), std::numeric_limits<Index>::max()};
    }
    bool takes(const Entry<Real>& entry) const { return entry < nearest_; }
    double radius() const { return static_cast<double>(nearest_.distance); }
    void add(Batch<Real>& batch, const Scan<Real>&) {
        for (int i = 0; i < batch.n; ++i) {
            if (rank_[batch.points[i]] < own_rank_ && takes(batch[i])) nearest_ = batch[i];
        }
    }
    Index point() const { return nearest_.point == std::numeric_limits<Index>::max() ? NO_POINT : nearest_.point; }
    Real distance() const { return nearest_.distance; }

  private:
    const Index* rank_;
    Index own_rank_ = 0;
    Entry<Real> nearest_{};
};

// Of each query, whose rank is given, the nearest point of lower rank: NO_POINT and infinity where there is none.
template <class Add, class Real>
void tree_nearest_denser(const KDTree<Real>& tree, const Measure& measure, const Queries<Real>& queries,
                         const Index* query_rank, const Index* rank, Index* points, Real* distances, int n_threads) {
    for_queries<Add>(
        tree, measure, queries, n_threads, NearestDenser<Real>(rank),
        [=](NearestDenser<Real>& nearest, std::int64_t row) { nearest.start(query_rank[row]); },
        [=](NearestDenser<Real>& nearest, std::int64_t row) {
            points[row] = nearest.point();
            distances[row] = nearest.distance();
        });
}

}  // namespace diffpeaks
