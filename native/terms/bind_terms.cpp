// Bindings of the selection of terms at any node and of the regression of soft labels on them, with checks.
#include <nanobind/nanobind.h>

#include <algorithm>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"
#include "terms/selection.hpp"

namespace hornbeam {

namespace {

using namespace terms;

constexpr size_t kMostRows = size_t{1} << 26, kMostNodes = size_t{1} << 16;
constexpr int kMostTerms = 1024;
constexpr double kMostValue = 1e100;

Rows checked(const Matrix<const double>& label, const In<double>& weight, const In<int32_t>& parent,
             const In<int32_t>& node_of_end, const In<int64_t>& start) {
    const size_t n = label.shape(0), k = label.shape(1), nodes = parent.size();
    expect(0 < n && n <= kMostRows && 0 < k && k <= (1 << 16), "from 1 to 2**26 rows and outputs expected");
    expect(weight.size() == n, "a weight for each row expected");
    expect_within(weight, 0.0, 1.0, "weights from 0 to 1 expected");
    if (k == 1) expect_within(label, -1e6, 1e6, "standardised means expected");
    else expect_within(label, 0.0, 1.0, "probabilities expected");
    expect(0 < nodes && nodes <= kMostNodes, "from 1 to 2**16 nodes expected");
    expect(0 < node_of_end.size() && node_of_end.size() <= nodes, "from 1 to as many ends as nodes expected");
    bool good = parent(0) == -1;
    for (size_t node = 1; node < nodes; ++node) good &= 0 <= parent(node) && parent(node) < static_cast<int32_t>(node);
    expect(good, "parents before their children expected");
    expect_within(node_of_end, 0, static_cast<int32_t>(nodes) - 1, "ends that are nodes expected");
    expect_runs(start, node_of_end.size(), n, "the first row of each end expected");
    return {static_cast<int>(k),
            label.data(),
            weight.data(),
            nullptr,
            static_cast<int>(nodes),
            parent.data(),
            static_cast<int>(node_of_end.size()),
            node_of_end.data(),
            start.data()};
}

void expect_fit(double ridge, int64_t steps, double tolerance = 0) {
    expect(ridge > 0 && ridge <= 1 && 0 <= steps && steps <= 100'000, "a ridge from 0 to 1 and steps expected");
    expect(0 <= tolerance && tolerance <= 1, "a tolerance from 0 to 1 expected");
}

void expect_signs(const In<int8_t>& sign, const Rows& rows) {
    expect_within(sign, int8_t{-1}, int8_t{1}, "signs from -1 to 1 expected");
    const bool free = std::all_of(sign.data(), sign.data() + sign.size(), [](int8_t one) { return one == 0; });
    expect(free || rows.n_outputs <= 2, "signs of two classes, or of a mean, expected");
}

Codes checked_codes(const Matrix<const uint8_t>& codes, const In<int32_t>& n_codes, const In<bool>& nominal,
                    const In<double>& value, const In<int8_t>& sign, const Matrix<const uint8_t>& allowed,
                    const Rows& rows) {
    const size_t n_rows = rows.n_rows(), d = codes.shape(1);
    expect(codes.shape(0) == n_rows && d > 0 && d <= (1 << 20), "codes of each row expected");
    expect(n_codes.size() == d && nominal.size() == d, "a number of codes and a kind for each feature expected");
    expect_within(n_codes, 1, 255, "from 1 to 255 codes expected");
    std::vector<int64_t> cell{0};
    for (const int32_t codes_of_feature : n_codes) cell.push_back(cell.back() + codes_of_feature);
    expect(value.size() == static_cast<size_t>(cell.back()), "a value for each code of each feature expected");
    expect_within(value, -kMostValue, kMostValue, "values up to 1e100 expected");
    expect(sign.size() == d && allowed.shape(0) == static_cast<size_t>(rows.n_nodes) && allowed.shape(1) == d,
           "a sign of each feature, and the features allowed at each node, expected");
    expect_signs(sign, rows);
    bool good = true;
    for (size_t i = 0; i < n_rows; ++i)
        for (size_t f = 0; f < d; ++f) good &= codes(i, f) <= n_codes(f);
    expect(good, "codes within their ranges expected");
    return {static_cast<int>(d), codes.data(), n_codes.data(), nominal.data(),
            value.data(),        sign.data(),  allowed.data(), std::move(cell)};
}

nb::tuple select_node_terms(const Matrix<const uint8_t>& codes, const In<int32_t>& n_codes, const In<bool>& nominal,
                            const In<double>& value, const In<int8_t>& sign, const Matrix<const uint8_t>& allowed,
                            const Matrix<const double>& label, const In<double>& weight, const In<int32_t>& parent,
                            const In<int32_t>& node_of_end, const In<int64_t>& start, int most_terms, int rounds,
                            double least_share, double least_gain, double ridge, int64_t steps) {
    expect(0 <= most_terms && most_terms <= kMostTerms && 1 <= rounds && rounds <= kMostTerms,
           "at most 1,024 terms and rounds expected");
    expect(0 <= least_share && least_share <= 1 && least_gain >= 0, "a share and a gain expected");
    expect_fit(ridge, steps);
    std::vector<int32_t> node, feature, category;
    std::vector<double> low, high;
    {
        nb::gil_scoped_release release;
        const Rows rows = checked(label, weight, parent, node_of_end, start);
        const Codes table = checked_codes(codes, n_codes, nominal, value, sign, allowed, rows);
        for (const Term& term :
             Selection(rows, table, {most_terms, rounds, least_share, least_gain, ridge, steps}).run()) {
            node.push_back(term.node);
            feature.push_back(term.feature);
            category.push_back(term.category);
            low.push_back(term.low);
            high.push_back(term.high);
        }
    }
    return nb::make_tuple(to_numpy(std::move(node)), to_numpy(std::move(feature)), to_numpy(std::move(category)),
                          to_numpy(std::move(low)), to_numpy(std::move(high)));
}

Out<double> fit_node_terms(const Matrix<const double>& values, const In<int32_t>& node_of_term, const In<int8_t>& sign,
                           const Matrix<const double>& offset, bool fixed_bases, const Matrix<const double>& label,
                           const In<double>& weight, const In<int32_t>& parent, const In<int32_t>& node_of_end,
                           const In<int64_t>& start, double ridge, int64_t steps, double tolerance) {
    const size_t m = values.shape(1), k = label.shape(1);
    expect(values.shape(0) == label.shape(0) && m == node_of_term.size() && m == sign.size() && m <= kMostTerms,
           "values of at most 1,024 terms for each row expected");
    expect_within(values, -1e6, 1e6, "values up to 1e6 expected");
    expect(offset.shape(0) == label.shape(0) && offset.shape(1) == k, "a known score of each label expected");
    expect_within(offset, -1e6, 1e6, "scores up to 1e6 expected");
    expect_within(node_of_term, 0, static_cast<int32_t>(parent.size()) - 1, "nodes of terms expected");
    expect_fit(ridge, steps, tolerance);
    std::vector<double> slopes;
    {
        nb::gil_scoped_release release;
        Rows rows = checked(label, weight, parent, node_of_end, start);
        rows.offset = offset.data();
        expect_signs(sign, rows);
        Regression model(rows, ridge);
        for (size_t t = 0; t < m; ++t) model.add(node_of_term(t), sign(t), [&](int64_t i) { return values(i, t); });
        model.fit(steps, tolerance, fixed_bases);
        slopes = model.slopes();
    }
    return to_numpy(std::move(slopes), {m, k});
}

// The base of one node: with it and the scores of its rows, the mean prediction is the mean label.
Out<double> fit_base(const Matrix<const double>& score, const Matrix<const double>& label, const In<double>& weight,
                     int64_t steps, double tolerance) {
    constexpr double kRidge = 1e-6;
    constexpr int32_t kRoot = -1, kNode = 0;
    const size_t n = score.shape(0), k = score.shape(1);
    expect(n == label.shape(0) && k == label.shape(1) && n == weight.size() && 0 < n && 0 < k,
           "a score and a weight of each label expected");
    expect(n <= kMostRows && k <= (1 << 16), "at most 2**26 rows and 2**16 outputs expected");
    expect_within(score, -1e6, 1e6, "scores up to 1e6 expected");
    expect_within(label, k == 1 ? -1e6 : 0.0, k == 1 ? 1e6 : 1.0, "probabilities or standardised means expected");
    expect_within(weight, 0.0, 1.0, "weights from 0 to 1 expected");
    expect_fit(kRidge, steps, tolerance);
    std::vector<double> base;
    {
        nb::gil_scoped_release release;
        const int64_t start[] = {0, static_cast<int64_t>(n)};
        const Rows rows{static_cast<int>(k), label.data(), weight.data(), score.data(), 1, &kRoot, 1, &kNode, start};
        Regression model(rows, kRidge);
        model.fit(steps, tolerance);
        base = model.bases();
    }
    return to_numpy(std::move(base));
}

}  // namespace

}  // namespace hornbeam

void bind_terms(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    module.def("select_node_terms", &select_node_terms, nb::arg("codes"), nb::arg("n_codes"), nb::arg("nominal"),
               nb::arg("value"), nb::arg("sign"), nb::arg("allowed"), nb::arg("label"), nb::arg("weight"),
               nb::arg("parent"), nb::arg("node_of_end"), nb::arg("start"), nb::arg("most_terms"), nb::arg("rounds"),
               nb::arg("least_share"), nb::arg("least_gain"), nb::arg("ridge"), nb::arg("steps"));
    module.def("fit_node_terms", &fit_node_terms, nb::arg("values"), nb::arg("node_of_term"), nb::arg("sign"),
               nb::arg("offset"), nb::arg("fixed_bases"), nb::arg("label"), nb::arg("weight"), nb::arg("parent"),
               nb::arg("node_of_end"), nb::arg("start"), nb::arg("ridge"), nb::arg("steps"), nb::arg("tolerance"));
    module.def("fit_base", &fit_base, nb::arg("score"), nb::arg("label"), nb::arg("weight"), nb::arg("steps"),
               nb::arg("tolerance"));
}
