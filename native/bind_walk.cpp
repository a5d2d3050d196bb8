// Python's view of the walk, and of samples that move towards their neighbours.
#include "walk.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "kernels/dispatch.hpp"
#include "shifts.hpp"

namespace diffpeaks {

// One length for all, or one for each of so many.
static Lengths lengths_of(const In<double>& given, const char* name, std::int64_t expected) {
    if (length(given) == 1) return {given.data(), true};
    return {values(given, name, expected), false};
}

template <class Real>
static void bind_walk_of(nb::module_& m) {
    m.def(
        "squared_ratios",
        [](In<Offset> indptr, In<Index> indices, In<Real> distances, In<double> by_row, In<double> by_entry,
           Out<double> ratios, int n_threads) {
            const Rows rows = rows_of(indptr, indices);
            const std::int64_t n_entries = length(indices);
            squared_ratios(rows.n_samples, rows.indptr, rows.indices, values(distances, "distances", n_entries),
                           lengths_of(by_row, "by_row", rows.n_samples), {by_entry.data(), length(by_entry) == 1},
                           values(ratios, "ratios", n_entries), n_threads);
        },
        array("indptr"), array("indices"), array("distances"), array("by_row"), array("by_entry"), array("ratios"),
        nb::arg("n_threads"), Released());
    m.def(
        "row_spreads",
        [](const GraphArrays<Real>& given, Offset fewest, double least, Out<double> spreads, int n_threads) {
            const Graph<Real> graph = given.checked();
            row_spreads(graph, fewest, least, values(spreads, "spreads", graph.n_samples), n_threads);
        },
        array("graph"), nb::arg("fewest"), nb::arg("least"), array("spreads"), nb::arg("n_threads"), Released());
}

// points, masses and reach of those that samples move towards
template <class Real>
using TargetArrays = std::tuple<Table<Real>, std::optional<In<double>>, In<Real>>;

template <class Real>
static Targets<Real> targets_of(const TargetArrays<Real>& given) {
    const auto& [points, masses, reach] = given;
    const std::int64_t n = length(points);
    return {points.data(), width(points), masses ? values(*masses, "masses", n) : nullptr, values(reach, "reach", n)};
}

// kept, n_filled, distances_squared
using PullTuple = std::tuple<double, std::int64_t, bool>;

template <class Real>
static void bind_shifts_of(nb::module_& m) {
    m.def(
        "shift_towards",
        [](const std::string& kernel, Table<Real> queries, const GraphArrays<Real>& given, bool own_first,
           const TargetArrays<Real>& target_arrays, const PullTuple& pull, Filled<Real> moved, int n_threads) {
            const Graph<Real> rows = given.checked();
            const Targets<Real> targets = targets_of(target_arrays);
            const auto [kept, n_filled, distances_squared] = pull;
            if (own_first) check_length("queries", "rows", rows.n_samples, length(std::get<0>(target_arrays)));
            shift_towards(kernel_named(kernel), values(queries, "queries", rows.n_samples, targets.n_features), rows,
                          own_first, targets, Pull{kept, n_filled, distances_squared},
                          values(moved, "moved", rows.n_samples, targets.n_features), n_threads);
        },
        nb::arg("kernel"), array("queries"), array("rows"), nb::arg("own_first"), array("targets"), nb::arg("pull"),
        array("moved"), nb::arg("n_threads"), Released());
}

void bind_walk(nb::module_& m) {
    bind_shifts_of<float>(m);
    bind_shifts_of<double>(m);
    bind_walk_of<float>(m);
    bind_walk_of<double>(m);
    m.def(
        "normalize_rows",
        [](In<Offset> indptr, Out<double> values, int n_threads) {
            normalize_rows(n_rows_of(indptr, "values", length(values)), indptr.data(), values.data(), n_threads);
        },
        array("indptr"), array("values"), nb::arg("n_threads"), Released());
    m.def(
        "send_mass",
        [](In<Offset> indptr, In<Index> indices, In<double> chances, In<double> mass, Out<double> arriving,
           int n_threads) {
            const Rows rows = rows_of(indptr, indices);
            send_mass(rows, values(chances, "chances", length(indices)), values(mass, "mass", rows.n_samples),
                      values(arriving, "arriving", rows.n_samples), n_threads);
        },
        array("indptr"), array("indices"), array("chances"), array("mass"), array("arriving"), nb::arg("n_threads"),
        Released());
}

}  // namespace diffpeaks
