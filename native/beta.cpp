// Bindings of the beta distribution.
#include "beta.hpp"

#include <nanobind/nanobind.h>

#include "arrays.hpp"

namespace hornbeam {
namespace {

void check_shapes(const In<double>& a, const In<double>& b) {
    expect(a.shape(0) == b.shape(0), "as many a as b expected");
    for (size_t i = 0; i < a.shape(0); ++i) {
        expect(a(i) > 0 && a(i) <= 1e300 && b(i) > 0 && b(i) <= 1e300, "a and b above 0, up to 1e300, expected");
    }
}

Out<double> beta_cdf(const In<double>& a, const In<double>& b, const In<double>& x) {
    check_shapes(a, b);
    expect(x.shape(0) == a.shape(0), "as many x as a expected");
    for (size_t i = 0; i < x.shape(0); ++i) expect(x(i) >= 0 && x(i) <= 1, "x from 0 to 1 expected");
    std::vector<double> found(a.shape(0));
    {
        nb::gil_scoped_release release;
        for (size_t i = 0; i < found.size(); ++i) found[i] = Beta(a(i), b(i)).tails({x(i), 1 - x(i)}).below;
    }
    return give(std::move(found));
}

Out<double> beta_quantile(const In<double>& a, const In<double>& b, double p) {
    check_shapes(a, b);
    expect(p > 0 && p < 1, "p between 0 and 1 expected");
    std::vector<double> found(a.shape(0));
    {
        nb::gil_scoped_release release;
        for (size_t i = 0; i < found.size(); ++i) found[i] = Beta(a(i), b(i)).quantile(p);
    }
    return give(std::move(found));
}

}  // namespace
}  // namespace hornbeam

void bind_beta(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    module.def("beta_cdf", &beta_cdf, nb::arg("a"), nb::arg("b"), nb::arg("x"));
    module.def("beta_quantile", &beta_quantile, nb::arg("a"), nb::arg("b"), nb::arg("p"));
}
