// The router's checks and packing, and its face for Python.
#include "prediction/router.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include "bindings/arrays.hpp"

namespace nb = nanobind;

namespace hornbeam::routing {

[[noreturn]] static void refuse(int64_t node, const std::string& found, const std::string& expected) {
    throw std::invalid_argument("node " + std::to_string(node) + ": " + found + ", expected " + expected);
}

// Everything a step relies on: with this, no walk leaves the arrays and every walk ends.
void Router::check(const SkeletonArrays& tree, int64_t node) const {
    const auto text = [](int64_t number) { return std::to_string(number); };
    const int64_t n_children = tree.n_children[node], begin = tree.slot_start[node], end = tree.slot_start[node + 1];
    if (n_children < 0) refuse(node, text(n_children) + " children", "0 or more");
    if (begin < 0 || begin > end || end > tree.n_slots)
        refuse(node, "a run of slots " + text(begin) + " to " + text(end), "a run within " + text(tree.n_slots));
    if (n_children == 0) {
        if (begin != end) refuse(node, "a leaf with a nominal test", "an empty run of slots");
        return;
    }
    if (tree.feature[node] < 0) refuse(node, "feature " + text(tree.feature[node]), "0 or more on an inner node");
    if (tree.missing_slot[node] < every_child || tree.missing_slot[node] >= n_children)
        refuse(node, "missing_slot " + text(tree.missing_slot[node]), "-2, -1 or a slot below " + text(n_children));
    if (begin == end) {
        if (n_children < 2) refuse(node, "a numeric test with one child", "two or more");
        if (std::isnan(tree.threshold[node])) refuse(node, "a numeric test with threshold NaN", "a number");
    }
    for (int64_t i = begin; i < end; ++i)
        if (tree.slot_of[i] < -1 || tree.slot_of[i] >= n_children)
            refuse(node, "slot_of " + text(tree.slot_of[i]), "-1 or a slot below " + text(n_children));
}

void Router::note_use(int64_t node, int32_t feature, bool nominal, std::unordered_map<int32_t, bool>& kinds) {
    const auto [place, fresh] = kinds.emplace(feature, nominal);
    if (!fresh && place->second != nominal)
        refuse(node, "feature " + std::to_string(feature) + " tested both as a number and as a category", "one kind");
    if (!fresh) return;
    used_.emplace_back(feature, nominal);
    n_features_ = std::max(n_features_, int64_t{feature} + 1);
}

Router::Router(const SkeletonArrays& tree) {
    if (tree.n_nodes < 1) throw std::invalid_argument("0 nodes, expected a root at least");
    if (tree.n_nodes > std::numeric_limits<int32_t>::max())
        throw std::invalid_argument(std::to_string(tree.n_nodes) + " nodes, expected fewer than 2**31");
    std::unordered_map<int32_t, bool> kinds;
    int64_t next_child = 1;
    for (int64_t node = 0; node < tree.n_nodes; ++node) {
        check(tree, node);
        if (tree.n_children[node] == 0) continue;
        // Level order: the runs of children follow each other and lie behind their parents.
        if (tree.first_child[node] != next_child || next_child <= node)
            refuse(node, "first_child " + std::to_string(tree.first_child[node]), std::to_string(next_child));
        next_child += tree.n_children[node];
        if (next_child > tree.n_nodes) refuse(node, "children beyond the last node", "all within the arrays");
        const bool nominal = tree.slot_start[node] != tree.slot_start[node + 1];
        note_use(node, tree.feature[node], nominal, kinds);
        nominal_ |= nominal;
        fractional_ |= tree.missing_slot[node] == every_child;
    }
    if (next_child != tree.n_nodes)
        throw std::invalid_argument(std::to_string(tree.n_nodes - next_child) +
                                    " nodes are nobody's child, expected none");
    pack(tree);
}

void Router::pack(const SkeletonArrays& tree) {
    const int64_t n = tree.n_nodes;
    nodes_.resize(n);
    away_.resize(n);
    if (nominal_) {
        slot_start_.assign(tree.slot_start, tree.slot_start + n + 1);
        slot_child_.resize(tree.n_slots);
    }
    if (fractional_) {
        spread_.assign(n, 0);
        n_children_.assign(tree.n_children, tree.n_children + n);
    }
    std::vector<int32_t> level(n, 0);
    for (int64_t node = 0; node < n; ++node) {
        const uint32_t itself = static_cast<uint32_t>(node);
        away_[node] = itself;
        if (tree.n_children[node] == 0) {
            // A leaf repeats its parent's test, whose value is at hand; the answer leads to itself.
            nodes_[node].threshold = std::numeric_limits<double>::infinity();
            nodes_[node].first_child = itself;
            continue;
        }
        const uint32_t first = static_cast<uint32_t>(tree.first_child[node]);
        const int64_t begin = tree.slot_start[node], end = tree.slot_start[node + 1];
        const int32_t feature = begin == end ? tree.feature[node] : ~tree.feature[node];
        nodes_[node] = {tree.threshold[node], feature, first};
        if (tree.missing_slot[node] >= 0) away_[node] = first + static_cast<uint32_t>(tree.missing_slot[node]);
        if (tree.missing_slot[node] == every_child) spread_[node] = 1;
        for (int64_t i = begin; i < end; ++i)
            slot_child_[i] = tree.slot_of[i] < 0 ? itself : first + static_cast<uint32_t>(tree.slot_of[i]);
        for (int32_t s = 0; s < tree.n_children[node]; ++s) {
            level[first + s] = level[node] + 1;
            nodes_[first + s].feature = feature;
        }
        depth_ = std::max(depth_, level[node] + 1);
    }
}

}  // namespace hornbeam::routing

namespace {

using hornbeam::aligned;
using hornbeam::routing::Columns;
using hornbeam::routing::Router;
using hornbeam::routing::Rows;

using Input = nb::ndarray<nb::ro, nb::device::cpu>;
using Output = nb::ndarray<nb::device::cpu>;

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

// The array's data, if it is what it should be: n_rows items, or n_rows x n_columns, one behind the other.
template <class T, class Array>
auto contiguous(const Array& array, const char* name, int64_t n_rows, int64_t n_columns = 0) {
    const bool flat = n_columns == 0;
    bool fits = array.dtype() == nb::dtype<T>() && array.ndim() == (flat ? 1 : 2) &&
                n_rows == int64_t(array.shape(0)) && (flat || n_columns == int64_t(array.shape(1)));
    if (fits && n_rows > 1) fits = array.stride(0) == (flat ? 1 : n_columns);
    if (fits && n_rows > 0 && n_columns > 1) fits = array.stride(1) == 1;
    fits = fits && aligned<T>(array.data());
    if (!fits)
        refuse(std::string(name) + " is not a contiguous " + (std::is_same_v<T, double> ? "float64" : "int32") +
               " array of " + std::to_string(n_rows) + (flat ? "" : " x " + std::to_string(n_columns)) + " items");
    using Item = std::conditional_t<std::is_same_v<Array, Input>, const T, T>;
    return static_cast<Item*>(array.data());
}

int64_t length(const Input& array, const char* name) {
    if (array.ndim() != 1)
        refuse(std::string(name) + " has " + std::to_string(array.ndim()) + " dimensions, expected 1");
    return static_cast<int64_t>(array.shape(0));
}

void construct(Router* self, const Input& first_child, const Input& n_children, const Input& feature,
               const Input& threshold, const Input& slot_start, const Input& slot_of, const Input& missing_slot) {
    hornbeam::routing::SkeletonArrays tree{};
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
        refuse(std::to_string(found) + " columns, but the tree tests feature " +
               std::to_string(router.n_features() - 1));
}

// The columns the tree tests, as float64 or int32; the others are not even looked at.
// `kept` holds them while the interpreter's lock is released, when anybody may change the list.
std::vector<Columns::Column> tested_columns(const Router& router, const nb::sequence& given, int64_t n_rows,
                                            std::vector<Input>& kept) {
    require_columns(router, static_cast<int64_t>(nb::len(given)));
    std::vector<Columns::Column> columns(router.n_features());
    for (const auto& [feature, nominal] : router.used()) {
        Input column;
        if (!nb::try_cast(given[feature], column, false))
            refuse("column " + std::to_string(feature) + " is not an array whose stride is a whole number of items");
        if (column.ndim() != 1 || static_cast<int64_t>(column.shape(0)) != n_rows ||
            !(nominal ? aligned<int32_t>(column.data()) : aligned<double>(column.data())) ||
            column.dtype() != (nominal ? nb::dtype<int32_t>() : nb::dtype<double>()))
            refuse("column " + std::to_string(feature) + " is not an array of " + std::to_string(n_rows) +
                   (nominal ? " int32 codes" : " float64 values"));
        columns[feature] = {column.data(), column.stride(0)};
        kept.push_back(std::move(column));
    }
    return columns;
}

// Calls work(source) without the interpreter's lock, with the source that suits `values`: rows that lie
// together, or columns (which any other matrix is, too).
template <class Work>
void with_source(const Router& router, const nb::object& values, int64_t n_rows, const Work& work) {
    std::vector<Columns::Column> columns;
    std::vector<Input> kept;
    Input matrix;
    if (nb::try_cast(values, matrix, false)) {
        if (matrix.ndim() != 2 || matrix.dtype() != nb::dtype<double>() ||
            static_cast<int64_t>(matrix.shape(0)) != n_rows || !aligned<double>(matrix.data()))
            refuse("X is not a float64 matrix of " + std::to_string(n_rows) + " rows");
        if (router.nominal()) refuse("the tree has nominal tests: pass a list of columns, nominal ones as int32 codes");
        const auto* data = static_cast<const double*>(matrix.data());
        const int64_t n_columns = static_cast<int64_t>(matrix.shape(1));
        require_columns(router, n_columns);
        if (n_columns < 2 || matrix.stride(1) == 1) {
            nb::gil_scoped_release unlocked;
            return work(Rows{data, matrix.stride(0), n_rows, n_columns});
        }
        for (int64_t f = 0; f < router.n_features(); ++f)
            columns.push_back({data + f * matrix.stride(1), matrix.stride(0)});
    } else if (nb::sequence list; nb::try_cast(values, list)) {
        columns = tested_columns(router, list, n_rows, kept);
    } else {
        refuse("X is neither a float64 matrix nor a list of columns");
    }
    nb::gil_scoped_release unlocked;
    work(Columns{columns.data()});
}

void fill_nodes(const Router& router, const nb::object& values, const Output& out) {
    if (out.ndim() != 1) refuse("out is not an array of one dimension");
    const int64_t n = static_cast<int64_t>(out.shape(0));
    int32_t* stops = contiguous<int32_t>(out, "out", n);
    with_source(router, values, n, [&](const auto& source) { router.stops(source, 0, n, stops); });
}

// The beliefs, and the weights if the tree asks for them.
struct Beliefs {
    const double* belief;
    int64_t n_classes;
    const double* weight;

    Beliefs(const Router& router, const Input& given, const std::optional<Input>& weights) {
        if (given.ndim() != 2 || given.shape(1) == 0) refuse("belief is not a matrix of nodes by classes");
        n_classes = static_cast<int64_t>(given.shape(1));
        belief = contiguous<double>(given, "belief", router.n_nodes(), n_classes);
        if (router.fractional() && !weights) refuse("the tree sends missing values to every child: pass weight");
        weight = weights ? contiguous<double>(*weights, "weight", router.n_nodes()) : nullptr;
    }
};

void fill_answers(const Router& router, const nb::object& values, const Input& belief,
                  const std::optional<Input>& weight, const Output& out) {
    const Beliefs beliefs(router, belief, weight);
    if (out.ndim() != 2) refuse("out is not a matrix");
    const int64_t n = static_cast<int64_t>(out.shape(0));
    double* answers = contiguous<double>(out, "out", n, beliefs.n_classes);
    with_source(router, values, n, [&](const auto& source) {
        router.answers(source, 0, n, beliefs.belief, beliefs.n_classes, beliefs.weight, answers);
    });
}

// One row. Nominal values are codes, whatever the number's type; NaN is missing.

int32_t code_of(double number) {
    if (std::isnan(number)) return hornbeam::routing::missing_code;
    const bool whole = number >= -1.0 && number < 2147483648.0 && number == std::floor(number);
    return whole ? static_cast<int32_t>(number) : hornbeam::routing::unseen_code;
}

struct ArrayRow {
    using Lane = int;
    const double* data;
    int64_t step;
    double number(Lane, int32_t feature) const { return data[feature * step]; }
    int32_t code(Lane, int32_t feature) const { return code_of(number(0, feature)); }
};

// A tuple of Python numbers, of which only those on the row's path are read. A value that is no number reads
// as missing and leaves Python's error set, for the caller to raise.
struct TupleRow {
    using Lane = int;
    PyObject* tuple;
    double number(Lane, int32_t feature) const {
        if (PyErr_Occurred()) return std::numeric_limits<double>::quiet_NaN();
        const double value = PyFloat_AsDouble(PyTuple_GetItem(tuple, feature));
        return value == -1.0 && PyErr_Occurred() ? std::numeric_limits<double>::quiet_NaN() : value;
    }
    int32_t code(Lane, int32_t feature) const { return code_of(number(0, feature)); }
};

template <class Work>
void with_row(const Router& router, const nb::object& row, const Work& work) {
    if (PyTuple_Check(row.ptr()) || PyList_Check(row.ptr())) {
        // A list may change while its items turn into floats; a tuple cannot.
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
        refuse("the row is neither a tuple or list of numbers nor a float64 array of one dimension");
    require_columns(router, static_cast<int64_t>(array.shape(0)));
    work(ArrayRow{static_cast<const double*>(array.data()), array.stride(0)});
}

int32_t one(const Router& router, const nb::object& row) {
    int32_t stopped = 0;
    with_row(router, row, [&](const auto& source) { stopped = router.stop(source, 0); });
    return stopped;
}

nb::tuple one_answer(const Router& router, const nb::object& row, const Input& belief,
                     const std::optional<Input>& weight) {
    const Beliefs beliefs(router, belief, weight);
    std::vector<double> answer(beliefs.n_classes);
    with_row(router, row, [&](const auto& source) {
        router.answer(source, 0, beliefs.belief, beliefs.n_classes, beliefs.weight, answer.data());
    });
    const nb::object made = nb::steal(PyTuple_New(beliefs.n_classes));
    if (!made.is_valid()) throw nb::python_error();
    for (int64_t k = 0; k < beliefs.n_classes; ++k) PyTuple_SetItem(made.ptr(), k, PyFloat_FromDouble(answer[k]));
    return nb::cast<nb::tuple>(made);
}

}  // namespace

void bind_route(nb::module_& module) {
    nb::class_<Router>(module, "Router")
        .def("__init__", &construct, nb::arg("first_child"), nb::arg("n_children"), nb::arg("feature"),
             nb::arg("threshold"), nb::arg("slot_start"), nb::arg("slot_of"), nb::arg("missing_slot"))
        .def_prop_ro("n_nodes", &Router::n_nodes)
        .def_prop_ro("n_features", &Router::n_features)
        .def_prop_ro("depth", &Router::depth)
        .def_prop_ro("nominal", &Router::nominal)
        .def_prop_ro("fractional", &Router::fractional)
        .def("fill_nodes", &fill_nodes, nb::arg("X"), nb::arg("out").noconvert())
        .def("fill_answers", &fill_answers, nb::arg("X"), nb::arg("belief").noconvert(),
             nb::arg("weight").noconvert().none(), nb::arg("out").noconvert())
        .def("one", &one, nb::arg("row"))
        .def("one_answer", &one_answer, nb::arg("row"), nb::arg("belief").noconvert(),
             nb::arg("weight").noconvert().none());
}
