// Binding of the kernel that grows a boosting tree.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"
#include "bindings/nodes_to_numpy.hpp"
#include "growing/columns.hpp"
#include "growing/leafwise.hpp"
#include "growing/thread_team.hpp"

namespace hornbeam {
namespace {

constexpr int kMostThreads = 256;         // more threads would only wait for each other
constexpr int64_t kRowsPerThread = 4096;  // with fewer, waking threads costs more than they save

// The rows of all trees of a fit. Codes are checked once. One tree is grown at a time.
class BoostingRows {
  public:
    template <class Code>
    BoostingRows(const Matrix<const Code>& codes, const Columns& columns)
        : columns_(columns), features_(columns_.features()), codes_(codes), rows_(rows_of(codes, columns_, features_)) {
    }

    nb::tuple grow(const In<double>& numerator, const std::optional<In<double>>& denominator,
                   const std::optional<In<int32_t>>& times, const std::optional<InOut<int32_t>>& order, int64_t n_train,
                   const Rules& shared, double numerator_scale, double denominator_scale, int shift,
                   double least_denominator, double dispersion, int64_t max_leaves, uint64_t key, int n_threads) {
        return std::visit(
            [&](auto& rows) {
                const int64_t n_rows = rows.size(), n_all = order ? static_cast<int64_t>(order->size()) : n_rows;
                Rules rules = checked(shared);
                expect(static_cast<int64_t>(numerator.size()) == n_rows, "one numerator per row expected");
                expect(!denominator || static_cast<int64_t>(denominator->size()) == n_rows,
                       "one denominator per row expected");
                expect(!times || static_cast<int64_t>(times->size()) == n_rows, "one number of times per row expected");
                expect(0 < n_train && n_train <= n_all && n_all <= n_rows,
                       "from 1 training row to all rows of the order expected");
                expect(0 < shift && shift < 62 && 0 < n_threads, "a shift and threads expected");
                expect(numerator_scale > 0 && denominator_scale > 0 && std::isfinite(numerator_scale) &&
                           std::isfinite(denominator_scale),
                       "scales above 0 expected");
                expect(max_leaves >= 0, "a limit of leaves, or 0 for none, expected");
                expect(least_denominator >= 0 && dispersion >= 0, "numbers of 0 or more expected");
                expect(rules.missing == Missing::learned && rules.nominal == Nominal::subset,
                       "learned directions and subsets expected");
                rules.numerator_unit = 1 / numerator_scale;
                rules.unit = 1 / denominator_scale;
                rules.min_weight_leaf =
                    static_cast<int64_t>(std::max(1.0, std::ceil(std::min(least_denominator / rules.unit, 0x1p61))));
                rules.dispersion = dispersion;
                if (order) expect_within(*order, int64_t{0}, n_rows - 1, "rows of the table expected");

                std::vector<int32_t> node(n_rows, 0);
                const Gradients gradients{numerator.data(),
                                          denominator ? denominator->data() : nullptr,
                                          times ? times->data() : nullptr,
                                          numerator_scale,
                                          denominator_scale,
                                          shift};
                Nodes nodes = [&] {
                    nb::gil_scoped_release release;
                    const std::lock_guard<std::mutex> lock(mutex_);
                    ThreadTeam team(static_cast<int>(
                        std::clamp<int64_t>(n_all / kRowsPerThread, 1, std::min(n_threads, kMostThreads))));
                    rows.begin({order ? order->data() : nullptr, n_train, n_all, node.data()}, gradients, team);
                    return Leafwise(rows, features_, rules, max_leaves, shift, team).grow(key);
                }();
                return nb::make_tuple(nodes_to_numpy(std::move(nodes)), to_numpy(std::move(node)));
            },
            rows_);
    }

  private:
    template <class Code>
    static GradientRows<Code> rows_of(const Matrix<const Code>& codes, const Columns& columns,
                                      const Features& features) {
        const auto n_rows = static_cast<int64_t>(codes.shape(0));
        expect(codes.shape(1) == columns.n_codes.size() && features.count > 0, "one code per feature expected");
        expect(columns.n_classes == 1, "sums, which have one class, expected");
        nb::gil_scoped_release release;
        expect(codes_within(codes.data(), n_rows, features), "codes within their ranges expected");
        return {codes.data(), n_rows, features};
    }

    const Columns columns_;
    const Features features_;
    const std::variant<Matrix<const uint8_t>, Matrix<const uint16_t>> codes_;  // alive as long as its rows
    std::mutex mutex_;
    std::variant<GradientRows<uint8_t>, GradientRows<uint16_t>> rows_;
};

}  // namespace
}  // namespace hornbeam

void bind_leafwise(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    nb::class_<BoostingRows>(module, "BoostingRows")
        .def(nb::init<const Matrix<const uint8_t>&, const Columns&>(), nb::arg("codes"), nb::arg("columns"))
        .def(nb::init<const Matrix<const uint16_t>&, const Columns&>(), nb::arg("codes"), nb::arg("columns"))
        .def("grow", &BoostingRows::grow, nb::arg("numerator"), nb::arg("denominator").none(), nb::arg("times").none(),
             nb::arg("order").none(), nb::arg("n_train"), nb::arg("rules"), nb::arg("numerator_scale"),
             nb::arg("denominator_scale"), nb::arg("shift"), nb::arg("least_denominator"), nb::arg("dispersion"),
             nb::arg("max_leaves"), nb::arg("key"), nb::arg("n_threads"));
}
