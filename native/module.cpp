// Python's view of the compiled core: flat arrays in, flat arrays out. Every decision is made in Python.
#include <nanobind/stl/pair.h>

#include "arrays.hpp"
#include "forest.hpp"
#include "graph.hpp"
#include "merges.hpp"
#include "overlap.hpp"
#include "passes.hpp"
#include "settle.hpp"
#include "shifts.hpp"

using namespace diffpeaks;

namespace diffpeaks {
void bind_cells(nb::module_& m);
void bind_tree(nb::module_& m);
void bind_walk(nb::module_& m);
}  // namespace diffpeaks

static std::int64_t n_rows_of(const In<Offset>& indptr) { return static_cast<std::int64_t>(indptr.shape(0)) - 1; }

// Never given back: threads may still loop when the interpreter ends.
static PyObject* told = nullptr;

static void tell_python(double share) {
    const nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    nb::handle{told}(share);
}

template <class Real>
void bind_for(nb::module_& m) {
    m.def(
        "first_fault",
        [](In<Offset> indptr, In<Index> indices, In<Real> distances) {
            const FirstFault found = first_fault(rows_of(indptr, indices), distances.data());
            return std::pair<Index, int>(found.row, static_cast<int>(found.fault));
        },
        array("indptr"), array("indices"), array("distances"), Released());
    m.def(
        "some_asymmetric",
        [](In<Offset> indptr, In<Index> indices, In<Real> distances, double tolerance, int n_threads) {
            return some_asymmetric(rows_of(indptr, indices), distances.data(), tolerance, n_threads);
        },
        array("indptr"), array("indices"), array("distances"), nb::arg("tolerance"), nb::arg("n_threads"), Released());
    m.def(
        "pair_distances",
        [](Table<Real> queries, Table<Real> points, In<Offset> indptr, In<Index> indices, Out<Real> distances,
           MeasureTuple given, int n_threads) {
            with_measure(given, [&](auto add, const Measure& measure) {
                pair_distances<decltype(add)>(queries.data(), points.data(),
                                              static_cast<std::int64_t>(queries.shape(1)), n_rows_of(indptr),
                                              indptr.data(), indices.data(), distances.data(), measure, n_threads);
            });
        },
        array("queries"), array("points"), array("indptr"), array("indices"), array("distances"), nb::arg("measure"),
        nb::arg("n_threads"), Released());
    m.def(
        "shift_towards",
        [](Table<Real> queries, Table<Real> points, In<Offset> indptr, In<Index> indices, In<double> weights,
           Out<Real> moved, int n_threads) {
            shift_towards(queries.data(), points.data(), static_cast<std::int64_t>(points.shape(1)), n_rows_of(indptr),
                          indptr.data(), indices.data(), weights.data(), moved.data(), n_threads);
        },
        array("queries"), array("points"), array("indptr"), array("indices"), array("weights"), array("moved"),
        nb::arg("n_threads"), Released());
    m.def(
        "keep_nearest",
        [](In<Offset> indptr, Out<Index> indices, Out<Real> values, In<double> slack, std::int64_t n_nearest,
           Out<Offset> kept) {
            keep_nearest(n_rows_of(indptr), indptr.data(), indices.data(), values.data(), slack.data(), n_nearest,
                         kept.data());
        },
        array("indptr"), array("indices"), array("values"), array("slack"), nb::arg("n_nearest"), array("kept"),
        Released());
    m.def(
        "sort_rows",
        [](In<Offset> indptr, Out<Index> indices, Out<Real> distances, int n_threads) {
            sort_rows(n_rows_of(indptr), indptr.data(), indices.data(), distances.data(), n_threads);
        },
        array("indptr"), array("indices"), array("distances"), nb::arg("n_threads"), Released());
    m.def(
        "move_self_first",
        [](In<Offset> indptr, Out<Index> indices, Out<Real> distances, int n_threads) {
            return move_self_first(n_rows_of(indptr), indptr.data(), indices.data(), distances.data(), n_threads);
        },
        array("indptr"), array("indices"), array("distances"), nb::arg("n_threads"), Released());
    m.def(
        "merge_hills",
        [](In<Offset> indptr, In<Index> indices, In<Real> distances, double max_link, In<Index> order, In<Index> rank,
           In<Index> parent, Out<Index> saddle, Out<Index> crossing, int n_threads) {
            merge_hills(rows_of(indptr, indices), distances.data(), max_link, order.data(), rank.data(), parent.data(),
                        saddle.data(), crossing.data(), n_threads);
        },
        array("indptr"), array("indices"), array("distances"), nb::arg("max_link"), array("order"), array("rank"),
        array("parent"), array("saddle"), array("crossing"), nb::arg("n_threads"), Released());
    m.def(
        "merge_ranked",
        [](In<Offset> indptr, In<Index> indices, In<Real> lengths, double max_link, In<Index> parent, Out<Index> hill,
           Out<Index> saddle, Out<Index> crossing) {
            merge_ranked(rows_of(indptr, indices), lengths.data(), max_link, parent.data(), hill.data(), saddle.data(),
                         crossing.data());
        },
        array("indptr"), array("indices"), array("lengths"), nb::arg("max_link"), array("parent"), array("hill"),
        array("saddle"), array("crossing"), Released());
    m.def(
        "join_hills",
        [](In<Offset> walk_indptr, In<Index> walk_indices, In<Real> walk_lengths, In<double> chances, In<double> masses,
           In<Index> hill_of_walker, In<Offset> indptr, In<Index> indices, In<Real> lengths, double max_link,
           In<Index> order, In<Index> rank, In<Index> hill_of_rank, In<double> log_density, In<Index> tops,
           double flow_weight, double usual_flow, Out<Index> saddle, Out<Index> crossing,
           Out<double> prominence) {
            const WeighedWalk<Real> walk{rows_of(walk_indptr, walk_indices), walk_lengths.data(), chances.data(),
                                         masses.data()};
            join_hills(walk, hill_of_walker.data(), rows_of(indptr, indices), lengths.data(), max_link, order.data(),
                       rank.data(), hill_of_rank.data(), log_density.data(),
                       std::vector<Index>(tops.data(), tops.data() + tops.shape(0)),
                       Separation{flow_weight, usual_flow}, saddle.data(), crossing.data(), prominence.data());
        },
        array("walk_indptr"), array("walk_indices"), array("walk_lengths"), array("chances"), array("masses"),
        array("hill_of_walker"), array("indptr"), array("indices"), array("lengths"), nb::arg("max_link"),
        array("order"), array("rank"), array("hill_of_rank"), array("log_density"), array("tops"),
        nb::arg("flow_weight"), nb::arg("usual_flow"), array("saddle"), array("crossing"),
        array("prominence"), Released());
    m.def(
        "mark_border",
        [](In<Offset> indptr, In<Index> indices, In<Real> distances, double max_link, In<Index> labels,
           Out<bool> border) {
            mark_border(rows_of(indptr, indices), distances.data(), max_link, labels.data(), border.data());
        },
        array("indptr"), array("indices"), array("distances"), nb::arg("max_link"), array("labels"), array("border"),
        Released());
    m.def(
        "join_within",
        [](In<Offset> indptr, In<Index> indices, In<Real> lengths, double max_length, In<bool> core,
           Out<Index> component) {
            join_within(rows_of(indptr, indices), lengths.data(), max_length, core.data(), component.data());
        },
        array("indptr"), array("indices"), array("lengths"), nb::arg("max_length"), array("core"), array("component"),
        Released());
}

NB_MODULE(_native, m) {
    m.doc() = "Loops over flat arrays: settling a neighbour search, hills of a density, linking.";
    bind_for<float>(m);
    bind_for<double>(m);
    bind_cells(m);
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
    m.def(
        "first_denser",
        [](In<Offset> indptr, In<Index> indices, In<Index> rank, Out<Offset> position, int n_threads) {
            first_denser(rows_of(indptr, indices), rank.data(), position.data(), n_threads);
        },
        array("indptr"), array("indices"), array("rank"), array("position"), nb::arg("n_threads"), Released());
    m.def(
        "follow_links",
        [](In<Index> links, Out<Index> ends) {
            follow_links(static_cast<Index>(links.shape(0)), links.data(), ends.data());
        },
        array("links"), array("ends"), Released());
    m.def(
        "join_cores",
        [](In<Offset> indptr, In<Index> indices, In<bool> core, Out<Index> component) {
            join_cores(rows_of(indptr, indices), core.data(), component.data());
        },
        array("indptr"), array("indices"), array("core"), array("component"), Released());
    m.def(
        "score_merges",
        [](In<Index> classes, Index n_classes, In<Index> from, In<Index> to, Filled<std::int64_t> pairs,
           Filled<double> shares) {
            score_merges(static_cast<Index>(classes.shape(0)), classes.data(), n_classes,
                         static_cast<std::int64_t>(from.shape(0)), from.data(), to.data(), pairs.data(), shares.data());
        },
        array("classes"), nb::arg("n_classes"), array("from_"), array("to"), array("pairs"), array("shares"),
        Released());
    m.def(
        "rank_distances",
        [](In<Offset> indptr, In<Index> indices, Out<double> distances, int n_threads) {
            rank_distances(rows_of(indptr, indices), distances.data(), n_threads);
        },
        array("indptr"), array("indices"), array("distances"), nb::arg("n_threads"), Released());
    m.def(
        "shared_counts",
        [](In<Offset> indptr, In<Index> indices, Index min_shared, Out<double> counts, int n_threads) {
            shared_counts(rows_of(indptr, indices), min_shared, counts.data(), n_threads);
        },
        array("indptr"), array("indices"), nb::arg("min_shared"), array("counts"), nb::arg("n_threads"), Released());
}
