// The level phase: bindings of descent over codes, counting of open nodes, and splits chosen from cells.
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

namespace hornbeam {
namespace {

// ---- where each row is ----------------------------------------------------------------------------------------------

// Rows stand where they were when the tree had `seen` nodes; 1: all at the root.
int steps_for(const CodeTree& tree, const InOut<int32_t>& node, int64_t n, int64_t seen) {
    expect(static_cast<int64_t>(node.size()) == n, "one node a row expected");
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
    expect(static_cast<int>(codes.shape(1)) == features.count, "one code a feature expected");
    const CodeTree tree({feature, first_child, left, missing_slot, map_start, map}, features);
    const int steps = steps_for(tree, node, n, seen);
    const Rows<const Code> rows{codes.data(), nullptr, nullptr, nullptr, features.count};
    nb::gil_scoped_release release;
    tree.walk(rows, 0, n, steps, node.data());
}

// Rows of a stretch that are in an open node, each counted into that node's cells.
template <class Entry, class Code>
void count_stretches(typename Entry::Cell* cells, const Rows<const Code>& rows, int64_t n, const CodeTree& tree,
                     int steps, int32_t* node, const int32_t* slot_of_node, const Features& features, int n_classes) {
    constexpr int64_t kStretch = 512;  // rows that go down the tree together: they and their nodes stay close
    const int64_t block = features.cells() * n_classes;
    int64_t row_of[kStretch + 1];
    for (int64_t begin = 0; begin < n; begin += kStretch) {
        const int64_t end = std::min(begin + kStretch, n);
        tree.walk(rows, begin, end, steps, node + begin);
        int64_t n_open = 0;
        for (int64_t row = begin; row < end; ++row) {  // no branch: whether a row is counted is a coin toss
            row_of[n_open] = row;
            n_open += slot_of_node[node[row]] >= 0;
        }
        for (int64_t j = 0; j < n_open; ++j) {
            const int64_t row = row_of[j];
            fill<Entry>(cells + slot_of_node[node[row]] * block, rows, row, row + 1, features, n_classes);
        }
    }
}

template <class Code>
void count_open(const Matrix<const Code>& codes, const In<uint16_t>& label, const ConstWeights& weight,
                const ConstWeights& numerator, const Columns& columns, const In<int32_t>& feature,
                const In<int32_t>& first_child, const In<int32_t>& left, const In<int32_t>& missing_slot,
                const In<int64_t>& map_start, const In<int32_t>& map, const InOut<int32_t>& node, int64_t seen,
                const In<int32_t>& slot_of_node, nb::object cells) {
    const Rows<const Code> rows = view(codes, label, weight, numerator, columns);
    const Features features = columns.features();
    const auto n = static_cast<int64_t>(codes.shape(0));
    const CodeTree tree({feature, first_child, left, missing_slot, map_start, map}, features);
    const int steps = steps_for(tree, node, n, seen);
    expect(static_cast<int64_t>(slot_of_node.size()) == tree.size(), "one slot a node expected");
    const int32_t* slots = slot_of_node.data();
    with_entry(holding_of(rows), [&](auto* tag, auto* scalar_tag) {
        using Entry = std::remove_pointer_t<decltype(tag)>;
        const auto array = cells_array<InOut<std::remove_pointer_t<decltype(scalar_tag)>>>(cells);
        const Blocks<Entry> blocks(array, features, columns.n_classes);
        expect(*std::max_element(slots, slots + tree.size()) < blocks.n, "slots within the cells expected");
        nb::gil_scoped_release release;
        check_rows(rows, 0, n, features, columns.n_classes);
        count_stretches<Entry>(blocks.cells, rows, n, tree, steps, node.data(), slots, features, columns.n_classes);
    });
}

// ---- splits from cells ----------------------------------------------------------------------------------------------

constexpr double kMostSearched = 1000;  // bits: far more than any search costs

// What cells hold by its number; numerators have one "class".
Holding holding_named(int holding, const Columns& columns) {
    expect(0 <= holding && holding <= 3, "cells of counts, weights, sums or ratios expected");
    expect(holding < 2 || columns.n_classes == 1, "one class expected where cells hold sums");
    return static_cast<Holding>(holding);
}

nb::object describe(const Split& split) {
    if (!split.found()) return nb::none();
    std::vector<int32_t> slot_of = split.slot_of;
    return nb::make_tuple(split.feature, split.gain, split.left, split.right, split.missing_slot, split.n_slots,
                          give(std::move(slot_of)));
}

// A node's evidence: the weight of each class; or the weight, and the sum of numerators.
template <class Entry>
Node node_of(const In<int64_t>& evidence, int64_t n_rows, Bounds bounds, uint64_t key, const Columns& columns,
             const Rules& rules, double spread) {
    expect(static_cast<int>(evidence.size()) == Entry::channels(columns.n_classes), "one sum a channel expected");
    expect(0 <= n_rows && n_rows <= kMostWeight, "a number of rows expected");
    expect_bounds(bounds);
    expect(spread >= 0, "a spread of 0 or more expected");
    const int64_t* sums = evidence.data();
    if constexpr (Entry::sums)
        expect(0 < sums[0] && sums[0] <= kMostWeight && sum_of_sizes(sums + 1, 1, kMostSum) >= 0,
               "evidence: a weight from 1 to 2**62 and a sum below 2**61 expected");
    else
        expect(sum_of_counts(sums, columns.n_classes, rules.total_weight) > 0,
               "evidence: weights of 0 or more, and a sum from 1 to the rules' total weight, expected");
    return {Entry::counts_of(sums), Entry::weight_of(sums, columns.n_classes), n_rows, bounds, key, spread};
}

// Calls `action(scanner, node, entries)` for a node's cells.
template <class Action>
auto with_scanner(nb::object cells, int holding, const Columns& columns, int criterion, const Rules& given,
                  const In<int64_t>& evidence, int64_t n_rows, Bounds bounds, uint64_t key, double spread,
                  Action&& action) {
    const Features features = columns.features();
    const Rules rules = checked(given);
    return with_entry(holding_named(holding, columns), [&](auto* entry_tag, auto* scalar_tag) {
        using Entry = std::remove_pointer_t<decltype(entry_tag)>;
        const auto array = cells_array<In<std::remove_pointer_t<decltype(scalar_tag)>>>(cells);
        const auto* counted = cells_of<Entry>(array, features, columns.n_classes);
        const Node node = node_of<Entry>(evidence, n_rows, bounds, key, columns, rules, spread);
        return with_criterion<Entry>(criterion, rules.total_weight, [&](auto* tag) {
            using C = std::remove_pointer_t<decltype(tag)>;
            nb::gil_scoped_release release;
            expect(cells_add_up<Entry>(counted, features, columns.n_classes, evidence.data(), n_rows),
                   "cells that hold the rows and the evidence of the node, once for each feature, expected");
            EntryReader<uint16_t, Entry> reader(features, columns.n_classes);
            Scanner<C, Entry> scanner(features, rules, columns.n_classes);
            return action(scanner, node, [&](int f) { return reader.from_histogram(counted, f); });
        });
    });
}

nb::object best_split(nb::object cells, int holding, const Columns& columns, int criterion, const Rules& rules,
                      const In<int64_t>& evidence, int64_t n_rows, double lower, double upper, uint64_t key,
                      double spread) {
    return describe(
        with_scanner(cells, holding, columns, criterion, rules, evidence, n_rows, {lower, upper}, key, spread,
                     [&](auto& scanner, const Node& node, auto&& entries) { return scanner.best(node, entries); }));
}

// What each of these features offers (the numbers of an Offer), and the splits that may win among all.
nb::tuple offers(nb::object cells, int holding, const Columns& columns, int criterion, const Rules& rules,
                 const In<int64_t>& evidence, int64_t n_rows, double lower, double upper, double spread) {
    expect(rules.max_features <= 0, "all features expected: which of them are drawn is not known to a part of them");
    std::vector<Offer> offer(columns.n_codes.size());
    const std::vector<Split> splits = with_scanner(
        cells, holding, columns, criterion, rules, evidence, n_rows, {lower, upper}, 0, spread,
        [&](auto& scanner, const Node& node, auto&& entries) { return scanner.offers(node, entries, offer.data()); });
    nb::list described;
    for (const Split& split : splits) described.append(describe(split));
    std::vector<double> numbers(4 * offer.size());
    std::memcpy(numbers.data(), offer.data(), sizeof(Offer) * offer.size());
    return nb::make_tuple(give(std::move(numbers)), described);
}

// The feature that wins given what all offer; -1: none does.
int choose(const In<double>& offers, int holding, const Columns& columns, int criterion, const Rules& given,
           const In<int64_t>& evidence, int64_t n_rows, double spread) {
    const Features features = columns.features();
    const Rules rules = checked(given);
    const auto n = static_cast<size_t>(features.count);
    expect(offers.size() == 4 * n, "four numbers a feature expected");
    std::vector<Offer> offer(n);
    std::memcpy(offer.data(), offers.data(), sizeof(Offer) * n);
    for (const Offer& o : offer)
        expect(std::isnan(o.gain) || (o.gain >= 0 && o.searched >= -1 && o.searched <= kMostSearched),
               "offers: a gain of 0 or more, and bits of search from -1 to 1,000, expected");
    return with_entry(holding_named(holding, columns), [&](auto* entry_tag, auto*) {
        using Entry = std::remove_pointer_t<decltype(entry_tag)>;
        const Node node = node_of<Entry>(evidence, n_rows, {}, 0, columns, rules, spread);
        return with_criterion<Entry>(criterion, rules.total_weight, [&](auto* tag) {
            using C = std::remove_pointer_t<decltype(tag)>;
            return Scanner<C, Entry>(features, rules, columns.n_classes).choose(node, offer.data());
        });
    });
}

}  // namespace
}  // namespace hornbeam

void bind_level(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    const auto bind = [&](auto* tag, const auto&... test) {  // the arrays of a tree over codes
        using Code = std::remove_pointer_t<decltype(tag)>;
        module.def("descend", &descend<Code>, nb::arg("codes"), nb::arg("columns"), test..., nb::arg("node"),
                   nb::arg("seen"));
        module.def("count_open", &count_open<Code>, nb::arg("codes"), nb::arg("label"), nb::arg("weight").none(),
                   nb::arg("numerator").none(), nb::arg("columns"), test..., nb::arg("node"), nb::arg("seen"),
                   nb::arg("slot_of_node"), nb::arg("cells"));
    };
    const auto bind_each = [&](const auto&... test) {
        bind(static_cast<uint8_t*>(nullptr), test...);
        bind(static_cast<uint16_t*>(nullptr), test...);
    };
    bind_each(nb::arg("feature"), nb::arg("first_child"), nb::arg("left"), nb::arg("missing_slot"),
              nb::arg("map_start"), nb::arg("map"));
    module.def("best_split", &best_split, nb::arg("cells"), nb::arg("holding"), nb::arg("columns"),
               nb::arg("criterion"), nb::arg("rules"), nb::arg("evidence"), nb::arg("n_rows"), nb::arg("lower"),
               nb::arg("upper"), nb::arg("key"), nb::arg("spread") = 0.0);
    module.def("offers", &offers, nb::arg("cells"), nb::arg("holding"), nb::arg("columns"), nb::arg("criterion"),
               nb::arg("rules"), nb::arg("evidence"), nb::arg("n_rows"), nb::arg("lower"), nb::arg("upper"),
               nb::arg("spread") = 0.0);
    module.def("choose", &choose, nb::arg("offers"), nb::arg("holding"), nb::arg("columns"), nb::arg("criterion"),
               nb::arg("rules"), nb::arg("evidence"), nb::arg("n_rows"), nb::arg("spread") = 0.0);
}
