// Binding of the kernel that grows a boosting tree.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"
#include "bindings/nodes_to_numpy.hpp"
#include "growing/columns.hpp"
#include "growing/leafwise.hpp"
#include "growing/thread_team.hpp"

namespace hornbeam {
namespace {

constexpr int kMostThreads = 256;  // more threads would only wait for each other

template <class Code>
nb::tuple grow_leafwise(const Matrix<const Code>& codes, const In<double>& numerator,
                        const std::optional<In<double>>& denominator, const std::optional<In<int32_t>>& times,
                        const InOut<int32_t>& order, int64_t n_train, const Columns& columns, const Rules& unchecked,
                        double numerator_scale, double denominator_scale, int shift, int64_t max_leaves, uint64_t key,
                        int n_threads) {
    const auto n_rows = static_cast<int64_t>(codes.shape(0)), n_all = static_cast<int64_t>(order.size());
    const Features features = columns.features();
    const Rules rules = checked(unchecked);
    expect(codes.shape(1) == columns.n_codes.size() && features.count > 0, "one code per feature expected");
    expect(columns.n_classes == 1, "sums, which have one class, expected");
    expect(static_cast<int64_t>(numerator.size()) == n_rows, "one numerator per row expected");
    expect(!denominator || static_cast<int64_t>(denominator->size()) == n_rows, "one denominator per row expected");
    expect(!times || static_cast<int64_t>(times->size()) == n_rows, "one number of times per row expected");
    expect(0 < n_train && n_train <= n_all, "from 1 training row to all rows of the order expected");
    expect(0 < shift && shift < 62 && 0 < n_threads, "a shift and threads expected");
    expect(numerator_scale > 0 && denominator_scale > 0 && std::isfinite(numerator_scale) &&
               std::isfinite(denominator_scale),
           "scales above 0 expected");
    expect(max_leaves >= 0, "a limit of leaves, or 0 for none, expected");
    expect(rules.min_weight_leaf > 0 && rules.missing == Missing::learned && rules.nominal == Nominal::subset,
           "leaves with weight, learned directions and subsets expected");
    expect_within(order, int64_t{0}, n_rows - 1, "rows of the table expected");

    std::vector<int32_t> node(n_rows, 0);
    const Gradients gradients{numerator.data(),
                              denominator ? denominator->data() : nullptr,
                              times ? times->data() : nullptr,
                              numerator_scale,
                              denominator_scale,
                              shift};
    const RowList<Code> rows{codes.data(), gradients, order.data(), n_train, n_all, n_rows, node.data()};
    Nodes nodes = [&] {
        nb::gil_scoped_release release;
        expect(codes_within(codes.data(), n_rows, features), "codes within their ranges expected");
        ThreadTeam team(std::min(n_threads, kMostThreads));
        return Leafwise<Code>(rows, features, rules, max_leaves, shift, team).grow(key);
    }();
    return nb::make_tuple(nodes_to_numpy(std::move(nodes)), to_numpy(std::move(node)));
}

}  // namespace
}  // namespace hornbeam

void bind_leafwise(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    const auto bind = [&](auto grow) {
        module.def("grow_leafwise", grow, nb::arg("codes"), nb::arg("numerator"), nb::arg("denominator").none(),
                   nb::arg("times").none(), nb::arg("order"), nb::arg("n_train"), nb::arg("columns"), nb::arg("rules"),
                   nb::arg("numerator_scale"), nb::arg("denominator_scale"), nb::arg("shift"), nb::arg("max_leaves"),
                   nb::arg("key"), nb::arg("n_threads"));
    };
    bind(&grow_leafwise<uint8_t>);
    bind(&grow_leafwise<uint16_t>);
}
