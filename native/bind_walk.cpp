// Python's view of the walk and of the links of hills.
#include "arrays.hpp"
#include "links.hpp"
#include "walk.hpp"

namespace diffpeaks {

static Lengths lengths_of(const In<double>& values) { return {values.data(), values.shape(0) == 1}; }

template <class Real>
static void bind_walk_of(nb::module_& m) {
    m.def(
        "squared_ratios",
        [](In<Offset> indptr, In<Index> indices, In<Real> distances, In<double> by_row, In<double> by_entry,
           Out<double> ratios, int n_threads) {
            squared_ratios(static_cast<std::int64_t>(indptr.shape(0)) - 1, indptr.data(), indices.data(),
                           distances.data(), lengths_of(by_row), lengths_of(by_entry), ratios.data(), n_threads);
        },
        array("indptr"), array("indices"), array("distances"), array("by_row"), array("by_entry"), array("ratios"),
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
    bind_walk_of<float>(m);
    bind_walk_of<double>(m);
    m.def(
        "normalize_rows",
        [](In<Offset> indptr, Out<double> values, int n_threads) {
            normalize_rows(static_cast<std::int64_t>(indptr.shape(0)) - 1, indptr.data(), values.data(), n_threads);
        },
        array("indptr"), array("values"), nb::arg("n_threads"), Released());
    m.def(
        "send_mass",
        [](In<Offset> indptr, In<Index> indices, In<double> chances, In<double> mass, Out<double> arriving,
           int n_threads) {
            send_mass(rows_of(indptr, indices), chances.data(), mass.data(), arriving.data(), n_threads);
        },
        array("indptr"), array("indices"), array("chances"), array("mass"), array("arriving"), nb::arg("n_threads"),
        Released());
}

}  // namespace diffpeaks
