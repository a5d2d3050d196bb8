// Python's view of the kd-tree.
#include "arrays.hpp"
#include "kdsearch.hpp"

namespace diffpeaks {

template <class Real> static std::int64_t n_rows(const Table<Real>& table) {
    return static_cast<std::int64_t>(table.shape(0));
}

template <class Real> static void bind_tree_of(nb::module_& m, const char* name) {
    using Tree = KDTree<Real>;
    nb::class_<Tree>(m, name)
        .def(
            "order", [](const Tree& tree, Out<Index> order) { std::copy_n(tree.order(), tree.n_points(), order.data()); },
            array("order"))
        .def(
            "nearest",
            [](const Tree& tree, Table<Real> queries, In<Index> order, std::int64_t n_neighbors, MeasureTuple given,
               Out<Index> indices, Out<Real> distances, int n_threads) {
                with_measure(given, [&](auto add, const Measure& measure) {
                    tree_nearest<decltype(add)>(tree, measure, queries.data(), n_rows(queries), order.data(),
                                                n_neighbors, indices.data(), distances.data(), n_threads);
                });
            },
            array("queries"), array("order"), nb::arg("n_neighbors"), nb::arg("measure"), array("indices"), array("distances"), nb::arg("n_threads"), Released())
        .def(
            "counts",
            [](const Tree& tree, Table<Real> queries, In<Index> order, In<double> radii, MeasureTuple given,
               Out<Offset> counts, int n_threads) {
                with_measure(given, [&](auto add, const Measure& measure) {
                    tree_counts<decltype(add)>(tree, measure, queries.data(), n_rows(queries), order.data(),
                                               radii.data(), counts.data(), n_threads);
                });
            },
            array("queries"), array("order"), array("radii"), nb::arg("measure"), array("counts"), nb::arg("n_threads"), Released())
        .def(
            "balls",
            [](const Tree& tree, Table<Real> queries, In<Index> order, In<double> radii, MeasureTuple given,
               In<Offset> indptr, Out<Index> indices, Out<Real> distances,
               int n_threads) {
                with_measure(given, [&](auto add, const Measure& measure) {
                    tree_balls<decltype(add)>(tree, measure, queries.data(), n_rows(queries), order.data(),
                                              radii.data(), indptr.data(), indices.data(), distances.data(), n_threads);
                });
            },
            array("queries"), array("order"), array("radii"), nb::arg("measure"), array("indptr"), array("indices"), array("distances"),
            nb::arg("n_threads"), Released());
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
