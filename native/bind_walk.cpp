// Python's view of the walk, and of samples that move towards their neighbours.
#include "walk.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
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

// The same of points that rows name, which may be others than those that have the rows.
static Lengths lengths_of(const In<double>& given) { return {given.data(), length(given) == 1}; }

template <class Real, class Weight>
static void bind_weights_of(nb::module_& m) {
    m.def(
        "weigh_rows",
        [](const GraphArrays<Real>& given, int kernel, In<double> by_row, In<double> by_entry, In<double> masses,
           Out<Weight> weights, Out<double> volume, int n_threads) {
            const Graph<Real> graph = given.checked();
            const Weighing how{static_cast<WeightKernel>(kernel), lengths_of(by_row, "by_row", graph.n_samples),
                               lengths_of(by_entry), lengths_of(masses)};
            weigh_rows(chosen_kernel(), graph, how, values(weights, "weights", length(given.rows.indices)),
                       values(volume, "volume", graph.n_samples), n_threads);
        },
        array("rows"), nb::arg("kernel"), array("by_row"), array("by_entry"), array("masses"), array("weights"),
        array("volume"), nb::arg("n_threads"), Released());
}

template <class Real>
static void bind_walk_of(nb::module_& m) {
    m.def(
        "send_mass",
        [](const RowArrays& given, In<Real> weights, In<double> sent_by_weight, Out<double> sums, Out<double> arriving,
           std::pair<double, double> step, int n_threads) {
            const Rows rows = given.checked();
            const std::int64_t n = rows.n_samples;
            send_mass(rows, values(weights, "weights", length(given.indices)),
                      values(sent_by_weight, "sent_by_weight", n), values(sums, "sums", n * n_parts_of(n)),
                      values(arriving, "arriving", n), LoopPart{step.first, step.second}, n_threads);
        },
        array("rows"), array("weights"), array("sent_by_weight"), array("sums"), array("arriving"), nb::arg("step"),
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
        [](Table<Real> queries, const GraphArrays<Real>& given, bool own_first, const TargetArrays<Real>& target_arrays,
           const PullTuple& pull, Filled<Real> moved, int n_threads) {
            const Graph<Real> rows = given.checked();
            const Targets<Real> targets = targets_of(target_arrays);
            const auto [kept, n_filled, distances_squared] = pull;
            if (own_first) check_holds("targets", "rows", length(std::get<0>(target_arrays)), rows.n_samples);
            shift_towards(chosen_kernel(), values(queries, "queries", rows.n_samples, targets.n_features), rows,
                          own_first, targets, Pull{kept, n_filled, distances_squared},
                          values(moved, "moved", rows.n_samples, targets.n_features), n_threads);
        },
        array("queries"), array("rows"), nb::arg("own_first"), array("targets"), nb::arg("pull"), array("moved"),
        nb::arg("n_threads"), Released());
}

void bind_walk(nb::module_& m) {
    bind_weights_of<float, float>(m);
    bind_weights_of<float, double>(m);
    bind_weights_of<double, double>(m);
    bind_shifts_of<float>(m);
    bind_shifts_of<double>(m);
    bind_walk_of<float>(m);
    bind_walk_of<double>(m);
    m.def("n_parts_of", &n_parts_of, nb::arg("n_rows"));
    m.attr("RATIOS_IN_PRODUCT") = ratios_in_product;
    m.def(
        "spreads_by_products",
        [](Table<double> products, Out<double> spreads, int n_threads) {
            double* sums = values(spreads, "spreads", length(products));
            parallel_rows(length(products), n_threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
                for (std::int64_t row = first; row < last; ++row) {
                    sums[row] = less_logs(products.data() + row * width(products), width(products));
                }
            });
        },
        array("products"), array("spreads"), nb::arg("n_threads"), Released());
}

}  // namespace diffpeaks
