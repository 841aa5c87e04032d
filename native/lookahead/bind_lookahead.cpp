// Binding of the search for a small tree, with checks of its arguments.
#include <nanobind/nanobind.h>

#include <algorithm>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"
#include "lookahead/search.hpp"

namespace hornbeam {

namespace {

using namespace lookahead;

constexpr int kMostSteps = 1 << 20;            // of the weight of a row: its products with two values fit 36 bits
constexpr size_t kMostRows = size_t{1} << 26;  // so that their sums fit 62 bits
constexpr int64_t kMostWeight = int64_t{kMostSteps} * int64_t{kMostRows};  // of all rows
constexpr int kMostLeaves = 1024, kMostThreads = 64;

// Checked arguments that both functions share.
struct Arguments {
    Matrix<const uint8_t> codes;
    In<int32_t> weight;
    In<int32_t> counted;
    Matrix<const int32_t> share;
    In<int32_t> n_codes;
    In<bool> nominal;
    In<int16_t> value;
    std::vector<int64_t> squared, start;

    SoftRows rows() const {
        return {static_cast<int>(codes.shape(1)),
                static_cast<int>(share.shape(1)),
                codes.data(),
                weight.data(),
                counted.data(),
                share.data(),
                squared.data(),
                n_codes.data(),
                nominal.data(),
                start.data(),
                value.data()};
    }
};

Arguments checked(const Matrix<const uint8_t>& codes, const In<int32_t>& weight, const In<int32_t>& counted,
                  const Matrix<const int32_t>& share, const In<int32_t>& n_codes, const In<bool>& nominal,
                  const In<int16_t>& value) {
    const size_t n = codes.shape(0), d = codes.shape(1), channels = share.shape(1);
    expect(d > 0 && d <= (1 << 20) && channels > 0 && channels <= (1 << 16), "features and channels expected");
    expect(weight.size() == n && counted.size() == n && share.shape(0) == n,
           "a weight, a counted weight and shares for each row expected");
    expect(n_codes.size() == d && nominal.size() == d, "a number of codes and a kind for each feature expected");
    expect_within(n_codes, 1, kMostCodes - 1, "from 1 to 255 codes expected");
    std::vector<int64_t> start{0};
    for (const int32_t codes_of_feature : n_codes) start.push_back(start.back() + codes_of_feature + 1);
    expect(value.size() == static_cast<size_t>(start.back()), "a value for each code of each feature expected");
    expect_within(weight, 1, kMostSteps, "weights from 1 to 2**20 steps expected");
    expect_within(share, -kMostSteps, kMostSteps, "shares of at most 2**20 steps expected");
    expect_within(value, -kUnitValue, kUnitValue, "values from -256 to 256 expected");
    Arguments arguments{codes,           weight, counted, share, n_codes, nominal, value, std::vector<int64_t>(n),
                        std::move(start)};
    bool good = true;
    for (size_t i = 0; i < n; ++i) {
        good &= 0 <= counted(i) && counted(i) <= weight(i);
        for (size_t f = 0; f < d; ++f) good &= codes(i, f) <= n_codes(f);
        int64_t squares = 0;
        for (size_t c = 0; c < channels; ++c) {
            good &= -weight(i) <= share(i, c) && share(i, c) <= weight(i);
            squares += int64_t{share(i, c)} * share(i, c);
        }
        arguments.squared[i] = squares / weight(i);
    }
    expect(good, "codes within their ranges, and counted weights and shares up to the weight, expected");
    return arguments;
}

LeafRules leaf_rules(int most_terms, double least_share, double ridge, double cut_off, int64_t min_weight,
                     int64_t min_counted) {
    expect(0 <= most_terms && most_terms <= kMostTerms, "from 0 to 3 terms expected");
    expect(least_share >= 0 && ridge > 0 && ridge <= 1 && 0 <= cut_off && cut_off < 0.5 && min_weight >= 1 &&
               min_counted >= 0,
           "shares, a ridge and weights expected");
    return {
        most_terms, least_share, ridge, cut_off, std::min(min_weight, kMostWeight), std::min(min_counted, kMostWeight)};
}

nb::tuple search_tree(const Matrix<const uint8_t>& codes, const In<int32_t>& weight, const In<int32_t>& counted,
                      const Matrix<const int32_t>& share, const In<int32_t>& n_codes, const In<bool>& nominal,
                      const In<int16_t>& value, int most_terms, double least_share, double ridge, double cut_off,
                      int64_t min_weight, int64_t min_counted, int max_leaves, int max_depth, int n_candidates,
                      int per_feature, double apart, int overgrowth, const PathRules* paths, int n_threads) {
    expect(1 <= max_leaves && max_leaves <= kMostLeaves && max_depth >= 0, "from 1 to 1024 leaves expected");
    expect(n_candidates >= 0 && per_feature >= 1 && apart >= 0 && overgrowth >= 1 && overgrowth <= 16 && n_threads >= 1,
           "numbers of candidates, an overgrowth up to 16 and threads expected");
    expect(!paths || paths->n_features() == static_cast<int>(codes.shape(1)), "path rules of these features expected");
    expect(codes.shape(0) > 0 && codes.shape(0) <= kMostRows, "from 1 to 2**26 rows expected");
    std::vector<SoftSplit> splits;
    {
        nb::gil_scoped_release release;
        const Arguments arguments = checked(codes, weight, counted, share, n_codes, nominal, value);
        const SoftRows rows = arguments.rows();
        const LeafRules leaf = leaf_rules(most_terms, least_share, ridge, cut_off, min_weight, min_counted);
        const SearchRules rules{max_depth, n_candidates, per_feature, apart, overgrowth, paths};
        std::vector<int> members(codes.shape(0));
        for (size_t i = 0; i < members.size(); ++i) members[i] = static_cast<int>(i);
        ThreadTeam team(std::min(n_threads, kMostThreads));
        splits = Search(rows, leaf, rules, team).run(std::move(members), max_leaves);
    }
    std::vector<int32_t> feature;
    std::vector<uint8_t> left;
    for (const SoftSplit& split : splits) {
        feature.push_back(split.feature);
        for (int code = 0; code < kMostCodes; ++code) left.push_back(split.left.contains(code));
    }
    const size_t n = feature.size();
    return nb::make_tuple(to_numpy(std::move(feature)), to_numpy(std::move(left), {n, size_t{kMostCodes}}));
}

}  // namespace

}  // namespace hornbeam

void bind_lookahead(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    module.def("search_tree", &search_tree, nb::arg("codes"), nb::arg("weight"), nb::arg("counted"), nb::arg("share"),
               nb::arg("n_codes"), nb::arg("nominal"), nb::arg("value"), nb::arg("most_terms"), nb::arg("least_share"),
               nb::arg("ridge"), nb::arg("cut_off"), nb::arg("min_weight"), nb::arg("min_counted"),
               nb::arg("max_leaves"), nb::arg("max_depth"), nb::arg("n_candidates"), nb::arg("per_feature"),
               nb::arg("apart"), nb::arg("overgrowth"), nb::arg("paths").none(), nb::arg("n_threads"));
}
