// What rows lead from hill to hill, added up by pairs of hills; and kept row by row, so that under a shorter longest
// link only the rows that it changes are looked at again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "borders.hpp"
#include "graph.hpp"
#include "parallel.hpp"

namespace diffpeaks {

// Values of rows for each hill that they touch, their own included, in the order in which they are added up. The hills
// are those under links of any length; under shorter ones parts of hills become hills of their own, with numbers that
// follow.
template <class Value>
class KeptRows {
  public:
    // longest_up has the longest link from each point to the top of its hill: below it the point has another hill.
    template <class RowsOfHills>
    KeptRows(const RowsOfHills& rows, const double* longest_up, int n_threads)
        : longest_(static_cast<std::size_t>(rows.graph.n_samples)), indptr_(longest_.size() + 1) {
        const std::int64_t n_rows = rows.graph.n_samples, n_parts = n_parts_of(n_rows);
        std::vector<Part> parts(static_cast<std::size_t>(n_parts));
        parallel_chunks(n_parts, n_threads, [&] {
            return [&](std::int64_t p) {
                Part& part = parts[static_cast<std::size_t>(p)];
                for (std::int64_t row = n_rows * p / n_parts; row < n_rows * (p + 1) / n_parts; ++row) {
                    const Index from = rows.hill[row];
                    rows.each(row, rows.graph.indptr[row + 1], [&](Index to, const Value& value) {
                        part.end.push_back(part.pairs.end_of(from, to));
                        part.value.push_back(value);
                    });
                    indptr_[static_cast<std::size_t>(row) + 1] = static_cast<Offset>(part.end.size());
                    longest_[static_cast<std::size_t>(row)] = longest_of(rows.graph, row, longest_up);
                }
            };
        });
        for (std::int64_t p = 0; p < n_parts; ++p) {
            append(parts[static_cast<std::size_t>(p)], n_rows * p / n_parts, n_rows * (p + 1) / n_parts);
        }
    }

    const HillPairs& pairs() const { return pairs_; }
    Index n_rows() const { return static_cast<Index>(longest_.size()); }

    // Whether all entries of a row are shorter than that, and lead to the hills to which they led.
    bool holds(std::int64_t row, double max_link) const { return longest_[static_cast<std::size_t>(row)] < max_link; }

    // Calls take(pair, other hill, value) for what a row holds.
    template <class Take>
    void each(std::int64_t row, Take take) const {
        const auto first = static_cast<std::size_t>(indptr_[static_cast<std::size_t>(row)]);
        const auto last = static_cast<std::size_t>(indptr_[static_cast<std::size_t>(row) + 1]);
        for (std::size_t e = first; e < last; ++e) take(end_[e] / 2, pairs_.hill_at(end_[e] ^ 1), value_[e]);
    }

  private:
    struct Part {
        HillPairs pairs;
        std::vector<Index> end;
        std::vector<Value> value;
    };

    template <class Real>
    static double longest_of(const Graph<Real>& graph, std::int64_t row, const double* longest_up) {
        double longest = 0.0;
        for (Offset e = graph.indptr[row]; e < graph.indptr[row + 1]; ++e) {
            longest = std::max({longest, static_cast<double>(graph.distances[e]), longest_up[graph.indices[e]]});
        }
        return longest;
    }

    void append(Part& part, std::int64_t first, std::int64_t last) {
        std::vector<Index> end(2 * static_cast<std::size_t>(part.pairs.size()));
        for (Index i = 0; i < static_cast<Index>(end.size()); ++i) {
            end[static_cast<std::size_t>(i)] = pairs_.end_of(part.pairs.hill_at(i), part.pairs.hill_at(i ^ 1));
        }
        const auto before = static_cast<Offset>(end_.size());
        for (std::int64_t row = first; row < last; ++row) indptr_[static_cast<std::size_t>(row) + 1] += before;
        for (const Index i : part.end) end_.push_back(end[static_cast<std::size_t>(i)]);
        value_.insert(value_.end(), part.value.begin(), part.value.end());
        part = {};  // the memory, too
    }

    std::vector<double> longest_;  // by row
    HillPairs pairs_;
    std::vector<Offset> indptr_;
    std::vector<Index> end_;  // of the pair: the hill of the row
    std::vector<Value> value_;
};

// Sums over some rows: of the pairs that are known, by number, of others that they lead between, and of hills.
template <class Value>
struct PartOfSums {
    std::vector<Value> known;
    HillPairs others;
    std::vector<Value> of_others;
    std::vector<double> volume;

    PartOfSums(Index n_known, std::size_t n_hills)
        : known(static_cast<std::size_t>(n_known), Summing<Value>::nothing), volume(n_hills, 0.0) {}

    void add_to_hills(Index, Index, const RankPair&) {}
    void add_to_hills(Index from, Index to, double flow) {
        volume[static_cast<std::size_t>(from)] += flow;
        volume[static_cast<std::size_t>(to)] += flow;
    }
    void add_known(Index pair, const Value& value) { Summing<Value>::add(known[static_cast<std::size_t>(pair)], value); }
    // A pair that is not known is none.
    void add(Index pair, Index from, Index to, const Value& value) {
        if (pair != HillPairs::none) return add_known(pair, value);
        const auto other = static_cast<std::size_t>(others.number(from, to));
        if (other == of_others.size()) of_others.push_back(Summing<Value>::nothing);
        Summing<Value>::add(of_others[other], value);
    }
};

// The sums of all rows. As many parts on one thread as on many, added in their order, so that sums are rounded alike.
template <class Value>
class SumsOfHills {
  public:
    SumsOfHills(std::vector<PartOfSums<Value>> parts, const HillPairs* known)
        : parts_(std::move(parts)), known_(known) {}

    // Calls visit(hill, other hill, value); of pairs that no kept row has once for each part.
    template <class Visit>
    void each_pair(Visit visit) const {
        for (Index pair = 0; known_ && pair < known_->size(); ++pair) {
            const auto [a, b] = known_->hills(pair);
            if (a == b) continue;
            Value total = Summing<Value>::nothing;
            for (const auto& part : parts_) Summing<Value>::add(total, part.known[static_cast<std::size_t>(pair)]);
            if (!Summing<Value>::is_nothing(total)) visit(a, b, total);
        }
        for (const auto& part : parts_) {
            for (Index pair = 0; pair < part.others.size(); ++pair) {
                const auto [a, b] = part.others.hills(pair);
                visit(a, b, part.of_others[static_cast<std::size_t>(pair)]);
            }
        }
    }

    void add_volumes(std::vector<double>& volume) const {
        for (const auto& part : parts_) {
            for (std::size_t hill = 0; hill < volume.size(); ++hill) volume[hill] += part.volume[hill];
        }
    }

  private:
    std::vector<PartOfSums<Value>> parts_;
    const HillPairs* known_;
};

// Where the entries of a row end that are shorter than max_link.
template <class Real>
Offset end_below(const Graph<Real>& graph, std::int64_t row, double max_link) {
    Offset end = graph.indptr[row + 1];
    while (end > graph.indptr[row] && !(static_cast<double>(graph.distances[end - 1]) < max_link)) --end;
    return end;
}

// Adds up the entries of rows below max_link; rows that are as they were when they were kept are taken from there.
template <class RowsOfHills, class Value = typename RowsOfHills::Value>
SumsOfHills<Value> sums_of_hills(const RowsOfHills& rows, std::size_t n_hills, double max_link,
                                 const KeptRows<Value>* kept, int n_threads) {
    const auto& graph = rows.graph;
    const std::int64_t n_rows = graph.n_samples, n_parts = n_parts_of(n_rows);
    const HillPairs* known = kept ? &kept->pairs() : nullptr;
    std::vector<PartOfSums<Value>> parts(static_cast<std::size_t>(n_parts), {known ? known->size() : 0, n_hills});
    parallel_chunks(n_parts, n_threads, [&] {
        return [&](std::int64_t p) {
            PartOfSums<Value>& part = parts[static_cast<std::size_t>(p)];
            for (std::int64_t row = n_rows * p / n_parts; row < n_rows * (p + 1) / n_parts; ++row) {
                const Index from = rows.hill[row];
                if (kept && kept->holds(row, max_link)) {
                    kept->each(row, [&](Index pair, Index to, const Value& value) {
                        part.add_to_hills(from, to, value);
                        part.add_known(pair, value);
                    });
                } else {
                    rows.each(row, end_below(graph, row, max_link), [&](Index to, const Value& value) {
                        part.add_to_hills(from, to, value);
                        if (from != to) part.add(known ? known->find(from, to) : HillPairs::none, from, to, value);
                    });
                }
            }
        };
    });
    return {std::move(parts), known};
}

}  // namespace diffpeaks
