// Python's view of the compiled core: flat arrays in, flat arrays out. Every decision is made in Python.
#include <nanobind/stl/pair.h>

#include "arrays.hpp"
#include "graph.hpp"
#include "overlap.hpp"
#include "settle.hpp"

using namespace diffpeaks;

namespace diffpeaks {
void bind_cells(nb::module_& m);
void bind_forest(nb::module_& m);
void bind_layout(nb::module_& m);
void bind_tree(nb::module_& m);
void bind_walk(nb::module_& m);
}  // namespace diffpeaks

// Never given back: threads may still loop when the interpreter ends.
static PyObject* told = nullptr;

static void tell_python(double share) {
    const nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    nb::handle{told}(share);
}

template <class Real>
void bind_graph(nb::module_& m) {
    m.def(
        "first_fault",
        [](const GraphArrays<Real>& given) {
            const FirstFault found = first_fault(given.checked());
            return std::pair<Index, int>(found.row, static_cast<int>(found.fault));
        },
        array("graph"), Released());
    m.def(
        "some_asymmetric",
        [](const GraphArrays<Real>& given, double tolerance, int n_threads) {
            return some_asymmetric(given.checked(), tolerance, n_threads);
        },
        array("graph"), nb::arg("tolerance"), nb::arg("n_threads"), Released());
}

// The last step of a search, on rows that are changed in place.
template <class Real>
void bind_settling(nb::module_& m) {
    m.def(
        "pair_distances",
        [](Table<Real> queries, Table<Real> points, In<Offset> indptr, In<Index> indices, Out<Real> distances,
           MeasureTuple given, int n_threads) {
            const Rows rows = rows_of(indptr, indices);
            const std::int64_t n_features = width(points);
            const Real* asked = values(queries, "queries", rows.n_samples, n_features);
            Real* out = values(distances, "distances", length(indices));
            with_measure(given, [&](auto add, const Measure& measure) {
                pair_distances<decltype(add)>(asked, points.data(), n_features, rows.n_samples, rows.indptr,
                                              rows.indices, out, measure, n_threads);
            });
        },
        array("queries"), array("points"), array("indptr"), array("indices"), array("distances"), nb::arg("measure"),
        nb::arg("n_threads"), Released());
    m.def(
        "keep_nearest",
        [](In<Offset> indptr, Out<Index> indices, Out<Real> distances, In<double> slack, std::int64_t n_nearest,
           Out<Offset> kept) {
            const std::int64_t n_rows = n_rows_of(indptr, "indices", length(indices));
            keep_nearest(n_rows, indptr.data(), indices.data(), values(distances, "distances", length(indices)),
                         values(slack, "slack", n_rows), n_nearest, values(kept, "kept", n_rows));
        },
        array("indptr"), array("indices"), array("distances"), array("slack"), nb::arg("n_nearest"), array("kept"),
        Released());
    m.def(
        "sort_rows",
        [](In<Offset> indptr, Out<Index> indices, Out<Real> distances, int n_threads) {
            sort_rows(n_rows_of(indptr, "indices", length(indices)), indptr.data(), indices.data(),
                      values(distances, "distances", length(indices)), n_threads);
        },
        array("indptr"), array("indices"), array("distances"), nb::arg("n_threads"), Released());
    m.def(
        "move_self_first",
        [](In<Offset> indptr, Out<Index> indices, Out<Real> distances, int n_threads) {
            return move_self_first(n_rows_of(indptr, "indices", length(indices)), indptr.data(), indices.data(),
                                   values(distances, "distances", length(indices)), n_threads);
        },
        array("indptr"), array("indices"), array("distances"), nb::arg("n_threads"), Released());
}

static void bind_overlap(nb::module_& m) {
    m.def(
        "rank_distances",
        [](const RowArrays& given, Out<double> distances, int n_threads) {
            rank_distances(given.checked(), values(distances, "distances", length(given.indices)), n_threads);
        },
        array("rows"), array("distances"), nb::arg("n_threads"), Released());
    m.def(
        "shared_counts",
        [](const RowArrays& given, Index min_shared, Out<double> counts, int n_threads) {
            const Rows rows = given.checked();
            shared_counts(rows, min_shared, values(counts, "counts", rows.n_samples), n_threads);
        },
        array("rows"), nb::arg("min_shared"), array("counts"), nb::arg("n_threads"), Released());
}

NB_MODULE(_native, m) {
    m.doc() = "Loops over flat arrays: settling a neighbour search, hills of a density, linking.";
    bind_graph<float>(m);
    bind_graph<double>(m);
    bind_settling<float>(m);
    bind_settling<double>(m);
    bind_overlap(m);
    bind_cells(m);
    bind_forest(m);
    bind_layout(m);
    bind_tree(m);
    bind_walk(m);
    m.def(
        "observe_loops",
        [](nb::callable tell, double seconds) {
            told = tell.release().ptr();
            const auto every = std::chrono::duration<double>(seconds);
            observer = {tell_python, std::chrono::duration_cast<Clock::duration>(every)};
        },
        nb::arg("tell"), nb::arg("seconds"));
}
