// Python's view of the loops of a map.
#include "layout.hpp"

#include "arrays.hpp"

namespace diffpeaks {

// pull, gravity, push, momentum, longest
using DescentTuple = std::tuple<double, double, double, double, double>;
// low_x, low_y, spacing, width
using GridTuple = std::tuple<double, double, double, std::int64_t>;

// Every place must have its nodes on the grid: the loops trust it.
static Grid checked_grid(const GridTuple& given, std::int64_t n_places, const double* places) {
    const auto [low_x, low_y, spacing, width] = given;
    const double end = static_cast<double>(width - 2);
    for (std::int64_t i = 0; i < n_places; ++i) {
        const double x = (places[2 * i] - low_x) / spacing, y = (places[2 * i + 1] - low_y) / spacing;
        if (!(x >= 1.0 && x < end && y >= 1.0 && y < end))
            throw std::invalid_argument("place " + std::to_string(i) + " is outside of the grid");
    }
    return {low_x, low_y, spacing, width};
}

void bind_layout(nb::module_& m) {
    m.def(
        "count_on_grid",
        [](Table<double> places, const GridTuple& given, Out<double> sums, Filled<double> counts, int n_threads) {
            const std::int64_t n = length(places);
            const double* where = values(places, "places", n, 2);
            const Grid grid = checked_grid(given, n, where);
            count_on_grid(grid, n, where, values(sums, "sums", n_parts_of(n) * grid.width * grid.width),
                          values(counts, "counts", grid.width, grid.width), n_threads);
        },
        array("places"), nb::arg("grid"), array("sums"), array("counts"), nb::arg("n_threads"), Released());
    m.def(
        "potential_at",
        [](Table<double> places, const GridTuple& given, Table<double> potential, Filled<double> found, int n_threads) {
            const std::int64_t n = length(places);
            const double* where = values(places, "places", n, 2);
            const Grid grid = checked_grid(given, n, where);
            check_holds("potential", "rows", length(potential), grid.width);
            check_holds("potential", "columns", width(potential), grid.width);
            potential_at(grid, potential.data(), width(potential), n, where, values(found, "found", n, 3), n_threads);
        },
        array("places"), nb::arg("grid"), array("potential"), array("found"), nb::arg("n_threads"), Released());
    m.def(
        "next_steps",
        [](const RowArrays& given, In<float> weights, Table<double> places, Table<double> potential,
           const DescentTuple& descent, Filled<double> steps, Filled<double> gains, int n_threads) {
            const Rows rows = given.checked();
            const std::int64_t n = rows.n_samples;
            const auto [pull, gravity, push, momentum, longest] = descent;
            next_steps(rows, values(weights, "weights", length(given.indices)), values(places, "places", n, 2),
                       values(potential, "potential", n, 3), Descent{pull, gravity, push, momentum, longest},
                       values(steps, "steps", n, 2), values(gains, "gains", n, 2), n_threads);
        },
        array("rows"), array("weights"), array("places"), array("potential"), nb::arg("descent"), array("steps"),
        array("gains"), nb::arg("n_threads"), Released());
}

}  // namespace diffpeaks
