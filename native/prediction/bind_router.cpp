// Bindings of the router: the sources of rows in Python, checked.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "bindings/arrays.hpp"
#include "prediction/router.hpp"

namespace hornbeam {
namespace {

using Input = nb::ndarray<nb::ro, nb::device::cpu>;
using Output = nb::ndarray<nb::device::cpu>;

[[noreturn]] void fail(const std::string& message) { throw std::invalid_argument(message); }

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

int64_t length(const Input& array, const char* name) {
    if (array.ndim() != 1) fail(std::string(name) + " has " + std::to_string(array.ndim()) + " dimensions, expected 1");
    return static_cast<int64_t>(array.shape(0));
}

void construct(Router* self, const Input& first_child, const Input& n_children, const Input& feature,
               const Input& threshold, const Input& slot_start, const Input& slot_of, const Input& missing_slot) {
    SkeletonArrays tree{};
    const int64_t n = tree.n_nodes = length(first_child, "first_child");
    tree.n_slots = length(slot_of, "slot_of");
    tree.first_child = contiguous<int32_t>(first_child, "first_child", n);
    tree.n_children = contiguous<int32_t>(n_children, "n_children", n);
    tree.feature = contiguous<int32_t>(feature, "feature", n);
    tree.threshold = contiguous<double>(threshold, "threshold", n);
    tree.slot_start = contiguous<int32_t>(slot_start, "slot_start", n + 1);
    tree.slot_of = contiguous<int32_t>(slot_of, "slot_of", tree.n_slots);
    tree.missing_slot = contiguous<int32_t>(missing_slot, "missing_slot", n);
    new (self) Router(tree);
}

void require_columns(const Router& router, int64_t found) {
    if (found < router.n_features())
        fail(std::to_string(found) + " columns, but the tree tests feature " + std::to_string(router.n_features() - 1));
}

// The columns that the tree reads, as float64 or int32; the others are ignored. `held` keeps them alive while the
// interpreter's lock is released, because the list may change.
std::vector<ColumnSource::Column> tested_columns(const Router& router, const nb::sequence& values, int64_t n_rows,
                                                 std::vector<Input>& held) {
    require_columns(router, static_cast<int64_t>(nb::len(values)));
    std::vector<ColumnSource::Column> columns(router.n_features());
    for (const auto& [feature, nominal] : router.used()) {
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
template <class Work>
void with_source(const Router& router, const nb::object& values, int64_t n_rows, const Work& work) {
    std::vector<ColumnSource::Column> columns;
    std::vector<Input> held;
    Input matrix;
    if (nb::try_cast(values, matrix, false)) {
        if (matrix.ndim() != 2 || matrix.dtype() != nb::dtype<double>() ||
            static_cast<int64_t>(matrix.shape(0)) != n_rows || !aligned<double>(matrix.data()))
            fail("X is not a float64 matrix of " + std::to_string(n_rows) + " rows");
        if (router.nominal()) fail("the tree has nominal tests: pass a list of columns, nominal ones as int32 codes");
        const auto* data = static_cast<const double*>(matrix.data());
        const int64_t n_columns = static_cast<int64_t>(matrix.shape(1));
        require_columns(router, n_columns);
        if (n_columns < 2 || matrix.stride(1) == 1) {
            nb::gil_scoped_release release;
            return work(MatrixSource{data, matrix.stride(0), n_rows, n_columns});
        }
        for (int64_t f = 0; f < router.n_features(); ++f)
            columns.push_back({data + f * matrix.stride(1), matrix.stride(0)});
    } else if (nb::sequence list; nb::try_cast(values, list)) {
        columns = tested_columns(router, list, n_rows, held);
    } else {
        fail("X is neither a float64 matrix nor a list of columns");
    }
    nb::gil_scoped_release release;
    work(ColumnSource{columns.data()});
}

void fill_nodes(const Router& router, const nb::object& values, const Output& out) {
    if (out.ndim() != 1) fail("out is not an array of one dimension");
    const int64_t n = static_cast<int64_t>(out.shape(0));
    int32_t* stops = contiguous<int32_t>(out, "out", n);
    with_source(router, values, n, [&](const auto& source) { router.stops(source, 0, n, stops); });
}

// The predictions of the nodes, and their weights, which a fractional tree needs.
struct Beliefs {
    const double* belief;
    int64_t n_classes;
    const double* weight;

    Beliefs(const Router& router, const Input& matrix, const std::optional<Input>& weights) {
        if (matrix.ndim() != 2 || matrix.shape(1) == 0) fail("belief is not a matrix of nodes by classes");
        n_classes = static_cast<int64_t>(matrix.shape(1));
        belief = contiguous<double>(matrix, "belief", router.n_nodes(), n_classes);
        if (router.fractional() && !weights) fail("the tree sends missing values to every child: pass weight");
        weight = weights ? contiguous<double>(*weights, "weight", router.n_nodes()) : nullptr;
    }
};

void fill_predictions(const Router& router, const nb::object& values, const Input& belief,
                      const std::optional<Input>& weight, const Output& out) {
    const Beliefs beliefs(router, belief, weight);
    if (out.ndim() != 2) fail("out is not a matrix");
    const int64_t n = static_cast<int64_t>(out.shape(0));
    double* predictions = contiguous<double>(out, "out", n, beliefs.n_classes);
    with_source(router, values, n, [&](const auto& source) {
        router.predict(source, 0, n, beliefs.belief, beliefs.n_classes, beliefs.weight, predictions);
    });
}

// One row. Nominal values are codes, whatever the number's type; NaN is missing.

int32_t category_of(double number) {
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

template <class Work>
void with_row(const Router& router, const nb::object& row, const Work& work) {
    if (PyTuple_Check(row.ptr()) || PyList_Check(row.ptr())) {
        // A list may change while its items are converted to floats; a tuple cannot.
        const nb::object tuple = nb::steal(PySequence_Tuple(row.ptr()));
        if (!tuple.is_valid()) throw nb::python_error();
        require_columns(router, PyTuple_Size(tuple.ptr()));
        work(TupleRow{tuple.ptr()});
        if (PyErr_Occurred()) throw nb::python_error();
        return;
    }
    Input array;
    if (!nb::try_cast(row, array, false) || array.ndim() != 1 || array.dtype() != nb::dtype<double>() ||
        !aligned<double>(array.data()))
        fail("the row is neither a tuple or list of numbers nor a float64 array of one dimension");
    require_columns(router, static_cast<int64_t>(array.shape(0)));
    work(ArrayRow{static_cast<const double*>(array.data()), array.stride(0)});
}

int32_t node_of_row(const Router& router, const nb::object& row) {
    int32_t node = 0;
    with_row(router, row, [&](const auto& source) { node = router.stop(source, 0); });
    return node;
}

nb::tuple predict_row(const Router& router, const nb::object& row, const Input& belief,
                      const std::optional<Input>& weight) {
    const Beliefs beliefs(router, belief, weight);
    std::vector<double> prediction(beliefs.n_classes);
    with_row(router, row, [&](const auto& source) {
        router.predict_row(source, 0, beliefs.belief, beliefs.n_classes, beliefs.weight, prediction.data());
    });
    const nb::object tuple = nb::steal(PyTuple_New(beliefs.n_classes));
    if (!tuple.is_valid()) throw nb::python_error();
    for (int64_t k = 0; k < beliefs.n_classes; ++k) PyTuple_SetItem(tuple.ptr(), k, PyFloat_FromDouble(prediction[k]));
    return nb::cast<nb::tuple>(tuple);
}

}  // namespace
}  // namespace hornbeam

void bind_router(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    nb::class_<Router>(module, "Router")
        .def("__init__", &construct, nb::arg("first_child"), nb::arg("n_children"), nb::arg("feature"),
             nb::arg("threshold"), nb::arg("slot_start"), nb::arg("slot_of"), nb::arg("missing_slot"))
        .def_prop_ro("n_nodes", &Router::n_nodes)
        .def_prop_ro("n_features", &Router::n_features)
        .def_prop_ro("depth", &Router::depth)
        .def_prop_ro("nominal", &Router::nominal)
        .def_prop_ro("fractional", &Router::fractional)
        .def("fill_nodes", &fill_nodes, nb::arg("X"), nb::arg("out").noconvert())
        .def("fill_predictions", &fill_predictions, nb::arg("X"), nb::arg("belief").noconvert(),
             nb::arg("weight").noconvert().none(), nb::arg("out").noconvert())
        .def("node_of_row", &node_of_row, nb::arg("row"))
        .def("predict_row", &predict_row, nb::arg("row"), nb::arg("belief").noconvert(),
             nb::arg("weight").noconvert().none());
}
