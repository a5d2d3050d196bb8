// Cell join: which cells the blocks of queries visit, and on which threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "block_join.hpp"
#include "parallel.hpp"
#include "probing.hpp"

namespace diffpeaks {

// The cells that may hold nearer points than a query has found: a search among centroids.
template <class Coordinate>
class CellsWithinReach {
  public:
    CellsWithinReach(const Kernel& kernel, const Cells& cells, const Probing& probing,
                     const Coordinates<Coordinate>& coordinates)
        : unit_(cells.scale * cells.scale),
          join_(
              kernel, *probing.centroids,
              {kernel, coordinates.rows, static_cast<const Coordinate*>(probing.centroids->rows), cells.n_coordinates},
              coordinates.without_error(), CellGoal(cells.spread, probing.spread_weight / unit_, probing.n_reached)) {}

    void begin(const QueryBlocks& blocks, std::int64_t block) { join_.begin(blocks, block); }

    // scores: for each query of the block the largest that a cell may have, in coordinates
    void find(std::vector<double> scores) {
        for (double& score : scores) score = std::min(score, 1e30) / unit_;
        join_.goal().set_bounds(std::move(scores));
        join_.visit(0, join_.everyone());
        join_.finish();
    }

    const std::vector<CellGoal::Entry>& of(Index query) { return join_.goal().found(query); }
    // The score of the last cell that was found: no other cell has one as small.
    double last_score(Index query) { return of(query).empty() ? -1.0 : of(query).front().first * unit_; }
    const double* origin() const { return join_.origin(); }
    const std::vector<float>& residuals() const { return join_.residuals(); }
    Index n_queries() const { return join_.n_queries(); }

  private:
    double unit_;
    BlockJoin<Coordinate, Coordinate, CellGoal> join_;
};

// Marks for each block the cells that its queries visit: the nearest, and those that they reach. A reach asks for limits,
// and gives for each query the score of the last cell that it reaches.
template <class Coordinate>
void mark_visited(const Kernel& kernel, const Cells& cells, const QueryBlocks& blocks,
                  const Coordinates<Coordinate>& coordinates, const Probing& probing, bool* visited,
                  double* last_scores, int n_threads) {
    parallel_chunks(blocks.n_blocks, n_threads, [&] {
        return [&, reach = CellsWithinReach<Coordinate>(kernel, cells, probing, coordinates)](
                   std::int64_t block) mutable {
            reach.begin(blocks, block);
            const Index n_queries = reach.n_queries();
            const NearestCells nearest(kernel, cells, probing, block, reach.origin(), reach.residuals(), n_queries);
            bool* of_block = visited + block * cells.n_cells;
            nearest.mark(of_block);
            if (!(probing.reach > 0)) return;
            const Index* rows = blocks.query_row + blocks.starts[block];
            std::vector<double> scores;
            for (Index query = 0; query < n_queries; ++query) {
                scores.push_back(probing.reach * probing.limits[rows[query]]);
            }
            reach.find(std::move(scores));
            for (Index query = 0; query < n_queries; ++query) {
                for (const auto& entry : reach.of(query)) of_block[entry.second] = true;
                last_scores[rows[query]] = reach.last_score(query);
            }
        };
    });
}

// Queries that visit many cells which few others of their block visit. They wait until there are enough of them to
// share what a visit loads.
class DeferredQueries {
  public:
    struct Query {
        Offset position;
        double limit;              // of its goal
        std::vector<Index> cells;  // all that it visits
    };

    void add(std::vector<Query> queries) {
        const std::lock_guard<std::mutex> guard(mutex_);
        std::move(queries.begin(), queries.end(), std::back_inserter(queries_));
    }

    // Not before all queries were added.
    const std::vector<Query>& in_order() {
        std::sort(queries_.begin(), queries_.end(),
                  [](const Query& a, const Query& b) { return a.position < b.position; });
        return queries_;
    }

  private:
    std::mutex mutex_;
    std::vector<Query> queries_;
};

// The join of a thread where queries visit some of the cells.
template <class Real, class Coordinate, class Goal>
class ProbingJoin {
  public:
    ProbingJoin(const Kernel& kernel, const Cells& cells, const Probing& probing,
                BlockJoin<Real, Coordinate, Goal> join, const Coordinates<Coordinate>& coordinates)
        : kernel_(kernel), cells_(cells), probing_(probing), join_(std::move(join)) {
        if (probing.reach > 0) reach_.emplace(kernel, cells, probing, coordinates);
    }

    // Visits the nearest cells, then those within reach where they are few.
    void run(const QueryBlocks& blocks, std::int64_t block, DeferredQueries& deferred) {
        join_.begin(blocks, block);
        for (Index query = 0; probing_.limits && query < join_.n_queries(); ++query) {
            constexpr double margin = 1 + 1e-5;  // a limit is a float
            const double limit = margin * probing_.limits[blocks.query_row[blocks.starts[block] + query]];
            join_.goal().lower_limit(query, limit / (cells_.scale * cells_.scale));
        }
        const NearestCells nearest(kernel_, cells_, probing_, block, join_.origin(), join_.residuals(),
                                   join_.n_queries());
        visits_.clear();
        nearest.add_to(visits_);
        visits_.in_order(probing_.n_beside, [&](Index candidate, const IndexRange& visitors) {
            join_.visit(nearest.cell(candidate), visitors);
        });
        if (reach_) visit_few(blocks, block, nearest, deferred);
        join_.finish();
    }

    // Visits the cells of queries that were deferred.
    void run_deferred(const QueryBlocks& blocks, std::int64_t block, const DeferredQueries::Query* queries) {
        join_.begin(blocks, block);
        visits_.clear();
        queries += blocks.starts[block];
        for (Index query = 0; query < join_.n_queries(); ++query) {
            join_.goal().lower_limit(query, queries[query].limit);  // as many as wanted will be found again
            for (const Index cell : queries[query].cells) visits_.add(cell, query);
        }
        visit_cells();
        join_.finish();
    }

  private:
    static constexpr std::size_t few = 8;

    void visit_few(const QueryBlocks& blocks, std::int64_t block, const NearestCells& nearest,
                   DeferredQueries& deferred) {
        std::vector<double> scores;
        for (Index query = 0; query < join_.n_queries(); ++query) {
            if (!probing_.last_scores) join_.settle(query);
            const Index row = blocks.query_row[blocks.starts[block] + query];
            scores.push_back(probing_.last_scores ? probing_.last_scores[row] : probing_.reach * join_.limit(query));
        }
        reach_->begin(blocks, block);
        reach_->find(std::move(scores));
        visits_.clear();
        std::vector<DeferredQueries::Query> later;
        for (Index query = 0; query < join_.n_queries(); ++query) {
            std::vector<Index> cells;
            for (const auto& entry : reach_->of(query)) {
                if (!nearest.has(query, entry.second)) cells.push_back(entry.second);
            }
            if (cells.size() <= few) {
                for (const Index cell : cells) visits_.add(cell, query);
            } else {
                const std::vector<Index> visited = nearest.of(query);
                cells.insert(cells.end(), visited.begin(), visited.end());
                later.push_back({blocks.starts[block] + query, join_.goal().limit(query), std::move(cells)});
            }
        }
        visit_cells();
        deferred.add(std::move(later));
    }

    void visit_cells() {
        visits_.in_order(cells_.n_cells, [&](Index cell, const IndexRange& visitors) { join_.visit(cell, visitors); });
    }

    const Kernel& kernel_;
    const Cells cells_;
    const Probing probing_;
    BlockJoin<Real, Coordinate, Goal> join_;
    std::optional<CellsWithinReach<Coordinate>> reach_;
    Visits visits_;
};

// Blocks of deferred queries, which are more than those of one cell.
struct DeferredBlocks {
    static constexpr std::int64_t most = 2048;

    DeferredBlocks(const std::vector<DeferredQueries::Query>& queries, const QueryBlocks& blocks,
                   std::int64_t n_coordinates) {
        const auto n = static_cast<std::int64_t>(queries.size());
        for (const auto& query : queries) row.push_back(blocks.query_row[query.position]);
        for (std::int64_t first = 0; first < n; first += most) {
            starts.push_back(first);
            const Offset middle = queries[static_cast<std::size_t>((first + std::min(first + most, n)) / 2)].position;
            const Offset* end = blocks.starts + blocks.n_blocks + 1;
            const std::int64_t block = std::upper_bound(blocks.starts, end, middle) - blocks.starts - 1;
            const double* origin = blocks.origins + block * n_coordinates;
            origins.insert(origins.end(), origin, origin + n_coordinates);
        }
        starts.push_back(n);
    }

    QueryBlocks view() const {
        return {static_cast<std::int64_t>(starts.size()) - 1, starts.data(), origins.data(), row.data()};
    }

    std::vector<Offset> starts;
    std::vector<double> origins;
    std::vector<Index> row;
};

// All queries visit all cells, from the nearest to their block on.
template <class Join>
void visit_all(Join& join, const Kernel& kernel, const Cells& cells, const QueryBlocks& blocks, std::int64_t block) {
    join.begin(blocks, block);
    for (const Index cell : cells_by_distance(cells, join.origin(), kernel)) join.visit(cell, join.everyone());
    join.finish();
}

constexpr std::int64_t most_at_once = std::int64_t{1} << 16;  // queries, so that few are deferred at a time

template <class Real, class Coordinate, class MakeGoal>
void cell_join(const Kernel& kernel, const Cells& cells, const ExactDistances<Real>& distances,
               const QueryBlocks& blocks, const Coordinates<Coordinate>& coordinates, const Probing& probing,
               MakeGoal make_goal, int n_threads) {
    using Goal = decltype(make_goal());
    const auto make_join = [&](const Coordinates<Coordinate>& of) {
        return BlockJoin<Real, Coordinate, Goal>(kernel, cells, distances, of, make_goal());
    };
    if (probing.n_probes == 0) {
        return parallel_chunks(blocks.n_blocks, n_threads, whole_loop, [&] {
            return [&, join = make_join(coordinates)](std::int64_t block) mutable {
                visit_all(join, kernel, cells, blocks, block);
            };
        });
    }
    using Join = ProbingJoin<Real, Coordinate, Goal>;
    const auto share = [&](std::int64_t block) {
        return static_cast<double>(block) / static_cast<double>(blocks.n_blocks);
    };
    for (std::int64_t first = 0, last = 0; first < blocks.n_blocks; first = last) {
        while (last < blocks.n_blocks && blocks.starts[last] - blocks.starts[first] < most_at_once) ++last;
        const double begin = share(first), end = share(last), middle = (begin + end) / 2;  // then, those deferred
        DeferredQueries deferred;
        parallel_chunks(last - first, n_threads, LoopPart{begin, middle}, [&] {
            return [&, join = Join(kernel, cells, probing, make_join(coordinates), coordinates)](
                       std::int64_t i) mutable { join.run(blocks, first + i, deferred); };
        });
        const auto& queries = deferred.in_order();
        const DeferredBlocks later(queries, blocks, cells.n_coordinates);
        const QueryBlocks later_blocks = later.view();
        const Coordinates<Coordinate> theirs = coordinates.with_rows(later.row.data());
        parallel_chunks(later_blocks.n_blocks, n_threads, LoopPart{middle, end}, [&] {
            return [&, join = Join(kernel, cells, probing, make_join(theirs), theirs)](std::int64_t block) mutable {
                join.run_deferred(later_blocks, block, queries.data());
            };
        });
    }
}

}  // namespace diffpeaks
