// The sources of rows in Python, checked: matrices, columns, and single rows.
//
// A reader is what reads them: a class with `used()`, `n_features()` and `nominal()`.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "bindings/arrays.hpp"
#include "prediction/router.hpp"

namespace hornbeam {

using Input = nb::ndarray<nb::ro, nb::device::cpu>;
using Output = nb::ndarray<nb::device::cpu>;

[[noreturn]] inline void fail(const std::string& message) { throw std::invalid_argument(message); }

// The data of an array that must be contiguous, with n_rows items or n_rows x n_columns.
template <class T, class Array>
auto contiguous(const Array& array, const char* name, int64_t n_rows, int64_t n_columns = 0) {
    const bool flat = n_columns == 0;
    bool fits = array.dtype() == nb::dtype<T>() && array.ndim() == (flat ? 1 : 2) &&
                n_rows == static_cast<int64_t>(array.shape(0)) &&
                (flat || n_columns == static_cast<int64_t>(array.shape(1)));
    if (fits && n_rows > 1) fits = array.stride(0) == (flat ? 1 : n_columns);
    if (fits && n_rows > 0 && n_columns > 1) fits = array.stride(1) == 1;
    fits = fits && aligned<T>(array.data());
    if (!fits)
        fail(std::string(name) + " is not a contiguous " + (std::is_same_v<T, double> ? "float64" : "int32") +
             " array of " + std::to_string(n_rows) + (flat ? "" : " x " + std::to_string(n_columns)) + " items");
    using Item = std::conditional_t<std::is_same_v<Array, Input>, const T, T>;
    return static_cast<Item*>(array.data());
}

inline int64_t length(const Input& array, const char* name) {
    if (array.ndim() != 1) fail(std::string(name) + " has " + std::to_string(array.ndim()) + " dimensions, expected 1");
    return static_cast<int64_t>(array.shape(0));
}

template <class Reader>
void require_columns(const Reader& reader, int64_t found) {
    if (found < reader.n_features())
        fail(std::to_string(found) + " columns, but the tree tests feature " + std::to_string(reader.n_features() - 1));
}

// The columns that the tree reads, as float64 or int32; the others are ignored. `held` keeps them alive while the
// interpreter's lock is released, because the list may change.
template <class Reader>
std::vector<ColumnSource::Column> tested_columns(const Reader& reader, const nb::sequence& values, int64_t n_rows,
                                                 std::vector<Input>& held) {
    require_columns(reader, static_cast<int64_t>(nb::len(values)));
    std::vector<ColumnSource::Column> columns(reader.n_features());
    for (const auto& [feature, nominal] : reader.used()) {
        Input column;
        if (!nb::try_cast(values[feature], column, false))
            fail("column " + std::to_string(feature) + " is not an array whose stride is a whole number of items");
        if (column.ndim() != 1 || static_cast<int64_t>(column.shape(0)) != n_rows ||
            !(nominal ? aligned<int32_t>(column.data()) : aligned<double>(column.data())) ||
            column.dtype() != (nominal ? nb::dtype<int32_t>() : nb::dtype<double>()))
            fail("column " + std::to_string(feature) + " is not an array of " + std::to_string(n_rows) +
                 (nominal ? " int32 codes" : " float64 values"));
        columns[feature] = {column.data(), column.stride(0)};
        held.push_back(std::move(column));
    }
    return columns;
}

// Calls work(source) without the interpreter's lock. The source is a matrix with contiguous rows, or columns, which can
// also be those of any other matrix.
template <class Reader, class Work>
void with_source(const Reader& reader, const nb::object& values, int64_t n_rows, const Work& work) {
    std::vector<ColumnSource::Column> columns;
    std::vector<Input> held;
    Input matrix;
    if (nb::try_cast(values, matrix, false)) {
        if (matrix.ndim() != 2 || matrix.dtype() != nb::dtype<double>() ||
            static_cast<int64_t>(matrix.shape(0)) != n_rows || !aligned<double>(matrix.data()))
            fail("X is not a float64 matrix of " + std::to_string(n_rows) + " rows");
        if (reader.nominal())
            fail("the tree reads nominal features: pass a list of columns, nominal ones as int32 codes");
        const auto* data = static_cast<const double*>(matrix.data());
        const int64_t n_columns = static_cast<int64_t>(matrix.shape(1));
        require_columns(reader, n_columns);
        if (n_columns < 2 || matrix.stride(1) == 1) {
            nb::gil_scoped_release release;
            return work(MatrixSource{data, matrix.stride(0), n_rows, n_columns});
        }
        for (int64_t f = 0; f < reader.n_features(); ++f)
            columns.push_back({data + f * matrix.stride(1), matrix.stride(0)});
    } else if (nb::sequence list; nb::try_cast(values, list)) {
        columns = tested_columns(reader, list, n_rows, held);
    } else {
        fail("X is neither a float64 matrix nor a list of columns");
    }
    nb::gil_scoped_release release;
    work(ColumnSource{columns.data()});
}

// One row. Nominal values are codes, whatever the number's type; NaN is missing.

inline int32_t category_of(double number) {
    if (std::isnan(number)) return kMissingCode;
    const bool whole = number >= -1.0 && number < 2147483648.0 && number == std::floor(number);
    return whole ? static_cast<int32_t>(number) : kUnseenCode;
}

struct ArrayRow {
    using Lane = int;
    const double* data;
    int64_t step;
    double number(Lane, int32_t feature) const { return data[feature * step]; }
    int32_t code(Lane, int32_t feature) const { return category_of(number(0, feature)); }
};

// A tuple of Python numbers, of which only those on the row's path are read. A value that is not a number reads as
// missing and leaves Python's error set, for the caller to raise.
struct TupleRow {
    using Lane = int;
    PyObject* tuple;
    double number(Lane, int32_t feature) const {
        if (PyErr_Occurred()) return std::numeric_limits<double>::quiet_NaN();
        const double value = PyFloat_AsDouble(PyTuple_GetItem(tuple, feature));
        return value == -1.0 && PyErr_Occurred() ? std::numeric_limits<double>::quiet_NaN() : value;
    }
    int32_t code(Lane, int32_t feature) const { return category_of(number(0, feature)); }
};

template <class Reader, class Work>
void with_row(const Reader& reader, const nb::object& row, const Work& work) {
    if (PyTuple_Check(row.ptr()) || PyList_Check(row.ptr())) {
        // A list may change while its items are converted to floats; a tuple cannot.
        const nb::object tuple = nb::steal(PySequence_Tuple(row.ptr()));
        if (!tuple.is_valid()) throw nb::python_error();
        require_columns(reader, PyTuple_Size(tuple.ptr()));
        work(TupleRow{tuple.ptr()});
        if (PyErr_Occurred()) throw nb::python_error();
        return;
    }
    Input array;
    if (!nb::try_cast(row, array, false) || array.ndim() != 1 || array.dtype() != nb::dtype<double>() ||
        !aligned<double>(array.data()))
        fail("the row is neither a tuple or list of numbers nor a float64 array of one dimension");
    require_columns(reader, static_cast<int64_t>(array.shape(0)));
    work(ArrayRow{static_cast<const double*>(array.data()), array.stride(0)});
}

inline nb::tuple to_tuple(const std::vector<double>& numbers) {
    const nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
    if (!tuple.is_valid()) throw nb::python_error();
    for (size_t k = 0; k < numbers.size(); ++k)
        PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(k), PyFloat_FromDouble(numbers[k]));
    return nb::cast<nb::tuple>(tuple);
}

}  // namespace hornbeam
