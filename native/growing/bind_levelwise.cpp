// Bindings of the level phase: descent over codes, and histograms of open nodes.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"
#include "growing/code_tree.hpp"
#include "growing/columns.hpp"
#include "growing/histogram.hpp"
#include "growing/variance.hpp"

namespace hornbeam {
namespace {

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
}
