// Python's view of cells and their join.
#include "arrays.hpp"
#include "cell_join.hpp"
#include "locations.hpp"

#include <memory>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace diffpeaks {
namespace {

// Owns the packed members; centroids and slots are arrays that Python made and this keeps alive.
class PackedCells {
  public:
    PackedCells(Table<double> centroids, double scale, In<Offset> starts, In<Index> slot_point, std::int64_t n_features)
        : centroids_(centroids), starts_(starts), slot_point_(slot_point) {
        const auto n_cells = centroids.shape(0), n_slots = slot_point.shape(0);
        panels_.reset(new Bf16[n_slots * static_cast<std::size_t>(n_features)]);
        for (auto* values : {&norms_, &half_squares_}) values->resize(n_slots);
        for (auto* values : {&rounding_, &radius_, &spread_, &tail_}) values->resize(n_cells);
        cells_ = {static_cast<std::int64_t>(n_cells),
                  n_features,
                  static_cast<std::int64_t>(centroids.shape(1)),
                  centroids_.data(),
                  scale,
                  nullptr,
                  starts_.data(),
                  slot_point_.data(),
                  panels_.get(),
                  norms_.data(),
                  half_squares_.data(),
                  rounding_.data(),
                  radius_.data(),
                  spread_.data(),
                  tail_.data()};
    }

    const Cells& cells() const { return cells_; }

    // Puts every member farther away: by an amount, for each point, that is added to squared distances.
    void put_farther(const float* squares) {
        const auto n_slots = static_cast<std::size_t>(slot_point_.shape(0));
        for (std::size_t slot = 0; slot < n_slots; ++slot) {
            const Index point = cells_.slot_point[slot];
            if (point != NO_POINT) half_squares_[slot] += 0.5f * squares[point] * (1 - 1e-5f);
        }
    }

  private:
    Table<double> centroids_;
    In<Offset> starts_;
    In<Index> slot_point_;
    std::unique_ptr<Bf16[]> panels_;
    std::vector<float> norms_, half_squares_, rounding_, radius_, spread_, tail_;
    Cells cells_;
};

template <class Real>
Coordinates<Real> coordinates_of(const Table<Real>& rows, double scale, double error, const In<float>& tails,
                                 const In<Index>& row) {
    return {rows.data(), static_cast<std::int64_t>(rows.shape(1)), scale,
            error,       tails.shape(0) ? tails.data() : nullptr,  row.shape(0) ? row.data() : nullptr};
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
};

template <class Coordinate>
void bind_probes(nb::class_<Probes>& probes) {
    probes.def(
        "__init__",
        [](Probes* self, Table<Index> beside, std::int64_t n_probes, double spread_weight, double reach,
           std::int64_t n_reached, nb::object centroids, Table<Coordinate> rows) {
            new (self) Probes{beside, centroids, nb::cast(rows), nb::cast<const PackedCells&>(centroids).cells(), {}};
            self->centroids.rows = rows.data();
            self->probing = {self->beside.data(),
                             static_cast<std::int64_t>(self->beside.shape(1)),
                             n_probes,
                             spread_weight,
                             reach,
                             n_reached,
                             &self->centroids};
        },
        array("beside"), nb::arg("n_probes"), nb::arg("spread_weight"), nb::arg("reach"), nb::arg("n_reached"),
        nb::arg("centroids"), array("rows"));
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
ExactDistances<Real> exact_distances(const Kernel& kernel, const Table<Real>& queries, const Table<Real>& points) {
    return {kernel, queries.data(), points.data(), static_cast<std::int64_t>(points.shape(1))};
}

template <class Real, class Coordinate>
QueryBlocks blocks_of(const Queries<Real, Coordinate>& queries) {
    return {static_cast<std::int64_t>(queries.block_origins.shape(0)), queries.block_starts.data(),
            queries.block_origins.data(), queries.order.data()};
}

template <class Real, class Coordinate>
Coordinates<Coordinate> coordinates_of(const Queries<Real, Coordinate>& queries, const Cells& cells) {
    return coordinates_of(queries.coordinates, cells.scale, queries.error, queries.tails, queries.order);
}

template <class Real, class Coordinate, class MakeGoal>
void join(const PackedCells& self, const std::string& kernel_name, const Queries<Real, Coordinate>& queries,
          const Table<Real>& points, const Probing& probing, MakeGoal make_goal, int n_threads) {
    const Kernel& kernel = kernel_named(kernel_name);
    cell_join(kernel, self.cells(), exact_distances(kernel, queries.rows, points), blocks_of(queries),
              coordinates_of(queries, self.cells()), probing, make_goal, n_threads);
}

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> owned(std::vector<T> values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

template <class Real>
struct FlatRows {
    std::vector<Offset> indptr{0};
    std::vector<Index> indices;
    std::vector<Real> distances;
};

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
        [](const PackedCells& self, const std::string& kernel, const Asked& queries, Table<Real> points,
           const Probes& probes, MeasureTuple given, Filled<Index> indices, Filled<Real> distances, int n_threads) {
            const auto n_neighbors = static_cast<std::int64_t>(indices.shape(1));
            const Measure measure = euclidean(given);
            const auto goal = [=, out = indices.data(), values = distances.data()] {
                return NearestGoal<Real>(measure, {n_neighbors, out, values});
            };
            join(self, kernel, queries, points, probes.probing, goal, n_threads);
        },
        nb::arg("kernel"), nb::arg("queries"), array("points"), nb::arg("probes"), nb::arg("measure"), array("indices"),
        array("distances"), nb::arg("n_threads"), Released());
    packed.def(
        "within",
        [](const PackedCells& self, const std::string& kernel, const Asked& queries, Table<Real> points,
           In<double> reach, In<double> cell_reach, MeasureTuple given, int n_threads) {
            std::vector<std::vector<std::pair<Real, Index>>> rows(queries.rows.shape(0));
            FlatRows<Real> found;
            {
                nb::gil_scoped_release released;
                const Measure measure = euclidean(given);
                std::vector<double> limits;
                for (std::size_t cell = 0; cell < cell_reach.shape(0); ++cell) {
                    limits.push_back(largest_square<Real>(measure, cell_reach.data()[cell]));
                }
                const auto goal = [&] { return BallGoal<Real>(reach.data(), limits.data(), measure, &rows); };
                join(self, kernel, queries, points, Probing{}, goal, n_threads);
                found = flat(rows);
            }
            return nb::make_tuple(owned(std::move(found.indptr)), owned(std::move(found.indices)),
                                  owned(std::move(found.distances)));
        },
        nb::arg("kernel"), nb::arg("queries"), array("points"), array("reach"), array("cell_reach"), nb::arg("measure"),
        nb::arg("n_threads"));
}

// The nearest of a shortlist: coordinates are searched as if they were the points, and the points decide in the end.
template <class Real>
void bind_shortlist(nb::class_<PackedCells>& packed) {
    packed.def(
        "nearest_listed",
        [](const PackedCells& self, const std::string& kernel_name, const Queries<Real, float>& queries,
           Table<Real> points, Table<float> coordinates, std::int64_t n_listed, const Probes& probes,
           MeasureTuple given, Filled<Index> indices, Filled<Real> distances, int n_threads) {
            const auto n_neighbors = static_cast<std::int64_t>(indices.shape(1));
            const Measure measure = euclidean(given);
            const Kernel& kernel = kernel_named(kernel_name);
            const auto goal = [&, n_neighbors, measure] {
                return ShortlistGoal<Real>(n_listed, exact_distances(kernel, queries.rows, points), measure,
                                           {n_neighbors, indices.data(), distances.data()});
            };
            cell_join(kernel, self.cells(), exact_distances(kernel, queries.coordinates, coordinates),
                      blocks_of(queries), coordinates_of(queries, self.cells()).without_error(), probes.probing, goal,
                      n_threads);
        },
        nb::arg("kernel"), nb::arg("queries"), array("points"), array("coordinates"), nb::arg("n_listed"),
        nb::arg("probes"), nb::arg("measure"), array("indices"), array("distances"), nb::arg("n_threads"), Released());
}

template <class Real>
void bind_cells_of(nb::module_& m, nb::class_<PackedCells>& packed) {
    packed.def(
        "pack",
        [](const PackedCells& self, Table<Real> rows, In<float> tails, In<Index> row, int n_threads) {
            pack_cells(self.cells(), coordinates_of(rows, self.cells().scale, 0.0, tails, row), n_threads);
        },
        array("rows"), array("tails"), array("row"), nb::arg("n_threads"), Released());
    m.def(
        "first_equal",
        [](Table<Real> points, Out<Index> first, int n_threads) {
            first_equal(points.data(), static_cast<std::int64_t>(points.shape(0)),
                        static_cast<std::int64_t>(points.shape(1)), first.data(), n_threads);
        },
        array("points"), array("first"), nb::arg("n_threads"), Released());
    m.def(
        "project",
        [](const std::string& kernel, Table<Real> rows, In<double> center, Table<float> directions,
           nb::ndarray<float, nb::ndim<2>, nb::c_contig> out, Out<float> squares, int n_threads) {
            const Coordinates<Real> points{rows.data(), static_cast<std::int64_t>(rows.shape(1)), 1.0, 0.0, nullptr,
                                           nullptr};
            project(kernel_named(kernel), points, static_cast<std::int64_t>(rows.shape(0)), center.data(),
                    directions.data(), static_cast<std::int64_t>(directions.shape(0)),
                    static_cast<std::int64_t>(directions.shape(1)), out.data(), squares.data(), n_threads);
        },
        nb::arg("kernel"), array("rows"), array("center"), array("directions"), array("out"), array("squares"),
        nb::arg("n_threads"), Released());
}

}  // namespace

void bind_cells(nb::module_& m) {
    m.attr("FEATURE_BLOCK") = feature_block;
    m.attr("PANEL_WIDTH") = panel_width;
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
        "put_farther", [](PackedCells& self, In<float> squares) { self.put_farther(squares.data()); },
        array("squares"));
    packed.def("spread", [](const PackedCells& self) {
        const Cells& cells = self.cells();
        return owned(std::vector<float>(cells.spread, cells.spread + cells.n_cells));
    });
    nb::class_<Probes> probes(m, "Probes");
    probes.def(nb::init<>());
    bind_probes<float>(probes);
    bind_probes<double>(probes);
    bind_join<float, float>(m, packed, "QueriesFloat");
    bind_join<double, double>(m, packed, "QueriesDouble");
    bind_join<double, float>(m, packed, "QueriesDoubleAlong");
    bind_shortlist<float>(packed);
    bind_shortlist<double>(packed);
}

}  // namespace diffpeaks
