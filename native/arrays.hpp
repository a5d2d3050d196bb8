// What the bindings take: arrays of numpy, rows of a graph, and the measure of a space. The loops behind them trust the
// lengths of arrays, so that pointers are handed out only here, to who says how many values there must be.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

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

template <class Array>
std::int64_t length(const Array& array) {
    return static_cast<std::int64_t>(array.shape(0));
}
template <class Array>
std::int64_t width(const Array& array) {
    return static_cast<std::int64_t>(array.shape(1));
}

inline void check_length(const char* name, const char* what, std::int64_t given, std::int64_t expected) {
    if (given == expected) return;
    throw std::invalid_argument(std::string(name) + " has " + std::to_string(given) + " " + what + ", expected " +
                                std::to_string(expected));
}

// The same where more do no harm.
inline void check_holds(const char* name, const char* what, std::int64_t given, std::int64_t least) {
    if (given >= least) return;
    throw std::invalid_argument(std::string(name) + " has " + std::to_string(given) + " " + what +
                                ", expected at least " + std::to_string(least));
}

// The values of an array that must hold so many.
template <class Array>
auto* values(const Array& array, const char* name, std::int64_t expected) {
    check_length(name, "values", length(array), expected);
    return array.data();
}

// The values of a table that must have that shape.
template <class Array>
auto* values(const Array& table, const char* name, std::int64_t n_rows, std::int64_t n_columns) {
    check_length(name, "rows", length(table), n_rows);
    check_length(name, "columns", width(table), n_columns);
    return table.data();
}

// The number of rows that begin where indptr says; it must end where the entries do.
inline std::int64_t n_rows_of(const In<Offset>& indptr, const char* entries, std::int64_t n_entries) {
    if (length(indptr) == 0) throw std::invalid_argument("indptr has 0 values, expected 1 more than there are rows");
    check_length(entries, "values", n_entries, indptr.data()[length(indptr) - 1]);
    return length(indptr) - 1;
}

inline Rows rows_of(const In<Offset>& indptr, const In<Index>& indices) {
    return {static_cast<Index>(n_rows_of(indptr, "indices", length(indices))), indptr.data(), indices.data()};
}

// Rows of neighbours: anything in Python with arrays `indptr` and `indices`, such as a NeighborGraph.
struct RowArrays {
    In<Offset> indptr;
    In<Index> indices;

    Rows checked() const { return rows_of(indptr, indices); }
};

// The same with `distances`.
template <class Real>
struct GraphArrays {
    RowArrays rows;
    In<Real> distances;

    Graph<Real> checked() const { return {rows.checked(), values(distances, "distances", length(rows.indices))}; }
};

// A vector as an array of numpy that owns it.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> owned(std::vector<T> values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

template <class Real>
nb::tuple owned(FlatRows<Real> rows) {
    return nb::make_tuple(owned(std::move(rows.indptr)), owned(std::move(rows.indices)),
                          owned(std::move(rows.distances)));
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

namespace nanobind::detail {

// Takes an array from the attribute of that name.
template <class Array>
bool take_attribute(handle from, const char* name, Array& array, uint8_t flags, cleanup_list* cleanup) noexcept {
    const object found = getattr(from, name, handle());
    make_caster<Array> caster;
    if (!found.is_valid() || !caster.from_python(found, flags, cleanup)) return false;
    array = std::move(caster.value);
    return true;
}

template <>
struct type_caster<diffpeaks::RowArrays> {
    NB_TYPE_CASTER(diffpeaks::RowArrays, const_name("Rows"))

    bool from_python(handle from, uint8_t flags, cleanup_list* cleanup) noexcept {
        return take_attribute(from, "indptr", value.indptr, flags, cleanup) &&
               take_attribute(from, "indices", value.indices, flags, cleanup);
    }
};

template <class Real>
struct type_caster<diffpeaks::GraphArrays<Real>> {
    NB_TYPE_CASTER(diffpeaks::GraphArrays<Real>, const_name("Graph"))

    bool from_python(handle from, uint8_t flags, cleanup_list* cleanup) noexcept {
        make_caster<diffpeaks::RowArrays> rows;
        if (!rows.from_python(from, flags, cleanup)) return false;
        value.rows = std::move(rows.value);
        return take_attribute(from, "distances", value.distances, flags, cleanup);
    }
};

}  // namespace nanobind::detail
