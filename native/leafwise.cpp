// Growing best first from rows that stay: bindings of leafwise.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "arrays.hpp"
#include "columns.hpp"
#include "hand_over.hpp"
#include "leafwise.hpp"
#include "team.hpp"

namespace hornbeam {
namespace {

constexpr int kMostThreads = 256;  // more would only wait for each other

template <class Code>
nb::tuple grow_leafwise(const ConstMatrix<Code>& codes, const In<double>& numerator,
                        const std::optional<In<double>>& denominator, const std::optional<In<int32_t>>& times,
                        const InOut<int32_t>& order, int64_t n_added, const Columns& columns, const Rules& rules,
                        double numerator_scale, double denominator_scale, int shift, int64_t max_leaves, uint64_t key,
                        int n_threads) {
    const auto n_rows = static_cast<int64_t>(codes.shape(0)), n_all = static_cast<int64_t>(order.shape(0));
    const Features features = columns.features();
    expect(codes.shape(1) == columns.n_codes.shape(0) && features.count > 0, "one code a feature expected");
    expect(static_cast<int64_t>(numerator.shape(0)) == n_rows, "one numerator a row expected");
    expect(!denominator || static_cast<int64_t>(denominator->shape(0)) == n_rows, "one denominator a row expected");
    expect(!times || static_cast<int64_t>(times->shape(0)) == n_rows, "one number of times a row expected");
    expect(0 < n_added && n_added <= n_all, "rows to add up, and perhaps others that look on, expected");
    expect(0 < shift && shift < 62 && 0 < n_threads, "a shift and threads expected");
    expect(rules.min_weight_leaf > 0 && rules.missing == Missing::learned && rules.nominal == Nominal::subset,
           "leaves with weight, learned directions and subsets expected");
    bool good = true;
    for (int64_t i = 0; i < n_all; ++i) good = good & (0 <= order.data()[i]) & (order.data()[i] < n_rows);
    expect(good, "rows of the table expected");

    std::vector<int32_t> node(n_rows, 0);
    const Pulls pulls{numerator.data(), denominator ? denominator->data() : nullptr, times ? times->data() : nullptr,
                      numerator_scale, denominator_scale, shift};
    const RowList<Code> rows{codes.data(), pulls, order.data(), n_added, n_all, n_rows, node.data()};
    Nodes nodes = [&] {
        nb::gil_scoped_release release;
        Team team(std::min(n_threads, kMostThreads));
        return Leafwise<Code>(rows, features, rules, {max_leaves, shift}, team).grow(key);
    }();
    return nb::make_tuple(hand_over(std::move(nodes)), give(std::move(node)));
}

}  // namespace
}  // namespace hornbeam

void bind_leafwise(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    const auto bind = [&](auto grow) {
        module.def("grow_leafwise", grow, nb::arg("codes"), nb::arg("numerator"), nb::arg("denominator").none(),
                   nb::arg("times").none(), nb::arg("order"), nb::arg("n_added"), nb::arg("columns"), nb::arg("rules"),
                   nb::arg("numerator_scale"), nb::arg("denominator_scale"), nb::arg("shift"), nb::arg("max_leaves"),
                   nb::arg("key"), nb::arg("n_threads"));
    };
    bind(&grow_leafwise<uint8_t>);
    bind(&grow_leafwise<uint16_t>);
}
