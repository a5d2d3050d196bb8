// What a search collects: the nearest points, or the points of a ball, in the order (distance, index).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "graph.hpp"
#include "scan.hpp"

namespace diffpeaks {

// A point and its distance, which compare by (distance, index).
template <class Real>
struct Entry {
    Real distance;
    Index point;

    bool operator<(const Entry& other) const {
        return distance < other.distance || (distance == other.distance && point < other.point);
    }
};

// Some points of a leaf.
template <class Real>
struct Batch {
    int n = 0;
    Real distances[leaf_size];
    Index points[leaf_size];

    Entry<Real> operator[](int i) const { return {distances[i], points[i]}; }
};

// The nearest points met so far.
template <class Real>
class Nearest {
  public:
    explicit Nearest(std::int64_t most) : most_(static_cast<std::size_t>(most)) { entries_.reserve(most_ + leaf_size); }

    void clear() { entries_.clear(); }
    bool takes(const Entry<Real>& entry) const { return !full() || entry < last(); }
    double radius() const {
        return full() ? static_cast<double>(last().distance) : std::numeric_limits<double>::infinity();
    }

    void add(Batch<Real>& batch, const Scan<Real>& scan) {
        if (entries_.empty() && is_sorted() && batch.n >= smallest_ranked) return start_with(batch, scan);
        for (int i = 0; i < batch.n; ++i) {
            if (takes(batch[i])) add(batch[i]);
        }
    }

    const std::vector<Entry<Real>>& sorted() {
        if (!is_sorted()) std::sort_heap(entries_.begin(), entries_.end());
        return entries_;
    }

  private:
    static constexpr std::size_t longest_sorted = 64;  // beyond, a heap moves fewer entries
    static constexpr int smallest_ranked = 8;          // below, entries one by one cost less than their ranks

    bool full() const { return entries_.size() == most_; }
    bool is_sorted() const { return most_ <= longest_sorted; }
    const Entry<Real>& last() const { return is_sorted() ? entries_.back() : entries_.front(); }

    void add(const Entry<Real>& entry) {
        if (!is_sorted()) return add_to_heap(entry);
        if (!full()) entries_.push_back(entry);
        Entry<Real>* const begin = entries_.data();
        Entry<Real>* at = begin + entries_.size() - 1;
        for (; at > begin && entry < at[-1]; --at) *at = at[-1];
        *at = entry;
    }

    void add_to_heap(const Entry<Real>& entry) {
        if (full()) {
            std::pop_heap(entries_.begin(), entries_.end());
            entries_.back() = entry;
        } else {
            entries_.push_back(entry);
        }
        std::push_heap(entries_.begin(), entries_.end());
    }

    // The first points of a query, sorted by their ranks: no comparison decides where the program goes on. Ranks repeat
    // where distances are tied; then the points are sorted as usual.
    void start_with(Batch<Real>& batch, const Scan<Real>& scan) {
        typename Scan<Real>::Rank ranks[leaf_size];
        std::fill(batch.distances + batch.n, batch.distances + leaf_size, Real{0});
        scan.ranks_among(batch.distances, batch.n, ranks);
        entries_.resize(static_cast<std::size_t>(batch.n));
        std::uint64_t seen = 0;
        for (int i = 0; i < batch.n; ++i) {
            entries_[static_cast<std::size_t>(ranks[i])] = batch[i];
            seen |= std::uint64_t{1} << ranks[i];
        }
        if (seen + 1 != std::uint64_t{1} << batch.n) {
            for (int i = 0; i < batch.n; ++i) entries_[static_cast<std::size_t>(i)] = batch[i];
            std::sort(entries_.begin(), entries_.end());
        }
        if (entries_.size() > most_) entries_.resize(most_);
    }

    std::size_t most_;
    std::vector<Entry<Real>> entries_;
};

// All points of a closed ball, or only their number.
template <class Real>
class Ball {
  public:
    explicit Ball(bool keeps) : keeps_(keeps) {}

    void start(double radius) {
        radius_ = radius;
        n_points_ = 0;
        entries_.clear();
    }
    bool takes(const Entry<Real>& entry) const { return static_cast<double>(entry.distance) <= radius_; }
    double radius() const { return radius_; }
    void add(Batch<Real>& batch, const Scan<Real>&) {
        for (int i = 0; i < batch.n; ++i) {
            if (!takes(batch[i])) continue;
            ++n_points_;
            if (keeps_) entries_.push_back(batch[i]);
        }
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

}  // namespace diffpeaks
