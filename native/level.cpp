// The level phase: bindings of descent over codes, counting of open nodes, and splits chosen from cells.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "arrays.hpp"
#include "columns.hpp"
#include "descent.hpp"
#include "histogram.hpp"
#include "scan.hpp"

namespace hornbeam {
namespace {

// ---- where each row is ----------------------------------------------------------------------------------------------

// Rows stand where they were when the tree had `seen` nodes; 1: all at the root.
int steps_for(const CodeTree& tree, const InOut<int32_t>& node, int64_t n, int64_t seen) {
    expect(static_cast<int64_t>(node.shape(0)) == n, "one node a row expected");
    expect(1 <= seen && seen <= tree.size(), "nodes seen before expected");
    const int32_t* at = node.data();
    const auto last = static_cast<int32_t>(seen - 1);
    bool good = true;
    for (int64_t row = 0; row < n; ++row) good &= (at[row] >= 0) & (at[row] <= last);
    expect(good, "nodes seen before expected");
    return tree.steps_from(seen);
}

template <class Code>
void descend(const ConstMatrix<Code>& codes, const Columns& columns, const In<int32_t>& feature,
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
void count_open(const ConstMatrix<Code>& codes, const In<uint16_t>& label, const ConstWeights& weight,
                const ConstWeights& numerator, const Columns& columns, const In<int32_t>& feature,
                const In<int32_t>& first_child, const In<int32_t>& left, const In<int32_t>& missing_slot,
                const In<int64_t>& map_start, const In<int32_t>& map, const InOut<int32_t>& node, int64_t seen,
                const In<int32_t>& slot_of_node, nb::object cells) {
    const Rows<const Code> rows = look(codes, label, weight, numerator, columns);
    const Features features = columns.features();
    const auto n = static_cast<int64_t>(codes.shape(0));
    const CodeTree tree({feature, first_child, left, missing_slot, map_start, map}, features);
    const int steps = steps_for(tree, node, n, seen);
    expect(static_cast<int64_t>(slot_of_node.shape(0)) == tree.size(), "one slot a node expected");
    const int32_t* slots = slot_of_node.data();
    with_entry(holding_of(rows), [&](auto* tag, auto* scalar_tag) {
        using Entry = std::remove_pointer_t<decltype(tag)>;
        const auto array = nb::cast<InOut<std::remove_pointer_t<decltype(scalar_tag)>>>(cells);
        const int64_t per_cell = sizeof(typename Entry::Cell) / sizeof(*array.data());
        const int64_t block = features.cells() * columns.n_classes * per_cell;
        expect((*std::max_element(slots, slots + tree.size()) + 1) * block <= static_cast<int64_t>(array.size()),
               "slots within the cells expected");
        auto* first = reinterpret_cast<typename Entry::Cell*>(array.data());
        nb::gil_scoped_release release;
        count_stretches<Entry>(first, rows, n, tree, steps, node.data(), slots, features, columns.n_classes);
    });
}

// ---- splits from cells ----------------------------------------------------------------------------------------------

nb::object describe(const Split& split) {
    if (!split.found()) return nb::none();
    std::vector<int32_t> slot_of = split.slot_of;
    return nb::make_tuple(split.feature, split.gain, split.left, split.right, split.missing_slot, split.n_slots,
                          give(std::move(slot_of)));
}

// A node's evidence: the weight of each class; or the weight, and the sum of numerators.
template <class Entry>
Node node_of(const In<int64_t>& evidence, int64_t n_rows, Bounds bounds, uint64_t key, const Columns& columns,
             double spread = 0) {
    expect(static_cast<int>(evidence.shape(0)) == Entry::channels(columns.n_classes), "one sum a channel expected");
    const int64_t* sums = evidence.data();
    return {Entry::counts_of(sums), Entry::weight_of(sums, columns.n_classes), n_rows, bounds, key, spread};
}

// Calls `action(scanner, node, entries)` for a node's cells.
template <class Action>
auto with_scanner(nb::object cells, int holding, const Columns& columns, int criterion, const Rules& rules,
                  const In<int64_t>& evidence, int64_t n_rows, Bounds bounds, uint64_t key, double spread,
                  Action&& action) {
    const Features features = columns.features();
    return with_entry(static_cast<Holding>(holding), [&](auto* entry_tag, auto* scalar_tag) {
        using Entry = std::remove_pointer_t<decltype(entry_tag)>;
        const auto array = nb::cast<In<std::remove_pointer_t<decltype(scalar_tag)>>>(cells);
        const auto* counted = cells_of<Entry>(array, features, columns.n_classes);
        const Node node = node_of<Entry>(evidence, n_rows, bounds, key, columns, spread);
        return with_criterion<Entry>(criterion, rules.total_weight, [&](auto* tag) {
            using C = std::remove_pointer_t<decltype(tag)>;
            nb::gil_scoped_release release;
            EntryReader<uint16_t, Entry> reader(features, columns.n_classes);
            Scanner<C, Entry> scanner(features, rules, columns.n_classes);
            return action(scanner, node, [&](int f) { return reader.from_histogram(counted, f); });
        });
    });
}

nb::object best_split(nb::object cells, int holding, const Columns& columns, int criterion, const Rules& rules,
                      const In<int64_t>& evidence, int64_t n_rows, double lower, double upper, uint64_t key,
                      double spread) {
    return describe(with_scanner(cells, holding, columns, criterion, rules, evidence, n_rows, {lower, upper}, key, spread,
                                 [&](auto& scanner, const Node& node, auto&& entries) {
                                     return scanner.best(node, entries);
                                 }));
}

// What each of these features offers (the numbers of an Offer), and the splits that may win among all.
nb::tuple offers(nb::object cells, int holding, const Columns& columns, int criterion, const Rules& rules,
                 const In<int64_t>& evidence, int64_t n_rows, double lower, double upper, double spread) {
    expect(rules.max_features <= 0, "all features expected: which of them are drawn is not known to a part of them");
    std::vector<Offer> offer(columns.n_codes.shape(0));
    const std::vector<Split> splits =
        with_scanner(cells, holding, columns, criterion, rules, evidence, n_rows, {lower, upper}, 0, spread,
                     [&](auto& scanner, const Node& node, auto&& entries) {
                         return scanner.offers(node, entries, offer.data());
                     });
    nb::list described;
    for (const Split& split : splits) described.append(describe(split));
    std::vector<double> numbers(4 * offer.size());
    std::memcpy(numbers.data(), offer.data(), sizeof(Offer) * offer.size());
    return nb::make_tuple(give(std::move(numbers)), described);
}

// The feature that wins given what all offer; -1: none does.
int choose(const In<double>& offers, int holding, const Columns& columns, int criterion,
           const Rules& rules, const In<int64_t>& evidence, int64_t n_rows, double spread) {
    const Features features = columns.features();
    const auto n = static_cast<size_t>(features.count);
    expect(offers.shape(0) == 4 * n, "four numbers a feature expected");
    std::vector<Offer> offer(n);
    std::memcpy(offer.data(), offers.data(), sizeof(Offer) * n);
    return with_entry(static_cast<Holding>(holding), [&](auto* entry_tag, auto*) {
        using Entry = std::remove_pointer_t<decltype(entry_tag)>;
        const Node node = node_of<Entry>(evidence, n_rows, {}, 0, columns, spread);
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
    const auto weight = nb::arg("weight").none(), numerator = nb::arg("numerator").none();
    const auto bind = [&](const auto&... test) {  // the arrays of a tree over codes
        module.def("descend", &descend<uint8_t>, nb::arg("codes"), nb::arg("columns"), test..., nb::arg("node"),
                   nb::arg("seen"));
        module.def("descend", &descend<uint16_t>, nb::arg("codes"), nb::arg("columns"), test..., nb::arg("node"),
                   nb::arg("seen"));
        module.def("count_open", &count_open<uint8_t>, nb::arg("codes"), nb::arg("label"), weight, numerator,
                   nb::arg("columns"), test..., nb::arg("node"), nb::arg("seen"), nb::arg("slot_of_node"), nb::arg("cells"));
        module.def("count_open", &count_open<uint16_t>, nb::arg("codes"), nb::arg("label"), weight, numerator,
                   nb::arg("columns"), test..., nb::arg("node"), nb::arg("seen"), nb::arg("slot_of_node"),
                   nb::arg("cells"));
    };
    bind(nb::arg("feature"), nb::arg("first_child"), nb::arg("left"), nb::arg("missing_slot"), nb::arg("map_start"),
         nb::arg("map"));
    module.def("best_split", &best_split, nb::arg("cells"), nb::arg("holding"), nb::arg("columns"),
               nb::arg("criterion"), nb::arg("rules"), nb::arg("evidence"), nb::arg("n_rows"), nb::arg("lower"),
               nb::arg("upper"), nb::arg("key"), nb::arg("spread") = 0.0);
    module.def("offers", &offers, nb::arg("cells"), nb::arg("holding"), nb::arg("columns"), nb::arg("criterion"),
               nb::arg("rules"), nb::arg("evidence"), nb::arg("n_rows"), nb::arg("lower"), nb::arg("upper"),
               nb::arg("spread") = 0.0);
    module.def("choose", &choose, nb::arg("offers"), nb::arg("holding"), nb::arg("columns"),
               nb::arg("criterion"), nb::arg("rules"), nb::arg("evidence"), nb::arg("n_rows"), nb::arg("spread") = 0.0);
}
