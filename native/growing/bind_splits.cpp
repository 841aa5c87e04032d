// Bindings of the search for splits, from the cells of a node.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"
#include "growing/columns.hpp"
#include "growing/scan.hpp"

namespace hornbeam {
namespace {

constexpr double kMostSearchBits = 1000;  // far more than any search costs

// The kind of the cells from its number in Python.
CellKind checked_kind(int kind, const Columns& columns) {
    expect(0 <= kind && kind <= 3, "cells of counts, weights, sums or ratios expected");
    expect(kind < 2 || columns.n_classes == 1, "one class expected where cells hold sums");
    return static_cast<CellKind>(kind);
}

nb::object split_to_numpy(const Split& split) {
    if (!split.found()) return nb::none();
    std::vector<int32_t> slot_of = split.slot_of;
    return nb::make_tuple(split.feature, split.gain, split.left, split.right, split.missing_slot, split.n_slots,
                          to_numpy(std::move(slot_of)));
}

using Allowed = std::optional<In<uint8_t>>;  // per feature: whether it may split the node; none: every feature may
using Prices = std::optional<In<double>>;    // per feature: what the path has still to pay for it; none: nothing

// The facts of a node, checked. Evidence: the weight of each class; or the weight and the sum of numerators.
template <class Entry>
NodeFacts node_facts(const In<int64_t>& evidence, int64_t n_rows, Bounds bounds, uint64_t key, const Columns& columns,
                     const Rules& rules, double variance, const Allowed& allowed, const Prices& price) {
    expect(!allowed || allowed->size() == columns.n_codes.size(), "allowed: one number per feature expected");
    expect(!price || price->size() == columns.n_codes.size(), "price: one number per feature expected");
    for (size_t f = 0; price && f < price->size(); ++f)
        expect((*price)(f) >= 0 && std::isfinite((*price)(f)), "price: finite numbers of 0 or more expected");
    expect(static_cast<int>(evidence.size()) == Entry::channels(columns.n_classes), "one sum per channel expected");
    expect(0 <= n_rows && n_rows <= kMostWeight, "a number of rows expected");
    expect_bounds(bounds);
    expect(variance >= 0, "a variance of 0 or more expected");
    const int64_t* sums = evidence.data();
    if constexpr (Entry::sums)
        expect(0 < sums[0] && sums[0] <= kMostWeight && sum_of_sizes(sums + 1, 1, kMostSum) >= 0,
               "evidence: a weight from 1 to 2**62 and a sum below 2**61 expected");
    else
        expect(sum_of_counts(sums, columns.n_classes, rules.total_weight) > 0,
               "evidence: weights of 0 or more, and a sum from 1 to the rules' total weight, expected");
    return {Entry::counts_of(sums),
            Entry::weight_of(sums, columns.n_classes),
            n_rows,
            bounds,
            key,
            variance,
            allowed ? allowed->data() : nullptr,
            price ? price->data() : nullptr};
}

// Calls `action(scanner, node, entries)` for a node's cells.
template <class Action>
auto with_scanner(const nb::object& cells, int cell_kind, const Columns& columns, int criterion, const Rules& unchecked,
                  const In<int64_t>& evidence, int64_t n_rows, Bounds bounds, uint64_t key, double variance,
                  const Allowed& allowed, const Prices& price, Action&& action) {
    const Features features = columns.features();
    const Rules rules = checked(unchecked);
    return with_entry(checked_kind(cell_kind, columns), [&](auto entry_type, auto number_type) {
        using Entry = typename decltype(entry_type)::type;
        const auto array = cells_array<In<typename decltype(number_type)::type>>(cells);
        const auto* counted = cells_of<Entry>(array, features, columns.n_classes);
        const NodeFacts node =
            node_facts<Entry>(evidence, n_rows, bounds, key, columns, rules, variance, allowed, price);
        return with_criterion<Entry>(criterion, rules.total_weight, [&](auto criterion_type) {
            using C = typename decltype(criterion_type)::type;
            nb::gil_scoped_release release;
            expect(cells_add_up<Entry>(counted, features, columns.n_classes, evidence.data(), n_rows),
                   "cells that hold the rows and the evidence of the node, once for each feature, expected");
            EntryReader<uint16_t, Entry> reader(features, columns.n_classes);
            Scanner<C, Entry> scanner(features, rules, columns.n_classes);
            return action(scanner, node, [&](int f) { return reader.from_histogram(counted, f); });
        });
    });
}

nb::object best_split(const nb::object& cells, int cell_kind, const Columns& columns, int criterion, const Rules& rules,
                      const In<int64_t>& evidence, int64_t n_rows, double lower, double upper, uint64_t key,
                      double variance, const Allowed& allowed, const Prices& price) {
    return split_to_numpy(with_scanner(
        cells, cell_kind, columns, criterion, rules, evidence, n_rows, {lower, upper}, key, variance, allowed, price,
        [&](auto& scanner, const NodeFacts& node, auto&& entries) { return scanner.best(node, entries); }));
}

// The scores of these features (a FeatureScore each), and the splits that may win among all features.
nb::tuple best_per_feature(const nb::object& cells, int cell_kind, const Columns& columns, int criterion,
                           const Rules& rules, const In<int64_t>& evidence, int64_t n_rows, double lower, double upper,
                           double variance, const Allowed& allowed, const Prices& price) {
    expect(rules.max_features <= 0, "max_features of 0 expected: a part of the features cannot be sampled");
    constexpr FeatureScore no_split{std::numeric_limits<double>::quiet_NaN(), 0, 0, 0};
    std::vector<FeatureScore> scores(columns.n_codes.size(), no_split);
    const std::vector<Split> splits =
        with_scanner(cells, cell_kind, columns, criterion, rules, evidence, n_rows, {lower, upper}, 0, variance,
                     allowed, price, [&](auto& scanner, const NodeFacts& node, auto&& entries) {
                         return scanner.best_per_feature(node, entries, scores.data());
                     });
    nb::list converted;
    for (const Split& split : splits) converted.append(split_to_numpy(split));
    std::vector<double> numbers(4 * scores.size());
    std::memcpy(numbers.data(), scores.data(), sizeof(FeatureScore) * scores.size());
    return nb::make_tuple(to_numpy(std::move(numbers)), converted);
}

// The winning feature given the scores of all, which have paid the prices; -1: none.
int choose_split(const In<double>& numbers, int cell_kind, const Columns& columns, int criterion,
                 const Rules& unchecked, const In<int64_t>& evidence, int64_t n_rows, double variance,
                 const Allowed& allowed) {
    const Features features = columns.features();
    const Rules rules = checked(unchecked);
    const auto n = static_cast<size_t>(features.count);
    expect(numbers.size() == 4 * n, "four numbers per feature expected");
    std::vector<FeatureScore> scores(n);
    std::memcpy(scores.data(), numbers.data(), sizeof(FeatureScore) * n);
    for (const FeatureScore& s : scores)
        expect(std::isnan(s.gain) || (s.gain >= 0 && s.search_bits >= -1 && s.search_bits <= kMostSearchBits),
               "numbers: a gain of 0 or more, and search bits from -1 to 1,000, expected");
    return with_entry(checked_kind(cell_kind, columns), [&](auto entry_type, auto) {
        using Entry = typename decltype(entry_type)::type;
        const NodeFacts node = node_facts<Entry>(evidence, n_rows, {}, 0, columns, rules, variance, allowed, {});
        return with_criterion<Entry>(criterion, rules.total_weight, [&](auto criterion_type) {
            using C = typename decltype(criterion_type)::type;
            return Scanner<C, Entry>(features, rules, columns.n_classes).choose(node, scores.data());
        });
    });
}

}  // namespace
}  // namespace hornbeam

void bind_splits(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    module.def("best_split", &best_split, nb::arg("cells"), nb::arg("cell_kind"), nb::arg("columns"),
               nb::arg("criterion"), nb::arg("rules"), nb::arg("evidence"), nb::arg("n_rows"), nb::arg("lower"),
               nb::arg("upper"), nb::arg("key"), nb::arg("variance") = 0.0, nb::arg("allowed") = nb::none(),
               nb::arg("price") = nb::none());
    module.def("best_per_feature", &best_per_feature, nb::arg("cells"), nb::arg("cell_kind"), nb::arg("columns"),
               nb::arg("criterion"), nb::arg("rules"), nb::arg("evidence"), nb::arg("n_rows"), nb::arg("lower"),
               nb::arg("upper"), nb::arg("variance") = 0.0, nb::arg("allowed") = nb::none(),
               nb::arg("price") = nb::none());
    module.def("choose_split", &choose_split, nb::arg("numbers"), nb::arg("cell_kind"), nb::arg("columns"),
               nb::arg("criterion"), nb::arg("rules"), nb::arg("evidence"), nb::arg("n_rows"),
               nb::arg("variance") = 0.0, nb::arg("allowed") = nb::none());
}
