// What the bindings take: arrays of numpy, and the measure of a space.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "distance.hpp"
#include "graph.hpp"

namespace diffpeaks {

namespace nb = nanobind;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Filled = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Released = nb::call_guard<nb::gil_scoped_release>;

// An array must fit as it is: a converted copy of an output would be filled and thrown away.
inline auto array(const char* name) { return nb::arg(name).noconvert(); }

inline Rows rows_of(const In<Offset>& indptr, const In<Index>& indices) {
    return {static_cast<Index>(indptr.shape(0) - 1), indptr.data(), indices.data()};
}

// order, squared, factor, zero
using MeasureTuple = std::tuple<double, bool, double, double>;

// Calls f with what the order of the measure adds up, and with the measure itself.
template <class F>
void with_measure(const MeasureTuple& given, F f) {
    const auto [order, squared, factor, zero] = given;
    const Measure measure{order == 2 && !squared, factor, zero};
    with_order(order, [&](auto add) { f(add, measure); });
}

}  // namespace diffpeaks
