// Bindings of the gradients of losses, and of what a round adds to the scores.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"
#include "losses/log_loss.hpp"

namespace hornbeam {
namespace {

void gradients_of_log_loss(const In<double>& score, const In<int32_t>& target, const InOut<double>& gradient,
                           const InOut<double>& hessian) {
    const size_t n = score.size();
    expect(target.size() == n && gradient.size() == n && hessian.size() == n, "arrays of one length expected");
    nb::gil_scoped_release release;
    log_loss_gradients(score.data(), target.data(), n, gradient.data(), hessian.data());
}

void gradients_of_softmax(const Matrix<const double>& scores, const In<int32_t>& target, double factor,
                          const Matrix<double>& gradient, const Matrix<double>& hessian) {
    const size_t k = scores.shape(0), n = scores.shape(1);
    const auto fits = [&](const auto& matrix) { return matrix.shape(0) == k && matrix.shape(1) == n; };
    expect(k > 0 && target.size() == n && fits(gradient) && fits(hessian),
           "a score, gradient and hessian of each class and row, and a target per row expected");
    nb::gil_scoped_release release;
    softmax_gradients(scores.data(), target.data(), n, k, factor, gradient.data(), hessian.data());
}

// Adds the value of its node to the score of each row; returns the largest absolute score, NaN if any is.
double add_values(const InOut<double>& scores, const In<double>& values, const In<int32_t>& node) {
    expect(node.size() == scores.size(), "one node per row expected");
    nb::gil_scoped_release release;
    expect_within(node, 0, static_cast<int32_t>(values.size()) - 1, "nodes within the tree expected");
    uint64_t most = 0;  // bits of absolute numbers have the order of the numbers, with NaN above all
    const double* value = values.data();
    double* score = scores.data();
    for (size_t i = 0; i < node.size(); ++i) {
        score[i] += value[node.data()[i]];
        most = std::max(most, elementary::to_bits(std::abs(score[i])));
    }
    return elementary::from_bits(most);
}

}  // namespace
}  // namespace hornbeam

void bind_losses(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    module.def("gradients_of_log_loss", &gradients_of_log_loss, nb::arg("score"), nb::arg("target"),
               nb::arg("gradient"), nb::arg("hessian"));
    module.def("gradients_of_softmax", &gradients_of_softmax, nb::arg("scores"), nb::arg("target"), nb::arg("factor"),
               nb::arg("gradient"), nb::arg("hessian"));
    module.def("add_values", &add_values, nb::arg("scores"), nb::arg("values"), nb::arg("node"));
}
