// Exact searches in a kd-tree: final distances, in the order (distance, index).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kdtree.hpp"
#include "targets.hpp"

namespace diffpeaks {

// One query after another in one tree. Sums computed in Real sort out what is too far; the distances of what remains
// are computed as everywhere else.
template <class Add, class Real>
class TreeQuery {
  public:
    TreeQuery(const KDTree<Real>& tree, const Measure& measure)
        : tree_(tree), measure_(measure), scan_(widest_scan<Add, Real>()) {}

    // Offers a target every point in its radius, which may shrink with what it takes: first a leaf near the query, then
    // what is next to that in the tree.
    template <class Target>
    void visit(const Real* query, std::int64_t leaf, Target& target) {
        std::int64_t number = leaf;
        Real limit = limit_of(target);
        offer({Real{0}, 0, number}, query, limit, target);
        for (int level = 1; level <= tree_.root_level(); ++level) {
            const std::int64_t visited = number;
            number /= n_children;
            push_children(query, level, number, visited, limit);
            while (!stack_.empty()) {
                const Item item = stack_.back();
                stack_.pop_back();
                if (item.sum <= limit) offer(item, query, limit, target);
            }
        }
    }

    std::int64_t nearest_leaf(const Real* query) const {
        std::int64_t number = 0;
        for (int level = tree_.root_level(); level > 0; --level) {
            Real sums[n_children];
            scan_.sums_to_boxes(query, tree_.child_boxes(level, number), tree_.n_features(), sums);
            const Real* nearest = std::min_element(sums, sums + tree_.child_count(level, number));
            number = number * n_children + (nearest - sums);
        }
        return number;
    }

    // How many were visited so far.
    std::int64_t n_leaves() const { return n_leaves_; }

  private:
    struct Item {
        Real sum;
        int level;
        std::int64_t number;
    };

    const KDTree<Real>& tree_;
    Measure measure_;
    Scan<Real> scan_;
    std::vector<Item> stack_;
    std::int64_t n_leaves_ = 0;

    template <class Target>
    Real limit_of(const Target& target) const {
        return measure_.template largest_sum<Real>(target.radius(), tree_.n_features());
    }

    double sum_to(const Real* query, std::int64_t leaf, int i) const {
        return sum_of_differences<Add, leaf_size>(query, tree_.leaf(leaf) + i, tree_.n_features());
    }

    template <class Target>
    void offer(const Item& item, const Real* query, Real& limit, Target& target) {
        if (is_refused(item, query, target)) return;
        if (item.level > 0) {
            push_children(query, item.level, item.number, NO_POINT, limit);
        } else {
            offer_leaf(item.number, query, limit, target);
            limit = limit_of(target);
        }
    }

    // However many points are tied, at one place or at a distance that rounds to zero, the first tells whether the
    // target takes any.
    template <class Target>
    bool is_refused(const Item& item, const Real* query, const Target& target) const {
        const Members& members = tree_.members(item.level, item.number);
        if (!members.one_place) return !target.takes({Real{0}, members.first});
        const double sum = sum_to(query, KDTree<Real>::first_leaf(item.level, item.number), 0);
        return !target.takes({measure_.template distance<Real>(sum), members.first});
    }

    // The nearest child comes off the stack first, of equals the first.
    void push_children(const Real* query, int level, std::int64_t number, std::int64_t visited, Real limit) {
        Real sums[n_children];
        scan_.sums_to_boxes(query, tree_.child_boxes(level, number), tree_.n_features(), sums);
        const std::size_t base = stack_.size();
        for (int c = tree_.child_count(level, number) - 1; c >= 0; --c) {
            const Item child{sums[c], level - 1, number * n_children + c};
            if (!(child.sum <= limit) || child.number == visited) continue;
            stack_.push_back(child);
            std::size_t at = stack_.size() - 1;
            for (; at > base && stack_[at - 1].sum < child.sum; --at) stack_[at] = stack_[at - 1];
            stack_[at] = child;
        }
    }

    template <class Target>
    void offer_leaf(std::int64_t leaf, const Real* query, Real limit, Target& target) {
        ++n_leaves_;
        std::uint32_t near = scan_.points_within(query, tree_.leaf(leaf), tree_.n_features(), limit);
        const int count = tree_.leaf_count(leaf);
        if (count < leaf_size) near &= (std::uint32_t{1} << count) - 1;
        const Index* points = tree_.leaf_points(leaf);
        double sums[leaf_size];
        Batch<Real> batch;
        for (; near; near &= near - 1) {
            const int i = __builtin_ctz(near);
            sums[batch.n] = sum_to(query, leaf, i);
            batch.points[batch.n++] = points[i];
        }
        // in a loop of its own, so that roots are taken several at a time
        for (int i = 0; i < batch.n; ++i) batch.distances[i] = measure_.template distance<Real>(sums[i]);
        target.add(batch, scan_);
    }
};

// The queries of a search and the order in which they are taken, where neighbours should follow each other; without
// one the queries are the points of the tree, in its own order.
template <class Real>
struct Queries {
    const Real* values;
    std::int64_t n;
    const Index* order;
};

// Fills a target for each query and calls done(target, row); begin(target, row) makes it ready.
template <class Add, class Real, class Target, class Begin, class Done>
void for_queries(const KDTree<Real>& tree, const Measure& measure, const Queries<Real>& queries, int n_threads,
                 const Target& prototype, Begin begin, Done done) {
    constexpr std::int64_t chunk_size = 512;
    parallel_chunks((queries.n + chunk_size - 1) / chunk_size, n_threads, whole_loop, [&] {
        return [&, search = TreeQuery<Add, Real>(tree, measure), target = prototype](std::int64_t chunk) mutable {
            const std::int64_t last = std::min((chunk + 1) * chunk_size, queries.n);
            for (std::int64_t q = chunk * chunk_size; q < last; ++q) {
                const std::int64_t row = queries.order ? queries.order[q] : tree.order()[q];
                const Real* query = queries.values + row * tree.n_features();
                begin(target, row);
                if (tree.n_points() > 0) {
                    search.visit(query, queries.order ? search.nearest_leaf(query) : q / leaf_size, target);
                }
                done(target, row);
            }
        };
    });
}

template <class Real>
void write_row(const std::vector<Entry<Real>>& entries, Offset at, Index* indices, Real* distances) {
    for (const Entry<Real>& entry : entries) {
        indices[at] = entry.point;
        distances[at++] = entry.distance;
    }
}

// The n_neighbors nearest points of each query; the tree must hold as many.
template <class Add, class Real>
void tree_nearest(const KDTree<Real>& tree, const Measure& measure, const Queries<Real>& queries,
                  std::int64_t n_neighbors, Index* indices, Real* distances, int n_threads) {
    for_queries<Add>(
        tree, measure, queries, n_threads, Nearest<Real>(n_neighbors),
        [](Nearest<Real>& nearest, std::int64_t) { nearest.clear(); },
        [=](Nearest<Real>& nearest, std::int64_t row) {
            write_row(nearest.sorted(), row * n_neighbors, indices, distances);
        });
}

// How many leaves a search for the nearest points of these queries visits, one after another.
template <class Add, class Real>
std::int64_t leaves_visited(const KDTree<Real>& tree, const Measure& measure, const Queries<Real>& queries,
                            std::int64_t n_neighbors) {
    TreeQuery<Add, Real> search(tree, measure);
    Nearest<Real> nearest(n_neighbors);
    for (std::int64_t q = 0; q < queries.n; ++q) {
        const Real* query = queries.values + q * tree.n_features();
        nearest.clear();
        search.visit(query, search.nearest_leaf(query), nearest);
    }
    return search.n_leaves();
}

// How many points lie in the closed ball of each query.
template <class Add, class Real>
void tree_counts(const KDTree<Real>& tree, const Measure& measure, const Queries<Real>& queries, const double* radii,
                 Offset* counts, int n_threads) {
    for_queries<Add>(
        tree, measure, queries, n_threads, Ball<Real>(false),
        [=](Ball<Real>& ball, std::int64_t row) { ball.start(radii[row]); },
        [=](Ball<Real>& ball, std::int64_t row) { counts[row] = ball.n_points(); });
}

// The points in the closed ball of each query; indptr must have room for as many as tree_counts says.
template <class Add, class Real>
void tree_balls(const KDTree<Real>& tree, const Measure& measure, const Queries<Real>& queries, const double* radii,
                const Offset* indptr, Index* indices, Real* distances, int n_threads) {
    for_queries<Add>(
        tree, measure, queries, n_threads, Ball<Real>(true),
        [=](Ball<Real>& ball, std::int64_t row) { ball.start(radii[row]); },
        [=](Ball<Real>& ball, std::int64_t row) { write_row(ball.sorted(), indptr[row], indices, distances); });
}

}  // namespace diffpeaks
