// Bindings of lambdas.
#include "lambdas.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>

#include "arrays.hpp"

namespace hornbeam {
namespace {

nb::tuple lambdas(const In<double>& score, const In<double>& gain, const In<int64_t>& rows, const In<int64_t>& starts,
                  double sigma, int64_t truncation, bool normalize) {
    const size_t n = score.shape(0);
    expect(gain.shape(0) == n && rows.shape(0) == n && starts.shape(0) >= 1, "one gain and one place a row expected");
    const auto n_rows = static_cast<int64_t>(n), n_queries = static_cast<int64_t>(starts.shape(0)) - 1;
    const int64_t *row = rows.data(), *start = starts.data();
    bool good = start[0] == 0 && start[n_queries] == n_rows;
    for (int64_t q = 0; q < n_queries; ++q) good = good && start[q] <= start[q + 1];
    for (int64_t i = 0; i < n_rows; ++i) good = good && 0 <= row[i] && row[i] < n_rows;
    expect(good, "queries that share out all rows expected");
    expect(std::all_of(gain.data(), gain.data() + n, [](double g) { return std::isfinite(g); }), "gains expected");
    std::vector<double> pull(n, 0.0), weight(n, 0.0);
    {
        nb::gil_scoped_release release;
        Lambdas worker(sigma, truncation, normalize);
        for (int64_t q = 0; q < n_queries; ++q)
            worker.query(row + start[q], start[q + 1] - start[q], score.data(), gain.data(), pull.data(), weight.data());
    }
    return nb::make_tuple(give(std::move(pull)), give(std::move(weight)));
}

}  // namespace
}  // namespace hornbeam

void bind_lambdas(nanobind::module_& module) {
    namespace nb = nanobind;
    module.def("lambdas", &hornbeam::lambdas, nb::arg("score"), nb::arg("gain"), nb::arg("rows"), nb::arg("starts"),
               nb::arg("sigma"), nb::arg("truncation"), nb::arg("normalize"));
}
