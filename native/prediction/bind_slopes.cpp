// Bindings of predictions with slopes.
#include "prediction/slopes.hpp"

#include <nanobind/nanobind.h>

#include <vector>

#include "prediction/python_rows.hpp"

namespace hornbeam {
namespace {

void construct(SlopedTree* self, const Router& router, const Input& parent, const Input& belief, const Input& node,
               const Input& feature, const Input& category, const Input& low, const Input& high, const Input& centre,
               const Input& slope, bool regression) {
    if (belief.ndim() != 2 || belief.shape(1) == 0) fail("belief is not a matrix of nodes by classes");
    SlopeArrays arrays{};
    const int64_t m = arrays.n_terms = length(node, "node"),
                  k = arrays.n_outputs = static_cast<int64_t>(belief.shape(1));
    arrays.parent = contiguous<int32_t>(parent, "parent", router.n_nodes());
    arrays.node = contiguous<int32_t>(node, "node", m);
    arrays.feature = contiguous<int32_t>(feature, "feature", m);
    arrays.category = contiguous<int32_t>(category, "category", m);
    arrays.low = contiguous<double>(low, "low", m);
    arrays.high = contiguous<double>(high, "high", m);
    arrays.centre = contiguous<double>(centre, "centre", m);
    arrays.slope = contiguous<double>(slope, "slope", m, k);
    arrays.belief = contiguous<double>(belief, "belief", router.n_nodes(), k);
    new (self) SlopedTree(router, arrays, regression);
}

// Calls each(source, row, node) for all rows, without the interpreter's lock.
template <class Each>
void for_rows(const SlopedTree& tree, const nb::object& values, int64_t n, const Each& each) {
    with_source(tree, values, n, [&](const auto& source) {
        constexpr int64_t kBlock = 256;
        int32_t stopped[kBlock];
        for (int64_t row = 0; row < n; row += kBlock) {
            const int64_t end = std::min(n, row + kBlock);
            tree.router().stops(source, row, end, stopped);
            for (int64_t i = row; i < end; ++i) each(source, i, stopped[i - row]);
        }
    });
}

void fill_predictions(const SlopedTree& tree, const nb::object& values, const Output& out) {
    if (out.ndim() != 2) fail("out is not a matrix");
    const int64_t n = static_cast<int64_t>(out.shape(0)), k = tree.n_outputs();
    double* predictions = contiguous<double>(out, "out", n, k);
    for_rows(tree, values, n, [&](const auto& source, int64_t row, int32_t node) {
        tree.predict(source, source.lane(row), node, predictions + row * k);
    });
}

void fill_terms(const SlopedTree& tree, const nb::object& values, const Output& out) {
    if (out.ndim() != 2) fail("out is not a matrix");
    const int64_t n = static_cast<int64_t>(out.shape(0)), k = tree.n_outputs();
    double* sums = contiguous<double>(out, "out", n, k);
    std::fill(sums, sums + n * k, 0.0);
    for_rows(tree, values, n, [&](const auto& source, int64_t row, int32_t node) {
        tree.add_terms(source, source.lane(row), node, sums + row * k);
    });
}

void fill_classes(const SlopedTree& tree, const nb::object& values, const Output& out) {
    if (out.ndim() != 1) fail("out is not an array of one dimension");
    const int64_t n = static_cast<int64_t>(out.shape(0));
    int32_t* classes = contiguous<int32_t>(out, "out", n);
    std::vector<double> scores(tree.n_outputs());
    for_rows(tree, values, n, [&](const auto& source, int64_t row, int32_t node) {
        classes[row] = tree.decide(source, source.lane(row), node, scores.data());
    });
}

nb::tuple predict_row(const SlopedTree& tree, const nb::object& row) {
    std::vector<double> prediction(tree.n_outputs());
    with_row(tree, row,
             [&](const auto& source) { tree.predict(source, 0, tree.router().stop(source, 0), prediction.data()); });
    return to_tuple(prediction);
}

}  // namespace
}  // namespace hornbeam

void bind_slopes(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    nb::class_<SlopedTree>(module, "SlopedTree")
        .def("__init__", &construct, nb::keep_alive<1, 2>(), nb::arg("router"), nb::arg("parent").noconvert(),
             nb::arg("belief").noconvert(), nb::arg("node").noconvert(), nb::arg("feature").noconvert(),
             nb::arg("category").noconvert(), nb::arg("low").noconvert(), nb::arg("high").noconvert(),
             nb::arg("centre").noconvert(), nb::arg("slope").noconvert(), nb::arg("regression"))
        .def("fill_predictions", &fill_predictions, nb::arg("X"), nb::arg("out").noconvert())
        .def("fill_terms", &fill_terms, nb::arg("X"), nb::arg("out").noconvert())
        .def("fill_classes", &fill_classes, nb::arg("X"), nb::arg("out").noconvert())
        .def("predict_row", &predict_row, nb::arg("row"));
}
