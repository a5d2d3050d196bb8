// Python's view of the kd-tree.
#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "kdsearch.hpp"

namespace diffpeaks {

template <class Real>
static std::int64_t n_rows(const Table<Real>& table) {
    return static_cast<std::int64_t>(table.shape(0));
}

// Without an order, the points of the tree in its own.
using Order = std::optional<In<Index>>;

template <class Real>
static Queries<Real> queries_of(const Table<Real>& values, const Order& order) {
    return {values.data(), n_rows(values), order ? order->data() : nullptr};
}

template <class Real>
static void bind_tree_of(nb::module_& m, const char* name) {
    using Tree = KDTree<Real>;
    nb::class_<Tree>(m, name)
        .def(
            "order",
            [](const Tree& tree, Out<Index> order) { std::copy_n(tree.order(), tree.n_points(), order.data()); },
            array("order"))
        .def(
            "nearest",
            [](const Tree& tree, Table<Real> queries, Order order, std::int64_t n_neighbors, MeasureTuple given,
               Out<Index> indices, Out<Real> distances, int n_threads) {
                with_measure(given, [&](auto add, const Measure& measure) {
                    tree_nearest<decltype(add)>(tree, measure, queries_of(queries, order), n_neighbors, indices.data(),
                                                distances.data(), n_threads);
                });
            },
            array("queries"), nb::arg("order").none(), nb::arg("n_neighbors"), nb::arg("measure"), array("indices"),
            array("distances"), nb::arg("n_threads"), Released())
        .def(
            "counts",
            [](const Tree& tree, Table<Real> queries, Order order, In<double> radii, MeasureTuple given,
               Out<Offset> counts, int n_threads) {
                with_measure(given, [&](auto add, const Measure& measure) {
                    tree_counts<decltype(add)>(tree, measure, queries_of(queries, order), radii.data(), counts.data(),
                                               n_threads);
                });
            },
            array("queries"), nb::arg("order").none(), array("radii"), nb::arg("measure"), array("counts"),
            nb::arg("n_threads"), Released())
        .def(
            "balls",
            [](const Tree& tree, Table<Real> queries, Order order, In<double> radii, MeasureTuple given,
               In<Offset> indptr, Out<Index> indices, Out<Real> distances, int n_threads) {
                with_measure(given, [&](auto add, const Measure& measure) {
                    tree_balls<decltype(add)>(tree, measure, queries_of(queries, order), radii.data(), indptr.data(),
                                              indices.data(), distances.data(), n_threads);
                });
            },
            array("queries"), nb::arg("order").none(), array("radii"), nb::arg("measure"), array("indptr"),
            array("indices"), array("distances"), nb::arg("n_threads"), Released());
    m.def(
        "kd_tree",
        [](Table<Real> points, int n_threads) {
            return Tree(points.data(), n_rows(points), static_cast<std::int64_t>(points.shape(1)), n_threads);
        },
        array("points"), nb::arg("n_threads"), Released());
}

void bind_tree(nb::module_& m) {
    nb::set_leak_warnings(false);  // an estimator that lives as long as the interpreter is no leak
    bind_tree_of<float>(m, "KDTreeOfFloat32");
    bind_tree_of<double>(m, "KDTreeOfFloat64");
}

}  // namespace diffpeaks
