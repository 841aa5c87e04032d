// Bindings of the router.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <vector>

#include "prediction/python_rows.hpp"
#include "prediction/router.hpp"

namespace hornbeam {
namespace {

void construct(Router* self, const Input& first_child, const Input& n_children, const Input& feature,
               const Input& threshold, const Input& slot_start, const Input& slot_of, const Input& missing_slot,
               int64_t n_roots) {
    SkeletonArrays tree{};
    tree.n_roots = n_roots;
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

void fill_nodes(const Router& router, const nb::object& values, const Output& out) {
    if (out.ndim() != 1) fail("out is not an array of one dimension");
    const int64_t n = static_cast<int64_t>(out.shape(0));
    int32_t* stops = contiguous<int32_t>(out, "out", n);
    with_source(router, values, n, [&](const auto& source) { router.stops(source, 0, n, stops); });
}

void fill_ends(const Router& router, const nb::object& values, int64_t n_rows, const Input& rows, const Input& start,
               const Output& out) {
    const int64_t n = length(rows, "rows");
    if (rows.dtype() != nb::dtype<int64_t>() || (n > 1 && rows.stride(0) != 1) || !aligned<int64_t>(rows.data()))
        fail("rows is not a contiguous int64 array");
    const auto* row = static_cast<const int64_t*>(rows.data());
    const int32_t* node = contiguous<int32_t>(start, "start", n);
    int32_t* stops = contiguous<int32_t>(out, "out", n);
    with_source(router, values, n_rows, [&](const auto& source) {
        // Checked here, because reading `values` may run code of the caller that changes the arrays.
        for (int64_t i = 0; i < n; ++i) {
            if (row[i] < 0 || row[i] >= n_rows) fail("rows has " + std::to_string(row[i]) + ", expected a row of X");
            if (node[i] < 0 || node[i] >= router.n_nodes())
                fail("start has " + std::to_string(node[i]) + ", expected a node of the tree");
        }
        router.ends(source, row, node, n, stops);
    });
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
    return to_tuple(prediction);
}

}  // namespace
}  // namespace hornbeam

void bind_router(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    nb::class_<Router>(module, "Router")
        .def("__init__", &construct, nb::arg("first_child"), nb::arg("n_children"), nb::arg("feature"),
             nb::arg("threshold"), nb::arg("slot_start"), nb::arg("slot_of"), nb::arg("missing_slot"),
             nb::arg("n_roots") = 1)
        .def_prop_ro("n_nodes", &Router::n_nodes)
        .def_prop_ro("n_features", &Router::n_features)
        .def_prop_ro("depth", &Router::depth)
        .def_prop_ro("nominal", &Router::nominal)
        .def_prop_ro("fractional", &Router::fractional)
        .def("fill_nodes", &fill_nodes, nb::arg("X"), nb::arg("out").noconvert())
        .def("fill_ends", &fill_ends, nb::arg("X"), nb::arg("n_rows"), nb::arg("rows"), nb::arg("start"),
             nb::arg("out").noconvert())
        .def("fill_predictions", &fill_predictions, nb::arg("X"), nb::arg("belief").noconvert(),
             nb::arg("weight").noconvert().none(), nb::arg("out").noconvert())
        .def("node_of_row", &node_of_row, nb::arg("row"))
        .def("predict_row", &predict_row, nb::arg("row"), nb::arg("belief").noconvert(),
             nb::arg("weight").noconvert().none());
}
