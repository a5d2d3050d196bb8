// Python's view of cells and their join.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "cell_join.hpp"
#include "locations.hpp"
#include "packed_cells.hpp"

namespace diffpeaks {
namespace {

// Tails are none or one for each row.
template <class Real>
Coordinates<Real> coordinates_of(const char* name, const Table<Real>& rows, const Cells& cells, double error,
                                 const In<float>& tails, const Index* row) {
    check_length(name, "columns", width(rows), cells.n_coordinates);
    const float* lengths = length(tails) == 0 ? nullptr : values(tails, "tails", length(rows));
    return {rows.data(), width(rows), cells.scale, error, lengths, row};
}

Measure euclidean(const MeasureTuple& given) {
    const auto [order, squared, factor, zero] = given;
    if (order != 2) throw std::invalid_argument("a join of cells needs the order 2");
    return {!squared, factor, zero};
}

// Which cells are visited, with what Python made to say so.
struct Probes {
    Table<Index> beside;
    nb::object keep_centroids, keep_rows;
    Cells centroids{};
    Probing probing{};
    In<double> limits{}, last_scores{};

    const Probing& for_blocks(const In<Offset>& block_starts) const {
        const Offset n_queries = block_starts.data()[length(block_starts) - 1];
        if (probing.limits) check_length("limits", "values", length(limits), n_queries);
        if (probing.last_scores) check_length("last_scores", "values", length(last_scores), n_queries);
        if (probing.n_probes > 0) {
            check_length("beside", "rows", length(beside), length(block_starts) - 1);
            check_holds("beside", "columns", width(beside), 1);
        }
        return probing;
    }
};

template <class Coordinate>
void bind_probes(nb::class_<Probes>& probes) {
    probes.def(
        "__init__",
        [](Probes* self, Table<Index> beside, std::int64_t n_probes, double spread_weight, double reach,
           std::int64_t n_reached, nb::object centroids, Table<Coordinate> rows) {
            const auto& packed = nb::cast<const PackedCells&>(centroids);
            check_holds("rows", "rows", length(rows), packed.n_points());
            check_length("rows", "columns", width(rows), packed.cells().n_coordinates);
            new (self) Probes{beside, centroids, nb::cast(rows), packed.cells(), {}, {}, {}};
            self->centroids.rows = rows.data();
            self->probing = {self->beside.data(), width(self->beside), n_probes, spread_weight, reach,
                             n_reached,           &self->centroids};
        },
        array("beside"), nb::arg("n_probes"), nb::arg("spread_weight"), nb::arg("reach"), nb::arg("n_reached"),
        nb::arg("centroids"), array("rows"));
}

static void bind_known(nb::class_<Probes>& probes) {
    probes.def(
        "set_limits",
        [](Probes& self, In<double> limits) {
            self.limits = limits;
            self.probing.limits = self.limits.data();
        },
        array("limits"));
    probes.def(
        "set_last_scores",
        [](Probes& self, In<double> last_scores) {
            self.last_scores = last_scores;
            self.probing.last_scores = self.last_scores.data();
        },
        array("last_scores"));
}

// Everything a join needs to know of its queries.
template <class Real, class Coordinate>
struct Queries {
    Table<Real> rows;
    Table<Coordinate> coordinates;
    In<float> tails;
    double error;
    In<Offset> block_starts;
    Table<double> block_origins;
    In<Index> order;
};

template <class Real>
ExactDistances<Real> exact_distances(const Kernel& kernel, const Table<Real>& queries, const Table<Real>& points,
                                     std::int64_t n_points) {
    check_holds("points", "rows", length(points), n_points);
    check_length("points", "columns", width(points), width(queries));
    return {kernel, queries.data(), points.data(), width(points)};
}

template <class Real, class Coordinate>
QueryBlocks blocks_of(const Queries<Real, Coordinate>& queries, const Cells& cells) {
    const std::int64_t n_blocks = n_rows_of(queries.block_starts, "order", length(queries.order));
    return {n_blocks, queries.block_starts.data(),
            values(queries.block_origins, "block_origins", n_blocks, cells.n_coordinates), queries.order.data()};
}

template <class Real, class Coordinate>
Coordinates<Coordinate> coordinates_of(const Queries<Real, Coordinate>& queries, const Cells& cells) {
    check_length("coordinates", "rows", length(queries.coordinates), length(queries.rows));
    return coordinates_of("coordinates", queries.coordinates, cells, queries.error, queries.tails,
                          queries.order.data());
}

// Room for the nearest of each query.
template <class Real>
NearestRows<Real> nearest_rows(std::int64_t n_queries, const Filled<Index>& indices, const Filled<Real>& distances) {
    const std::int64_t n_neighbors = width(indices);
    return {n_neighbors, values(indices, "indices", n_queries, n_neighbors),
            values(distances, "distances", n_queries, n_neighbors)};
}

template <class Real, class Coordinate, class MakeGoal>
void join(const PackedCells& self, const Queries<Real, Coordinate>& queries, const Table<Real>& points,
          const Probing& probing, MakeGoal make_goal, int n_threads) {
    const Kernel& kernel = chosen_kernel();
    cell_join(kernel, self.cells(), exact_distances(kernel, queries.rows, points, self.n_points()),
              blocks_of(queries, self.cells()), coordinates_of(queries, self.cells()), probing, make_goal, n_threads);
}

template <class Real>
FlatRows<Real> flat(std::vector<std::vector<std::pair<Real, Index>>>& rows) {
    FlatRows<Real> out;
    std::size_t n_entries = 0;
    for (const auto& row : rows) out.indptr.push_back(static_cast<Offset>(n_entries += row.size()));
    out.indices.reserve(n_entries);
    out.distances.reserve(n_entries);
    for (auto& row : rows) {
        for (const auto& [distance, index] : row) {
            out.distances.push_back(distance);
            out.indices.push_back(index);
        }
        row = {};
    }
    return out;
}

template <class Real, class Coordinate>
void bind_join(nb::module_& m, nb::class_<PackedCells>& packed, const char* name) {
    using Asked = Queries<Real, Coordinate>;
    nb::class_<Asked>(m, name).def(
        "__init__",
        [](Asked* self, Table<Real> rows, Table<Coordinate> coordinates, In<float> tails, double error,
           In<Offset> block_starts, Table<double> block_origins,
           In<Index> order) { new (self) Asked{rows, coordinates, tails, error, block_starts, block_origins, order}; },
        array("rows"), array("coordinates"), array("tails"), nb::arg("error"), array("block_starts"),
        array("block_origins"), array("order"));
    packed.def(
        "nearest",
        [](const PackedCells& self, const Asked& queries, Table<Real> points, const Probes& probes, MeasureTuple given,
           Filled<Index> indices, Filled<Real> distances, int n_threads) {
            const Measure measure = euclidean(given);
            const NearestRows<Real> rows = nearest_rows(length(queries.rows), indices, distances);
            const auto goal = [&] { return NearestGoal<Real>(measure, rows); };
            join(self, queries, points, probes.for_blocks(queries.block_starts), goal, n_threads);
        },
        nb::arg("queries"), array("points"), nb::arg("probes"), nb::arg("measure"), array("indices"),
        array("distances"), nb::arg("n_threads"), Released());
    packed.def(
        "mark_visited",
        [](const PackedCells& self, const Asked& queries, const Probes& probes, Filled<bool> visited,
           Out<double> last_scores, int n_threads) {
            const Probing probing = probes.for_blocks(queries.block_starts);
            if (probing.n_probes == 0) throw std::invalid_argument("without probes all cells are visited");
            if (probing.reach > 0) check_length("limits", "values", length(probes.limits), length(queries.rows));
            const QueryBlocks blocks = blocks_of(queries, self.cells());
            mark_visited(chosen_kernel(), self.cells(), blocks, coordinates_of(queries, self.cells()), probing,
                         values(visited, "visited", blocks.n_blocks, self.cells().n_cells),
                         values(last_scores, "last_scores", length(queries.rows)), n_threads);
        },
        nb::arg("queries"), nb::arg("probes"), array("visited"), array("last_scores"), nb::arg("n_threads"),
        Released());
    packed.def(
        "within",
        [](const PackedCells& self, const Asked& queries, Table<Real> points, In<double> reach, In<double> cell_reach,
           MeasureTuple given, int n_threads) {
            std::vector<std::vector<std::pair<Real, Index>>> rows(queries.rows.shape(0));
            FlatRows<Real> found;
            {
                nb::gil_scoped_release released;
                const Measure measure = euclidean(given);
                check_holds("reach", "values", length(reach), self.n_points());
                const std::int64_t n_cells = self.cells().n_cells;
                const double* reach_of_cell = values(cell_reach, "cell_reach", n_cells);
                std::vector<double> limits;
                for (std::int64_t cell = 0; cell < n_cells; ++cell) {
                    limits.push_back(largest_square<Real>(measure, reach_of_cell[cell]));
                }
                const auto goal = [&] { return BallGoal<Real>(reach.data(), limits.data(), measure, &rows); };
                join(self, queries, points, Probing{}, goal, n_threads);
                found = flat(rows);
            }
            return owned(std::move(found));
        },
        nb::arg("queries"), array("points"), array("reach"), array("cell_reach"), nb::arg("measure"),
        nb::arg("n_threads"));
}

// The nearest of a shortlist: coordinates are searched as if they were the points, and the points decide in the end.
template <class Real>
void bind_shortlist(nb::class_<PackedCells>& packed) {
    packed.def(
        "nearest_listed",
        [](const PackedCells& self, const Queries<Real, float>& queries, Table<Real> points, Table<float> coordinates,
           std::int64_t n_listed, const Probes& probes, MeasureTuple given, Filled<Index> indices,
           Filled<Real> distances, int n_threads) {
            const Measure measure = euclidean(given);
            const Kernel& kernel = chosen_kernel();
            const NearestRows<Real> rows = nearest_rows(length(queries.rows), indices, distances);
            const auto by_points = exact_distances(kernel, queries.rows, points, self.n_points());
            const auto goal = [&] { return ShortlistGoal<Real>(n_listed, by_points, measure, rows); };
            cell_join(kernel, self.cells(), exact_distances(kernel, queries.coordinates, coordinates, self.n_points()),
                      blocks_of(queries, self.cells()), coordinates_of(queries, self.cells()).without_error(),
                      probes.for_blocks(queries.block_starts), goal, n_threads);
        },
        nb::arg("queries"), array("points"), array("coordinates"), nb::arg("n_listed"), nb::arg("probes"),
        nb::arg("measure"), array("indices"), array("distances"), nb::arg("n_threads"), Released());
}

template <class Real>
void bind_cells_of(nb::module_& m, nb::class_<PackedCells>& packed) {
    packed.def(
        "pack",
        [](const PackedCells& self, Table<Real> rows, In<float> tails, In<Index> row, int n_threads) {
            const Index* rows_of_slots = values(row, "row", self.n_slots());
            pack_cells(self.cells(), coordinates_of("rows", rows, self.cells(), 0.0, tails, rows_of_slots), n_threads);
        },
        array("rows"), array("tails"), array("row"), nb::arg("n_threads"), Released());
    m.def(
        "first_equal",
        [](Table<Real> points, Out<Index> first, int n_threads) {
            first_equal(points.data(), length(points), width(points), values(first, "first", length(points)),
                        n_threads);
        },
        array("points"), array("first"), nb::arg("n_threads"), Released());
    m.def(
        "squared_lengths",
        [](Table<Real> rows, Out<double> squares, int n_threads) {
            squared_lengths(rows.data(), length(rows), width(rows), values(squares, "squares", length(rows)),
                            n_threads);
        },
        array("rows"), array("squares"), nb::arg("n_threads"), Released());
    m.def(
        "limits_at",
        [](In<Real> distances, MeasureTuple given, double scale, Out<double> limits) {
            const Measure measure = euclidean(given);
            double* squares = values(limits, "limits", length(distances));
            for (std::int64_t i = 0; i < length(distances); ++i) {
                const double squared = largest_square<Real>(measure, static_cast<double>(distances.data()[i]));
                squares[i] = in_coordinates(squared, scale, 0.0);
            }
        },
        array("distances"), nb::arg("measure"), nb::arg("scale"), array("limits"), Released());
    m.def(
        "project",
        [](Table<Real> rows, In<double> center, Table<float> directions, Filled<float> out, Out<float> squares,
           int n_threads) {
            const Coordinates<Real> points{rows.data(), width(rows), 1.0, 0.0, nullptr, nullptr};
            const std::int64_t n_rows = length(rows), n_directions = length(directions);
            check_holds("directions", "columns", width(directions), width(rows));
            project(chosen_kernel(), points, n_rows, values(center, "center", width(rows)), directions.data(),
                    n_directions, width(directions), values(out, "out", n_rows, n_directions),
                    values(squares, "squares", n_rows), n_threads);
        },
        array("rows"), array("center"), array("directions"), array("out"), array("squares"), nb::arg("n_threads"),
        Released());
}

}  // namespace

void bind_cells(nb::module_& m) {
    m.attr("FEATURE_BLOCK") = feature_block;
    m.attr("PANEL_WIDTH") = panel_width;
    m.attr("KERNEL_VARIABLE") = kernel_variable;
    m.def("cpu_kernel", [] { return chosen_kernel().name; });
    m.def("kernels", [] {
        std::vector<std::string> names;
        for (const Kernel* kernel : supported_kernels()) names.emplace_back(kernel->name);
        return names;
    });
    nb::class_<PackedCells> packed(m, "PackedCells");
    packed.def(nb::init<Table<double>, double, In<Offset>, In<Index>, std::int64_t>(), array("centroids"),
               nb::arg("scale"), array("starts"), array("slot_point"), nb::arg("n_features"));
    bind_cells_of<float>(m, packed);
    bind_cells_of<double>(m, packed);
    packed.def(
        "put_farther",
        [](PackedCells& self, In<float> squares) {
            check_holds("squares", "values", length(squares), self.n_points());
            self.put_farther(squares.data());
        },
        array("squares"));
    packed.def("spread", [](const PackedCells& self) {
        const Cells& cells = self.cells();
        return owned(std::vector<float>(cells.spread, cells.spread + cells.n_cells));
    });
    packed.def("radius", [](const PackedCells& self) {
        const Cells& cells = self.cells();
        return owned(std::vector<float>(cells.radius, cells.radius + cells.n_cells));
    });
    packed.def(
        "set_spread",
        [](PackedCells& self, In<float> spread) {
            self.set_spread(values(spread, "spread", self.cells().n_cells));
        },
        array("spread"));
    nb::class_<Probes> probes(m, "Probes");
    probes.def(nb::init<>());
    bind_known(probes);
    bind_probes<float>(probes);
    bind_probes<double>(probes);
    bind_join<float, float>(m, packed, "QueriesFloat");
    bind_join<double, double>(m, packed, "QueriesDouble");
    bind_join<double, float>(m, packed, "QueriesDoubleAlong");
    bind_shortlist<float>(packed);
    bind_shortlist<double>(packed);
}

}  // namespace diffpeaks
