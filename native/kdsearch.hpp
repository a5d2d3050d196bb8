// Exact searches in a kd-tree: final distances, in the order (distance, index).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "kdtree.hpp"

namespace diffpeaks {

// A point and its distance, which compare by (distance, index).
template <class Real> struct Entry {
    Real distance;
    Index point;

    bool operator<(const Entry& other) const {
        return distance < other.distance || (distance == other.distance && point < other.point);
    }
};

// The nearest points met so far.
template <class Real> class Nearest {
public:
    explicit Nearest(std::int64_t most) : most_(static_cast<std::size_t>(most)) { entries_.reserve(most_); }

    void clear() { entries_.clear(); }
    bool takes(const Entry<Real>& entry) const { return !full() || entry < last(); }
    double radius() const { return full() ? static_cast<double>(last().distance) : infinity; }

    void add(const Entry<Real>& entry) {
        if (!is_sorted()) return add_to_heap(entry);
        if (!full()) entries_.push_back(entry);
        Entry<Real>* const begin = entries_.data();
        Entry<Real>* at = begin + entries_.size() - 1;
        for (; at > begin && entry < at[-1]; --at) *at = at[-1];
        *at = entry;
    }

    const std::vector<Entry<Real>>& sorted() {
        if (!is_sorted()) std::sort_heap(entries_.begin(), entries_.end());
        return entries_;
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr std::size_t longest_sorted = 64;  // beyond, a heap moves fewer entries

    bool full() const { return entries_.size() == most_; }
    bool is_sorted() const { return most_ <= longest_sorted; }
    const Entry<Real>& last() const { return is_sorted() ? entries_.back() : entries_.front(); }

    void add_to_heap(const Entry<Real>& entry) {
        if (full()) {
            std::pop_heap(entries_.begin(), entries_.end());
            entries_.back() = entry;
        } else {
            entries_.push_back(entry);
        }
        std::push_heap(entries_.begin(), entries_.end());
    }

    std::size_t most_;
    std::vector<Entry<Real>> entries_;
};

// All points of a closed ball, or only their number.
template <class Real> class Ball {
public:
    explicit Ball(bool keeps) : keeps_(keeps) {}

    void start(double radius) {
        radius_ = radius;
        n_points_ = 0;
        entries_.clear();
    }
    bool takes(const Entry<Real>& entry) const { return static_cast<double>(entry.distance) <= radius_; }
    double radius() const { return radius_; }
    void add(const Entry<Real>& entry) {
        ++n_points_;
        if (keeps_) entries_.push_back(entry);
    }
    Offset n_points() const { return n_points_; }
    const std::vector<Entry<Real>>& sorted() {
        std::sort(entries_.begin(), entries_.end());
        return entries_;
    }

private:
    bool keeps_;
    double radius_ = 0;
    Offset n_points_ = 0;
    std::vector<Entry<Real>> entries_;
};

// One query after another in one tree. Sums computed in Real sort out what is too far; the distances of what remains
// are computed as everywhere else.
template <class Add, class Real> class TreeQuery {
public:
    TreeQuery(const KDTree<Real>& tree, const Measure& measure)
        : tree_(tree), measure_(measure), scan_(widest_scan<Add, Real>()) {}

    // Offers a target every point in its radius, which may shrink with what it takes: first the leaf next to the query,
    // then what is next to that in the tree.
    template <class Target> void visit(const Real* query, Target& target) {
        if (tree_.n_points() == 0) return;
        std::int64_t number = nearest_leaf(query);
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

    template <class Target> Real limit_of(const Target& target) const {
        return measure_.template largest_sum<Real>(target.radius(), tree_.n_features());
    }

    double sum_to(const Real* query, std::int64_t leaf, int i) const {
        return sum_of_differences<Add, leaf_size>(query, tree_.leaf(leaf) + i, tree_.n_features());
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

    template <class Target> void offer(const Item& item, const Real* query, Real& limit, Target& target) {
        if (is_refused(item, query, target)) return;
        if (item.level > 0) {
            push_children(query, item.level, item.number, NO_POINT, limit);
        } else {
            offer_leaf(item.number, query, limit, target);
            limit = limit_of(target);
        }
    }

    // However many points lie at one place, their first tells whether the target takes any.
    template <class Target> bool is_refused(const Item& item, const Real* query, const Target& target) const {
        const Index first = tree_.first_of_one_place(item.level, item.number);
        if (first == NO_POINT) return false;
        const double sum = sum_to(query, KDTree<Real>::first_leaf(item.level, item.number), 0);
        return !target.takes({measure_.template distance<Real>(sum), first});
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

    template <class Target> void offer_leaf(std::int64_t leaf, const Real* query, Real limit, Target& target) const {
        std::uint32_t near = scan_.points_within(query, tree_.leaf(leaf), tree_.n_features(), limit);
        const int count = tree_.leaf_count(leaf);
        if (count < leaf_size) near &= (std::uint32_t{1} << count) - 1;
        const Index* points = tree_.leaf_points(leaf);
        double sums[leaf_size];
        Entry<Real> entries[leaf_size];
        int n_near = 0;
        for (; near; near &= near - 1) {
            const int i = __builtin_ctz(near);
            sums[n_near] = sum_to(query, leaf, i);
            entries[n_near++].point = points[i];
        }
        // apart from the decisions below, so that no root waits for them
        for (int i = 0; i < n_near; ++i) entries[i].distance = measure_.template distance<Real>(sums[i]);
        for (int i = 0; i < n_near; ++i) {
            if (target.takes(entries[i])) target.add(entries[i]);
        }
    }
};

// Calls answer(search, target, row) for each query in the order given, in which neighbours should follow each other.
template <class Add, class Real, class Target, class Answer>
void for_queries(const KDTree<Real>& tree, const Measure& measure, std::int64_t n_queries, const Index* order,
                 int n_threads, const Target& prototype, Answer answer) {
    constexpr std::int64_t chunk_size = 512;
    parallel_chunks((n_queries + chunk_size - 1) / chunk_size, n_threads, [&] {
        return [&, search = TreeQuery<Add, Real>(tree, measure), target = prototype](std::int64_t chunk) mutable {
            const std::int64_t last = std::min((chunk + 1) * chunk_size, n_queries);
            for (std::int64_t q = chunk * chunk_size; q < last; ++q) answer(search, target, std::int64_t{order[q]});
        };
    });
}

template <class Real> void write_row(const std::vector<Entry<Real>>& entries, Offset at, Index* indices, Real* distances) {
    for (const Entry<Real>& entry : entries) {
        indices[at] = entry.point;
        distances[at++] = entry.distance;
    }
}

// The n_neighbors nearest points of each query; the tree must hold as many.
template <class Add, class Real>
void tree_nearest(const KDTree<Real>& tree, const Measure& measure, const Real* queries, std::int64_t n_queries,
                  const Index* order, std::int64_t n_neighbors, Index* indices, Real* distances, int n_threads) {
    const auto answer = [&](auto& search, Nearest<Real>& nearest, std::int64_t row) {
        nearest.clear();
        search.visit(queries + row * tree.n_features(), nearest);
        write_row(nearest.sorted(), row * n_neighbors, indices, distances);
    };
    for_queries<Add>(tree, measure, n_queries, order, n_threads, Nearest<Real>(n_neighbors), answer);
}

// How many points lie in the closed ball of each query.
template <class Add, class Real>
void tree_counts(const KDTree<Real>& tree, const Measure& measure, const Real* queries, std::int64_t n_queries,
                 const Index* order, const double* radii, Offset* counts, int n_threads) {
    const auto answer = [&](auto& search, Ball<Real>& ball, std::int64_t row) {
        ball.start(radii[row]);
        search.visit(queries + row * tree.n_features(), ball);
        counts[row] = ball.n_points();
    };
    for_queries<Add>(tree, measure, n_queries, order, n_threads, Ball<Real>(false), answer);
}

// The points in the closed ball of each query; indptr must have room for their counts.
template <class Add, class Real>
void tree_balls(const KDTree<Real>& tree, const Measure& measure, const Real* queries, std::int64_t n_queries,
                const Index* order, const double* radii, const Offset* indptr, Index* indices, Real* distances,
                int n_threads) {
    const auto answer = [&](auto& search, Ball<Real>& ball, std::int64_t row) {
        ball.start(radii[row]);
        search.visit(queries + row * tree.n_features(), ball);
        write_row(ball.sorted(), indptr[row], indices, distances);
    };
    for_queries<Add>(tree, measure, n_queries, order, n_threads, Ball<Real>(true), answer);
}

}  // namespace diffpeaks
