// A kd-tree over points, for exact searches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "graph.hpp"
#include "parallel.hpp"
#include "scan.hpp"

namespace diffpeaks {

// What ties are decided by: the smallest index in an item, and whether all its points lie at one place.
struct Members {
    Index first;
    bool one_place;
};

// Its shape follows from the number of points alone. Points in tree order fill leaves of leaf_size; n_children
// neighbouring items of one level (leaves are level 0) make an item of the next, up to the root.
template <class Real>
class KDTree {
  public:
    KDTree(const Real* points, std::int64_t n_points, std::int64_t n_features, int n_threads)
        : n_points_(n_points), n_features_(n_features), order_(static_cast<std::size_t>(n_points)) {
        sort_points(points, n_threads);
        copy_leaves(points, n_threads);
        while (levels_.back().n_items > 1) add_level();
    }

    std::int64_t n_points() const { return n_points_; }
    std::int64_t n_features() const { return n_features_; }
    int root_level() const { return static_cast<int>(levels_.size()) - 1; }
    const Index* order() const { return order_.data(); }

    // The points of a leaf, feature after feature; what a last leaf lacks repeats its first point.
    const Real* leaf(std::int64_t item) const { return columns_.data() + item * n_features_ * leaf_size; }
    const Index* leaf_points(std::int64_t item) const { return order_.data() + item * leaf_size; }
    int leaf_count(std::int64_t item) const {
        return static_cast<int>(std::min<std::int64_t>(leaf_size, n_points_ - item * leaf_size));
    }

    // The boxes of the children of an item one level above them.
    const Real* child_boxes(int level, std::int64_t item) const {
        return levels_[static_cast<std::size_t>(level - 1)].boxes.data() + item * 2 * n_features_ * n_children;
    }
    int child_count(int level, std::int64_t item) const {
        const std::int64_t n_items = levels_[static_cast<std::size_t>(level - 1)].n_items;
        return static_cast<int>(std::min<std::int64_t>(n_children, n_items - item * n_children));
    }

    const Members& members(int level, std::int64_t item) const {
        return levels_[static_cast<std::size_t>(level)].members[static_cast<std::size_t>(item)];
    }
    static std::int64_t first_leaf(int level, std::int64_t item) {
        for (; level > 0; --level) item *= n_children;
        return item;
    }

  private:
    struct Level {
        std::int64_t n_items;
        std::vector<Real> boxes;  // of n_children items together: for every feature all lower, then all upper sides
        std::vector<Members> members;
    };
    using Range = std::pair<std::int64_t, std::int64_t>;
    using Key = std::pair<Real, Index>;

    std::int64_t n_points_, n_features_;
    std::vector<Index> order_;
    std::vector<Real> columns_;
    std::vector<Level> levels_;

    // Where a range of points is split: between items of the largest size of which it has more than one.
    static std::int64_t middle(const Range& range) {
        const std::int64_t n = range.second - range.first;
        std::int64_t size = leaf_size;
        while (size * n_children < n) size *= n_children;
        return range.first + (n + size - 1) / size / 2 * size;
    }

    // The feature in which a range of points is widest, by a sample where it is long.
    std::int64_t widest(const Real* points, const Range& range, std::vector<Real>& sides) const {
        const auto d = static_cast<std::size_t>(n_features_);
        sides.assign(2 * d, std::numeric_limits<Real>::infinity());
        constexpr std::int64_t sample_size = 256;
        const std::int64_t step = std::max<std::int64_t>(1, (range.second - range.first) / sample_size);
        for (std::int64_t p = range.first; p < range.second; p += step) {
            const Real* point = points + order_[static_cast<std::size_t>(p)] * n_features_;
            for (std::size_t f = 0; f < d; ++f) {
                sides[f] = std::min(sides[f], point[f]);
                sides[d + f] = std::min(sides[d + f], -point[f]);
            }
        }
        std::size_t best = 0;
        for (std::size_t f = 1; f < d; ++f) {
            if (sides[f] + sides[d + f] < sides[best] + sides[d + best]) best = f;
        }
        return static_cast<std::int64_t>(best);
    }

    // Splits a range at its middle by the feature in which it is widest, ties by index.
    std::int64_t split(const Real* points, const Range& range, std::vector<Key>& keys, std::vector<Real>& sides) {
        const std::int64_t feature = widest(points, range, sides), at = middle(range);
        keys.clear();
        for (std::int64_t p = range.first; p < range.second; ++p) {
            const Index point = order_[static_cast<std::size_t>(p)];
            keys.emplace_back(points[point * n_features_ + feature], point);
        }
        std::nth_element(keys.begin(), keys.begin() + (at - range.first), keys.end());
        std::int64_t p = range.first;
        for (const Key& key : keys) order_[static_cast<std::size_t>(p++)] = key.second;
        return at;
    }

    void sort_points(const Real* points, int n_threads) {
        for (std::size_t p = 0; p < order_.size(); ++p) order_[p] = static_cast<Index>(p);
        constexpr std::int64_t task_size = 1 << 14;  // ranges up to here are one thread's work to the end
        std::vector<Range> ranges{{0, n_points_}};
        while (!ranges.empty()) {
            std::vector<Range> halves(2 * ranges.size());
            parallel_chunks(static_cast<std::int64_t>(ranges.size()), n_threads, [&] {
                return [&, keys = std::vector<Key>(), sides = std::vector<Real>()](std::int64_t r) mutable {
                    const Range range = ranges[static_cast<std::size_t>(r)];
                    if (range.second - range.first <= task_size) {
                        split_to_leaves(points, range, keys, sides);
                    } else {
                        const std::int64_t at = split(points, range, keys, sides);
                        halves[static_cast<std::size_t>(2 * r)] = {range.first, at};
                        halves[static_cast<std::size_t>(2 * r + 1)] = {at, range.second};
                    }
                };
            });
            const auto empty = [](const Range& range) { return range.first == range.second; };
            halves.erase(std::remove_if(halves.begin(), halves.end(), empty), halves.end());
            ranges = std::move(halves);
        }
    }

    void split_to_leaves(const Real* points, const Range& range, std::vector<Key>& keys, std::vector<Real>& sides) {
        if (range.second - range.first <= leaf_size) return;
        const std::int64_t at = split(points, range, keys, sides);
        split_to_leaves(points, {range.first, at}, keys, sides);
        split_to_leaves(points, {at, range.second}, keys, sides);
    }

    Level empty_level(std::int64_t n_items) const {
        const std::int64_t n_groups = (n_items + n_children - 1) / n_children;
        return {n_items, std::vector<Real>(static_cast<std::size_t>(n_groups * 2 * n_features_ * n_children)),
                std::vector<Members>(static_cast<std::size_t>(n_items))};
    }

    Real* sides_of(Level& level, std::int64_t item) const {
        return level.boxes.data() + item / n_children * 2 * n_features_ * n_children + item % n_children;
    }

    void copy_leaves(const Real* points, int n_threads) {
        const std::int64_t n_leaves = (n_points_ + leaf_size - 1) / leaf_size;
        columns_.resize(static_cast<std::size_t>(n_leaves * n_features_ * leaf_size));
        levels_.push_back(empty_level(n_leaves));
        parallel_rows(n_leaves, n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
            for (std::int64_t item = first; item < last; ++item) copy_leaf(points, item);
        });
    }

    void copy_leaf(const Real* points, std::int64_t item) {
        Real* column = columns_.data() + item * n_features_ * leaf_size;
        Real* sides = sides_of(levels_[0], item);
        const Index* members = leaf_points(item);
        const int count = leaf_count(item);
        bool one_place = true;
        for (std::int64_t f = 0; f < n_features_; ++f, column += leaf_size, sides += 2 * n_children) {
            for (int i = 0; i < leaf_size; ++i) column[i] = points[members[i < count ? i : 0] * n_features_ + f];
            const auto ends = std::minmax_element(column, column + leaf_size);
            sides[0] = *ends.first;
            sides[n_children] = *ends.second;
            one_place = one_place && sides[0] == sides[n_children];
        }
        levels_[0].members[static_cast<std::size_t>(item)] = {*std::min_element(members, members + count), one_place};
    }

    void add_level() {
        Level& below = levels_.back();
        Level level = empty_level((below.n_items + n_children - 1) / n_children);
        for (std::int64_t item = 0; item < level.n_items; ++item) {
            const std::int64_t first = item * n_children, last = std::min(first + n_children, below.n_items);
            Real* sides = sides_of(level, item);
            const Real* child = sides_of(below, first);
            bool one_place = true;
            for (std::int64_t f = 0; f < n_features_; ++f, sides += 2 * n_children, child += 2 * n_children) {
                sides[0] = *std::min_element(child, child + (last - first));
                sides[n_children] = *std::max_element(child + n_children, child + n_children + (last - first));
                one_place = one_place && sides[0] == sides[n_children];
            }
            const auto before = [](const Members& a, const Members& b) { return a.first < b.first; };
            const auto begin = below.members.begin();
            const Index smallest = std::min_element(begin + first, begin + last, before)->first;
            level.members[static_cast<std::size_t>(item)] = {smallest, one_place};
        }
        levels_.push_back(std::move(level));
    }
};

}  // namespace diffpeaks
