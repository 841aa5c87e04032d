// Binding of the LambdaMART kernel.
#include "ranking/lambdas.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"

namespace hornbeam {
namespace {

nb::tuple lambdas(const In<double>& score, const In<double>& gain, const In<int64_t>& rows, const In<int64_t>& starts,
                  double sigma, int64_t truncation, bool normalize) {
    const size_t n = score.size();
    expect(gain.size() == n && rows.size() == n && starts.size() >= 1, "one gain and one position per row expected");
    const auto n_rows = static_cast<int64_t>(n), n_queries = static_cast<int64_t>(starts.size()) - 1;
    const int64_t *row = rows.data(), *start = starts.data();
    constexpr const char* message = "queries that contain every row once expected";
    expect_runs(starts, static_cast<size_t>(n_queries), n, message);
    expect_within(rows, int64_t{0}, n_rows - 1, message);
    expect_finite(gain, "gains expected");
    expect(std::none_of(score.begin(), score.end(), [](double s) { return std::isnan(s); }),
           "scores expected, found NaN");
    expect(sigma > 0 && std::isfinite(sigma) && truncation >= 0,
           "a sigma above 0 and a truncation of 0 or more expected");
    std::vector<double> gradient(n, 0.0), weight(n, 0.0);
    {
        nb::gil_scoped_release release;
        Lambdas worker(sigma, truncation, normalize);
        for (int64_t q = 0; q < n_queries; ++q)
            worker.query(row + start[q], start[q + 1] - start[q], score.data(), gain.data(), gradient.data(),
                         weight.data());
    }
    return nb::make_tuple(to_numpy(std::move(gradient)), to_numpy(std::move(weight)));
}

}  // namespace
}  // namespace hornbeam

void bind_lambdas(nanobind::module_& module) {
    namespace nb = nanobind;
    module.def("lambdas", &hornbeam::lambdas, nb::arg("score"), nb::arg("gain"), nb::arg("rows"), nb::arg("starts"),
               nb::arg("sigma"), nb::arg("truncation"), nb::arg("normalize"));
}
