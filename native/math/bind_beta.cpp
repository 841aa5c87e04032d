// Bindings of the beta distribution.
#include "math/beta.hpp"

#include <nanobind/nanobind.h>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"

namespace hornbeam {
namespace {

constexpr double kMin = 1e-300, kMax = 1e300;

void expect_parameters(const In<double>& a, const In<double>& b) {
    expect(a.size() == b.size(), "as many a as b expected");
    for (const auto* each : {&a, &b}) expect_within(*each, kMin, kMax, "parameters from 1e-300 to 1e300 expected");
}

template <class Function>
Out<double> each(size_t n, Function function) {
    std::vector<double> result(n);
    {
        nb::gil_scoped_release release;
        for (size_t i = 0; i < n; ++i) result[i] = function(i);
    }
    return to_numpy(std::move(result));
}

Out<double> beta_cdf(const In<double>& a, const In<double>& b, const In<double>& x) {
    expect_parameters(a, b);
    expect(x.size() == a.size(), "as many x as a expected");
    expect_within(x, 0.0, 1.0, "x from 0 to 1 expected");
    return each(a.size(), [&](size_t i) { return Beta(a(i), b(i)).tails({x(i), 1 - x(i)}).below; });
}

Out<double> beta_quantile(const In<double>& a, const In<double>& b, double p) {
    expect_parameters(a, b);
    expect(p > 0 && p < 1, "p between 0 and 1 expected");
    return each(a.size(), [&](size_t i) { return Beta(a(i), b(i)).quantile(p); });
}

}  // namespace
}  // namespace hornbeam

void bind_beta(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    module.def("beta_cdf", &beta_cdf, nb::arg("a"), nb::arg("b"), nb::arg("x"));
    module.def("beta_quantile", &beta_quantile, nb::arg("a"), nb::arg("b"), nb::arg("p"));
}
