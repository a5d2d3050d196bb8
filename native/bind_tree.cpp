// Python's view of the kd-tree.
#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "denser.hpp"
#include "kdsearch.hpp"

namespace diffpeaks {

// Without an order, the points of the tree in its own.
using Order = std::optional<In<Index>>;

template <class Real>
static Queries<Real> queries_of(const KDTree<Real>& tree, const Table<Real>& queries, const Order& order) {
    const std::int64_t n = order ? length(queries) : tree.n_points();
    return {values(queries, "queries", n, tree.n_features()), n, order ? values(*order, "order", n) : nullptr};
}

template <class Real>
static void bind_searches(nb::class_<KDTree<Real>>& bound) {
    using Tree = KDTree<Real>;
    bound.def(
        "nearest",
        [](const Tree& tree, Table<Real> queries, Order order, std::int64_t n_neighbors, MeasureTuple given,
           Out<Index> indices, Out<Real> distances, int n_threads) {
            const Queries<Real> asked = queries_of(tree, queries, order);
            Index* found = values(indices, "indices", asked.n * n_neighbors);
            Real* lengths = values(distances, "distances", asked.n * n_neighbors);
            with_measure(given, [&](auto add, const Measure& measure) {
                tree_nearest<decltype(add)>(tree, measure, asked, n_neighbors, found, lengths, n_threads);
            });
        },
        array("queries"), nb::arg("order").none(), nb::arg("n_neighbors"), nb::arg("measure"), array("indices"),
        array("distances"), nb::arg("n_threads"), Released());
    bound.def(
        "leaves_visited",
        [](const Tree& tree, Table<Real> queries, std::int64_t n_neighbors, MeasureTuple given) {
            const Queries<Real> asked{values(queries, "queries", length(queries), tree.n_features()), length(queries),
                                      nullptr};
            std::int64_t n_leaves = 0;
            with_measure(given, [&](auto add, const Measure& measure) {
                n_leaves = leaves_visited<decltype(add)>(tree, measure, asked, n_neighbors);
            });
            return n_leaves;
        },
        array("queries"), nb::arg("n_neighbors"), nb::arg("measure"), Released());
    bound.def(
        "counts",
        [](const Tree& tree, Table<Real> queries, Order order, In<double> radii, MeasureTuple given, Out<Offset> counts,
           int n_threads) {
            const Queries<Real> asked = queries_of(tree, queries, order);
            const double* reach = values(radii, "radii", asked.n);
            Offset* found = values(counts, "counts", asked.n);
            with_measure(given, [&](auto add, const Measure& measure) {
                tree_counts<decltype(add)>(tree, measure, asked, reach, found, n_threads);
            });
        },
        array("queries"), nb::arg("order").none(), array("radii"), nb::arg("measure"), array("counts"),
        nb::arg("n_threads"), Released());
    bound.def(
        "balls",
        [](const Tree& tree, Table<Real> queries, Order order, In<double> radii, MeasureTuple given, In<Offset> indptr,
           Out<Index> indices, Out<Real> distances, int n_threads) {
            const Queries<Real> asked = queries_of(tree, queries, order);
            const double* reach = values(radii, "radii", asked.n);
            check_length("indptr", "rows", n_rows_of(indptr, "indices", length(indices)), asked.n);
            Real* lengths = values(distances, "distances", length(indices));
            with_measure(given, [&](auto add, const Measure& measure) {
                tree_balls<decltype(add)>(tree, measure, asked, reach, indptr.data(), indices.data(), lengths,
                                          n_threads);
            });
        },
        array("queries"), nb::arg("order").none(), array("radii"), nb::arg("measure"), array("indptr"),
        array("indices"), array("distances"), nb::arg("n_threads"), Released());
}

template <class Real>
static void bind_nearest_denser(nb::class_<KDTree<Real>>& bound) {
    bound.def(
        "nearest_denser",
        [](const KDTree<Real>& tree, Table<Real> queries, In<Index> order, In<Index> query_rank, In<Index> rank,
           MeasureTuple given, Out<Index> points, Out<Real> distances, int n_threads) {
            const Queries<Real> asked = queries_of<Real>(tree, queries, order);
            const Index* own = values(query_rank, "query_rank", asked.n);
            const Index* ranks = values(rank, "rank", tree.n_points());
            Index* found = values(points, "points", asked.n);
            Real* lengths = values(distances, "distances", asked.n);
            with_measure(given, [&](auto add, const Measure& measure) {
                tree_nearest_denser<decltype(add)>(tree, measure, asked, own, ranks, found, lengths, n_threads);
            });
        },
        array("queries"), array("order"), array("query_rank"), array("rank"), nb::arg("measure"), array("points"),
        array("distances"), nb::arg("n_threads"), Released());
}

template <class Real>
static void bind_tree_of(nb::module_& m, const char* name) {
    using Tree = KDTree<Real>;
    nb::class_<Tree> bound(m, name);
    bound.def(
        "order",
        [](const Tree& tree, Out<Index> order) {
            std::copy_n(tree.order(), tree.n_points(), values(order, "order", tree.n_points()));
        },
        array("order"));
    bind_searches<Real>(bound);
    bind_nearest_denser<Real>(bound);
    m.def(
        "kd_tree",
        [](Table<Real> points, int n_threads) { return Tree(points.data(), length(points), width(points), n_threads); },
        array("points"), nb::arg("n_threads"), Released());
}

void bind_tree(nb::module_& m) {
    nb::set_leak_warnings(false);  // an estimator that lives as long as the interpreter is no leak
    bind_tree_of<float>(m, "KDTreeOfFloat32");
    bind_tree_of<double>(m, "KDTreeOfFloat64");
}

}  // namespace diffpeaks
