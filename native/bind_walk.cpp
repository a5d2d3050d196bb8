// Python's view of the walk and of the links of hills.
#include "arrays.hpp"
#include "links.hpp"
#include "walk.hpp"

namespace diffpeaks {

static Lengths lengths_of(const In<double>& values) { return {values.data(), values.shape(0) == 1}; }

template <class Real, class Weight>
static void bind_weights_of(nb::module_& m) {
    m.def(
        "weigh_rows",
        [](In<Offset> indptr, In<Index> indices, In<Real> distances, int kernel, In<double> by_row,
           In<double> by_entry, In<double> masses, Out<Weight> weights, Out<double> volume, int n_threads) {
            const Weighing how{static_cast<Kernel>(kernel), lengths_of(by_row), lengths_of(by_entry),
                               lengths_of(masses)};
            weigh_rows(rows_of(indptr, indices), distances.data(), how, weights.data(), volume.data(), n_threads);
        },
        array("indptr"), array("indices"), array("distances"), nb::arg("kernel"), array("by_row"), array("by_entry"),
        array("masses"), array("weights"), array("volume"), nb::arg("n_threads"), Released());
}

template <class Real>
static void bind_walk_of(nb::module_& m) {
    m.def(
        "send_mass",
        [](In<Offset> indptr, In<Index> indices, In<Real> weights, In<double> sent_by_weight, Out<double> sums,
           Out<double> arriving, int n_threads) {
            send_mass(rows_of(indptr, indices), weights.data(), sent_by_weight.data(), sums.data(), arriving.data(),
                      n_threads);
        },
        array("indptr"), array("indices"), array("weights"), array("sent_by_weight"), array("sums"), array("arriving"),
        nb::arg("n_threads"), Released());
    m.def(
        "row_spreads",
        [](In<Offset> indptr, In<Index> indices, In<Real> distances, Offset fewest, double least, Out<double> spreads,
           int n_threads) {
            row_spreads(rows_of(indptr, indices), distances.data(), fewest, least, spreads.data(), n_threads);
        },
        array("indptr"), array("indices"), array("distances"), nb::arg("fewest"), nb::arg("least"), array("spreads"),
        nb::arg("n_threads"), Released());
    m.def(
        "count_links",
        [](In<Offset> indptr, In<Index> indices, In<Real> distances, In<Offset> nearest, In<Offset> within,
           In<Real> reach, Out<Offset> counts, int n_threads) {
            const Rows rows = rows_of(indptr, indices);
            count_links(ShortLinks<Real>{rows, distances.data(), nearest.data(), within.data(), reach.data()},
                        counts.data(), n_threads);
        },
        array("indptr"), array("indices"), array("distances"), array("nearest"), array("within"), array("reach"),
        array("counts"), nb::arg("n_threads"), Released());
    m.def(
        "fill_links",
        [](In<Offset> indptr, In<Index> indices, In<Real> distances, In<Offset> nearest, In<Offset> within,
           In<Real> reach, In<Offset> starts, Out<Index> linked, Out<Real> lengths, int n_threads) {
            const Rows rows = rows_of(indptr, indices);
            fill_links(ShortLinks<Real>{rows, distances.data(), nearest.data(), within.data(), reach.data()},
                       starts.data(), linked.data(), lengths.data(), n_threads);
        },
        array("indptr"), array("indices"), array("distances"), array("nearest"), array("within"), array("reach"),
        array("starts"), array("linked"), array("lengths"), nb::arg("n_threads"), Released());
}

void bind_walk(nb::module_& m) {
    bind_weights_of<float, float>(m);
    bind_weights_of<float, double>(m);
    bind_weights_of<double, double>(m);
    bind_walk_of<float>(m);
    bind_walk_of<double>(m);
    m.def("n_sending_parts", &n_sending_parts, nb::arg("n_rows"));
}

}  // namespace diffpeaks
