// Bindings of the level phase: descent over codes, histograms of open nodes, and splits from histograms.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"
#include "growing/code_tree.hpp"
#include "growing/columns.hpp"
#include "growing/histogram.hpp"
#include "growing/scan.hpp"
#include "growing/variance.hpp"

namespace hornbeam {
namespace {

// ---- where each row is ----------------------------------------------------------------------------------------------

// Rows are at their nodes of the tree of the first `seen` nodes; 1: all rows are at the root.
int steps_for(const CodeTree& tree, const InOut<int32_t>& node, int64_t n, int64_t seen) {
    expect(static_cast<int64_t>(node.size()) == n, "one node per row expected");
    expect(1 <= seen && seen <= tree.size(), "nodes seen before expected");
    const int32_t* at = node.data();
    const auto last = static_cast<int32_t>(seen - 1);
    bool good = true;
    for (int64_t row = 0; row < n; ++row) good &= (at[row] >= 0) & (at[row] <= last);
    expect(good, "nodes seen before expected");
    return tree.steps_from(seen);
}

template <class Code>
void descend(const Matrix<const Code>& codes, const Columns& columns, const In<int32_t>& feature,
             const In<int32_t>& first_child, const In<int32_t>& left, const In<int32_t>& missing_slot,
             const In<int64_t>& map_start, const In<int32_t>& map, const InOut<int32_t>& node, int64_t seen) {
    const Features features = columns.features();
    const auto n = static_cast<int64_t>(codes.shape(0));
    expect(static_cast<int>(codes.shape(1)) == features.count, "one code per feature expected");
    const CodeTree tree({feature, first_child, left, missing_slot, map_start, map}, features);
    const int steps = steps_for(tree, node, n, seen);
    const Rows<const Code> rows{codes.data(), nullptr, nullptr, nullptr, features.count};
    nb::gil_scoped_release release;
    tree.walk(rows, 0, n, steps, node.data());
}

// Counts each row that is in an open node into the cells of that node, and adds its square to `squares` unless that is
// null. Codes are checked a few blocks before they are used, so that they are in the cache.
template <class Entry, class Code>
void count_in_blocks(typename Entry::Cell* cells, Wide* squares, const Rows<const Code>& rows, int64_t n,
                     const CodeTree& tree, int steps, int32_t* node, const int32_t* slot_of_node,
                     const Features& features, int n_classes) {
    constexpr int64_t kBlock = 512;  // rows that descend together, so that they stay in the cache
    constexpr int64_t kChecked = 16 * kBlock;
    const int64_t block = features.cells() * n_classes;
    int64_t row_of[kBlock + 1];
    for (int64_t begin = 0; begin < n; begin += kBlock) {
        const int64_t end = std::min(begin + kBlock, n);
        if (begin % kChecked == 0) check_cells(rows, begin, std::min(begin + kChecked, n), features, n_classes);
        tree.walk(rows, begin, end, steps, node + begin);
        int64_t n_open = 0;
        for (int64_t row = begin; row < end; ++row) {  // no branch: whether a row is counted is unpredictable
            row_of[n_open] = row;
            n_open += slot_of_node[node[row]] >= 0;
        }
        for (int64_t j = 0; j < n_open; ++j) {
            const int64_t row = row_of[j], slot = slot_of_node[node[row]];
            count_rows<Entry>(cells + slot * block, rows, row, row + 1, features, n_classes);
            if constexpr (Entry::sums)
                if (squares) squares[slot] += square_of(rows.numerator[row], rows.weight, row);
        }
    }
}

template <class Code>
void count_open(const Matrix<const Code>& codes, const In<uint16_t>& label, const ConstWeights& weight,
                const ConstWeights& numerator, const Columns& columns, const In<int32_t>& feature,
                const In<int32_t>& first_child, const In<int32_t>& left, const In<int32_t>& missing_slot,
                const In<int64_t>& map_start, const In<int32_t>& map, const InOut<int32_t>& node, int64_t seen,
                const In<int32_t>& slot_of_node, const nb::object& cells,
                const std::optional<InOut<int64_t>>& squares) {
    const Rows<const Code> rows = rows_view(codes, label, weight, numerator, columns);
    const Features features = columns.features();
    const auto n = static_cast<int64_t>(codes.shape(0));
    const CodeTree tree({feature, first_child, left, missing_slot, map_start, map}, features);
    const int steps = steps_for(tree, node, n, seen);
    expect(static_cast<int64_t>(slot_of_node.size()) == tree.size(), "one slot per node expected");
    const int32_t* slots = slot_of_node.data();
    with_entry(cell_kind_of(rows), [&](auto entry_type, auto number_type) {
        using Entry = typename decltype(entry_type)::type;
        const auto array = cells_array<InOut<typename decltype(number_type)::type>>(cells);
        const Blocks<Entry> blocks(array, features, columns.n_classes);
        const int64_t n_slots = std::max<int64_t>(0, int64_t{1} + *std::max_element(slots, slots + tree.size()));
        expect(n_slots <= blocks.n, "slots within the cells expected");
        expect(!squares || (Entry::sums && static_cast<int64_t>(squares->size()) >= n_slots * kSquareParts),
               "numerators, and four parts per slot, expected for squares");
        nb::gil_scoped_release release;
        check_sums(rows, 0, n);
        std::vector<Wide> sums(squares ? n_slots : 0);
        count_in_blocks<Entry>(blocks.cells, squares ? sums.data() : nullptr, rows, n, tree, steps, node.data(), slots,
                               features, columns.n_classes);
        for (size_t slot = 0; slot < sums.size(); ++slot) add_parts(squares->data() + slot * kSquareParts, sums[slot]);
    });
}

// Adds the squares of the rows in open nodes to the parts of their slots.
void add_squares(const In<int64_t>& numerator, const ConstWeights& weight, const In<int32_t>& node,
                 const In<int32_t>& slot_of_node, const InOut<int64_t>& parts) {
    const auto n = static_cast<int64_t>(numerator.size());
    const auto n_nodes = static_cast<int32_t>(slot_of_node.size()), last = n_nodes - 1;
    const auto n_slots = static_cast<int64_t>(parts.size() / kSquareParts);
    expect(static_cast<int64_t>(node.size()) == n && (!weight || weight->size() == numerator.size()),
           "one node and weight per row expected");
    expect(static_cast<int64_t>(parts.size()) == n_slots * kSquareParts, "four parts per slot expected");
    expect_within(node, 0, last, "nodes of the tree expected");
    expect_within(slot_of_node, -1, static_cast<int32_t>(n_slots - 1), "slots within the parts expected");
    const int64_t* x = numerator.data();
    const int64_t* w = weight ? weight->data() : nullptr;
    nb::gil_scoped_release release;
    expect(sum_of_sizes(x, n, kMostSum) >= 0 && (!w || sum_of_counts(w, n, kMostWeight) >= 0),
           "numerators and weights whose sums fit 64 bits expected");
    // Rows that are not counted go to the last sum: whether a row is counted is unpredictable, and a branch is slower.
    // With weights a division is slower than a branch.
    std::vector<Wide> squares(n_slots + 1);
    std::vector<int64_t> place(slot_of_node.begin(), slot_of_node.end());
    std::replace(place.begin(), place.end(), int64_t{-1}, n_slots);
    const int32_t* at = node.data();
    for (int64_t row = 0; !w && row < n; ++row) squares[place[at[row]]] += square_of(x[row], nullptr, row);
    for (int64_t row = 0; w && row < n; ++row)
        if (const int64_t slot = place[at[row]]; slot < n_slots) squares[slot] += square_of(x[row], w, row);
    for (int64_t slot = 0; slot < n_slots; ++slot) add_parts(parts.data() + slot * kSquareParts, squares[slot]);
}

double variance_of_squares(const In<int64_t>& parts, const In<int64_t>& evidence, const Rules& unchecked) {
    const Rules rules = checked(unchecked);
    expect(parts.size() == kSquareParts && evidence.size() == 2, "four parts, and a weight and a sum, expected");
    expect(sum_of_sizes(evidence.data() + 1, 1, kMostSum) >= 0, "evidence: a sum below 2**61 expected");
    return variance_of(from_parts(parts.data()), evidence(0), evidence(1), rules);
}

// ---- splits from cells ----------------------------------------------------------------------------------------------

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

// The facts of a node, checked. Evidence: the weight of each class; or the weight and the sum of numerators.
template <class Entry>
NodeFacts node_facts(const In<int64_t>& evidence, int64_t n_rows, Bounds bounds, uint64_t key, const Columns& columns,
                     const Rules& rules, double variance, const Allowed& allowed) {
    expect(!allowed || allowed->size() == columns.n_codes.size(), "allowed: one number per feature expected");
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
            allowed ? allowed->data() : nullptr};
}

// Calls `action(scanner, node, entries)` for a node's cells.
template <class Action>
auto with_scanner(const nb::object& cells, int cell_kind, const Columns& columns, int criterion, const Rules& unchecked,
                  const In<int64_t>& evidence, int64_t n_rows, Bounds bounds, uint64_t key, double variance,
                  const Allowed& allowed, Action&& action) {
    const Features features = columns.features();
    const Rules rules = checked(unchecked);
    return with_entry(checked_kind(cell_kind, columns), [&](auto entry_type, auto number_type) {
        using Entry = typename decltype(entry_type)::type;
        const auto array = cells_array<In<typename decltype(number_type)::type>>(cells);
        const auto* counted = cells_of<Entry>(array, features, columns.n_classes);
        const NodeFacts node = node_facts<Entry>(evidence, n_rows, bounds, key, columns, rules, variance, allowed);
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
                      double variance, const Allowed& allowed) {
    return split_to_numpy(with_scanner(
        cells, cell_kind, columns, criterion, rules, evidence, n_rows, {lower, upper}, key, variance, allowed,
        [&](auto& scanner, const NodeFacts& node, auto&& entries) { return scanner.best(node, entries); }));
}

// The scores of these features (a FeatureScore each), and the splits that may win among all features.
nb::tuple best_per_feature(const nb::object& cells, int cell_kind, const Columns& columns, int criterion,
                           const Rules& rules, const In<int64_t>& evidence, int64_t n_rows, double lower, double upper,
                           double variance, const Allowed& allowed) {
    expect(rules.max_features <= 0, "max_features of 0 expected: a part of the features cannot be sampled");
    constexpr FeatureScore no_split{std::numeric_limits<double>::quiet_NaN(), 0, 0, 0};
    std::vector<FeatureScore> scores(columns.n_codes.size(), no_split);
    const std::vector<Split> splits =
        with_scanner(cells, cell_kind, columns, criterion, rules, evidence, n_rows, {lower, upper}, 0, variance,
                     allowed, [&](auto& scanner, const NodeFacts& node, auto&& entries) {
                         return scanner.best_per_feature(node, entries, scores.data());
                     });
    nb::list converted;
    for (const Split& split : splits) converted.append(split_to_numpy(split));
    std::vector<double> numbers(4 * scores.size());
    std::memcpy(numbers.data(), scores.data(), sizeof(FeatureScore) * scores.size());
    return nb::make_tuple(to_numpy(std::move(numbers)), converted);
}

// The winning feature given the scores of all; -1: none.
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
        const NodeFacts node = node_facts<Entry>(evidence, n_rows, {}, 0, columns, rules, variance, allowed);
        return with_criterion<Entry>(criterion, rules.total_weight, [&](auto criterion_type) {
            using C = typename decltype(criterion_type)::type;
            return Scanner<C, Entry>(features, rules, columns.n_classes).choose(node, scores.data());
        });
    });
}

}  // namespace
}  // namespace hornbeam

void bind_levelwise(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    const auto bind = [&](auto code_type, const auto&... tree) {
        using Code = typename decltype(code_type)::type;
        module.def("descend", &descend<Code>, nb::arg("codes"), nb::arg("columns"), tree..., nb::arg("node"),
                   nb::arg("seen"));
        module.def("count_open", &count_open<Code>, nb::arg("codes"), nb::arg("label"), nb::arg("weight").none(),
                   nb::arg("numerator").none(), nb::arg("columns"), tree..., nb::arg("node"), nb::arg("seen"),
                   nb::arg("slot_of_node"), nb::arg("cells"), nb::arg("squares") = nb::none());
    };
    const auto bind_each = [&](const auto&... tree) {
        bind(Type<uint8_t>{}, tree...);
        bind(Type<uint16_t>{}, tree...);
    };
    bind_each(nb::arg("feature"), nb::arg("first_child"), nb::arg("left"), nb::arg("missing_slot"),
              nb::arg("map_start"), nb::arg("map"));
    module.def("add_squares", &add_squares, nb::arg("numerator"), nb::arg("weight").none(), nb::arg("node"),
               nb::arg("slot_of_node"), nb::arg("parts"));
    module.def("variance_of_squares", &variance_of_squares, nb::arg("parts"), nb::arg("evidence"), nb::arg("rules"));
    module.def("best_split", &best_split, nb::arg("cells"), nb::arg("cell_kind"), nb::arg("columns"),
               nb::arg("criterion"), nb::arg("rules"), nb::arg("evidence"), nb::arg("n_rows"), nb::arg("lower"),
               nb::arg("upper"), nb::arg("key"), nb::arg("variance") = 0.0, nb::arg("allowed") = nb::none());
    module.def("best_per_feature", &best_per_feature, nb::arg("cells"), nb::arg("cell_kind"), nb::arg("columns"),
               nb::arg("criterion"), nb::arg("rules"), nb::arg("evidence"), nb::arg("n_rows"), nb::arg("lower"),
               nb::arg("upper"), nb::arg("variance") = 0.0, nb::arg("allowed") = nb::none());
    module.def("choose_split", &choose_split, nb::arg("numbers"), nb::arg("cell_kind"), nb::arg("columns"),
               nb::arg("criterion"), nb::arg("rules"), nb::arg("evidence"), nb::arg("n_rows"),
               nb::arg("variance") = 0.0, nb::arg("allowed") = nb::none());
}
