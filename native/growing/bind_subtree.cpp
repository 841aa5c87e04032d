// Bindings of the kernels that grow a subtree: subtree, histogram and partition.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"
#include "bindings/nodes_to_numpy.hpp"
#include "growing/columns.hpp"
#include "growing/feature_sampling.hpp"
#include "growing/grow_subtree.hpp"
#include "growing/histogram.hpp"
#include "growing/partition.hpp"
#include "growing/path_rules.hpp"
#include "growing/variance.hpp"

namespace hornbeam {
namespace {

template <class Code>
void check_codes(const Matrix<const Code>& codes, const In<uint16_t>& label, const ConstWeights& weight,
                 const ConstWeights& numerator, const Columns& columns) {
    const Rows<const Code> rows = rows_view(codes, label, weight, numerator, columns);
    const Features features = columns.features();
    nb::gil_scoped_release release;
    check_rows(rows, 0, static_cast<int64_t>(codes.shape(0)), features, columns.n_classes);
}

template <class Code>
nb::tuple grow(const Matrix<Code>& codes, const InOut<uint16_t>& label, const Weights& weight, const Weights& numerator,
               const Columns& columns, int criterion, const Rules& unchecked, int64_t begin, int64_t end, int64_t depth,
               double lower, double upper, uint64_t key, const std::vector<int32_t>& path, const PathRules* paths,
               const InOut<int64_t>& progress) {
    const Rows<Code> rows = rows_view(codes, label, weight, numerator, columns);
    const Features features = columns.features();
    const Rules rules = checked(unchecked);
    expect_rows(begin, end, codes.shape(0));
    expect_bounds({lower, upper});
    expect(depth >= 0, "a depth of 0 or more expected");
    expect_within(path, 0, features.count - 1, "features of the table on the path expected");
    expect(!paths || paths->n_features() == features.count, "path rules of these features expected");
    expect(progress.size() == 2 && 0 <= progress(0) && progress(0) <= kMostWeight,
           "progress: an array of two, rows done and stop, expected");
    expect(rules.missing != Missing::fractional || (weight && !numerator), "fractional rows need classes and weights");
    Nodes nodes = with_entry(cell_kind_of(rows), [&](auto entry_type, auto) {
        using Entry = typename decltype(entry_type)::type;
        nb::gil_scoped_release release;
        check_rows(rows, begin, end, features, columns.n_classes, Entry::sums ? kMostWeight : rules.total_weight);
        return grow_subtree<Entry>(criterion, rows, features, rules, paths, columns.n_classes,
                                   Progress(progress.data()), {begin, end, depth, {lower, upper}, key, path});
    });
    return nodes_to_numpy(std::move(nodes));
}

// Grows a tree from each run of rows, with the columns and rules of its own; the nodes of one tree after the other.
template <class Code>
nb::tuple grow_each(const Matrix<Code>& codes, const InOut<uint16_t>& label, const Weights& weight,
                    const Weights& numerator, const std::vector<nb::object>& items, int criterion,
                    const std::vector<Rules>& unchecked, const In<int64_t>& runs, double lower, double upper,
                    const PathRules* paths, const InOut<int64_t>& progress) {
    const size_t n_trees = items.size();
    std::vector<const Columns*> columns(n_trees, nullptr);
    for (size_t i = 0; i < n_trees; ++i)
        expect(nb::try_cast(items[i], columns[i]) && columns[i], "Columns of each tree expected");
    expect(n_trees > 0 && unchecked.size() == n_trees, "columns and rules of each tree expected");
    const std::vector<int64_t> begin(runs.data(), runs.data() + runs.size());  // the caller may change its array
    expect_runs(begin, n_trees, codes.shape(0), "a run of rows for each tree expected");
    expect_bounds({lower, upper});
    expect(progress.size() == 2 && 0 <= progress(0) && progress(0) <= kMostWeight,
           "progress: an array of two, rows done and stop, expected");
    const Rows<Code> rows = rows_view(codes, label, weight, numerator, *columns[0]);
    std::vector<Rules> rules;
    for (size_t i = 0; i < n_trees; ++i) {
        rules.push_back(checked(unchecked[i]));
        expect(rules[i].missing != Missing::fractional, "rows that each go to one child expected");
        expect(columns[i]->n_classes == columns[0]->n_classes && columns[i]->n_codes == columns[0]->n_codes,
               "columns of the same codes and classes expected");
        expect(!paths || paths->n_features() == columns[i]->features().count, "path rules of these features expected");
    }
    Nodes nodes = with_entry(cell_kind_of(rows), [&](auto entry_type, auto) {
        using Entry = typename decltype(entry_type)::type;
        nb::gil_scoped_release release;
        Nodes all(Entry::channels(columns[0]->n_classes));
        for (size_t i = 0; i < n_trees; ++i) {
            const Features features = columns[i]->features();
            check_rows(rows, begin[i], begin[i + 1], features, columns[i]->n_classes,
                       Entry::sums ? kMostWeight : rules[i].total_weight);
            all.append(grow_subtree<Entry>(criterion, rows, features, rules[i], paths, columns[i]->n_classes,
                                           Progress(progress.data()),
                                           {begin[i], begin[i + 1], 0, {lower, upper}, 0, {}}));
        }
        return all;
    });
    return nodes_to_numpy(std::move(nodes));
}

// Counts row r into the cells of node slots[r]; -1: nowhere. No slots: one node.
template <class Entry, class Code>
void count_into(typename Entry::Cell* cells, const Rows<Code>& rows, const int32_t* slots, int64_t begin, int64_t end,
                const Features& features, int n_classes) {
    const int64_t block = features.cells() * n_classes;
    if (!slots) return count_rows<Entry>(cells, rows, begin, end, features, n_classes);
    for (int64_t row = begin; row < end;) {
        int64_t run = row + 1;
        while (run < end && slots[run] == slots[row]) ++run;
        if (slots[row] >= 0) count_rows<Entry>(cells + slots[row] * block, rows, row, run, features, n_classes);
        row = run;
    }
}

template <class Code>
void histogram(const Matrix<const Code>& codes, const In<uint16_t>& label, const ConstWeights& weight,
               const ConstWeights& numerator, const Columns& columns, const std::optional<In<int32_t>>& slots,
               int64_t begin, int64_t end, const nb::object& cells) {
    const Rows<const Code> rows = rows_view(codes, label, weight, numerator, columns);
    const Features features = columns.features();
    expect(!slots || slots->size() == codes.shape(0), "one slot per row expected");
    expect_rows(begin, end, codes.shape(0));
    with_entry(cell_kind_of(rows), [&](auto entry_type, auto number_type) {
        using Entry = typename decltype(entry_type)::type;
        const auto array = cells_array<InOut<typename decltype(number_type)::type>>(cells);
        const Blocks<Entry> blocks(array, features, columns.n_classes);
        expect(blocks.n >= 1, "the cells of at least one node expected");
        nb::gil_scoped_release release;
        check_rows(rows, begin, end, features, columns.n_classes);
        const int32_t* slot = slots ? slots->data() : nullptr;
        int32_t highest = -1;
        for (int64_t row = begin; slot && row < end; ++row) highest = std::max(highest, slot[row]);
        expect(highest < blocks.n, "slots within the cells expected");
        count_into<Entry>(blocks.cells, rows, slot, begin, end, features, columns.n_classes);
    });
}

double target_variance(const In<int64_t>& numerator, const ConstWeights& weight, int64_t begin, int64_t end,
                       const Rules& unchecked) {
    const Rules rules = checked(unchecked);
    expect(!weight || weight->size() == numerator.size(), "one weight per row expected");
    expect_rows(begin, end, numerator.size());
    nb::gil_scoped_release release;
    expect(sum_of_sizes(numerator.data() + begin, end - begin, kMostSum) >= 0 &&
               (!weight || sum_of_counts(weight->data() + begin, end - begin, kMostWeight) >= 0),
           "numerators and weights whose sums fit 64 bits expected");
    return variance_of(numerator.data(), weight ? weight->data() : nullptr, begin, end, rules);
}

// Whether each row has a code, and the code of each row a slot.
template <class Code>
bool slots_within(const Rows<Code>& rows, int64_t begin, int64_t end, int feature, const In<int32_t>& slot_of,
                  int n_slots) {
    const auto n_codes = static_cast<int64_t>(slot_of.size());
    bool good = true;
    for (int64_t row = begin; row < end && good; ++row) {
        const int64_t code = rows.codes[row * rows.n_features + feature];
        good = code < n_codes && slot_of(code) >= 0 && slot_of(code) < n_slots;
    }
    return good;
}

template <class Code>
Out<int64_t> partition_rows(const Matrix<Code>& codes, const InOut<uint16_t>& label, const Weights& weight,
                            const Weights& numerator, const Columns& columns, int64_t begin, int64_t end, int feature,
                            const In<int32_t>& slot_of, int n_slots) {
    const Rows<Code> rows = rows_view(codes, label, weight, numerator, columns);
    expect_rows(begin, end, codes.shape(0));
    expect(0 <= feature && feature < rows.n_features, "a feature of the table expected");
    const auto n_codes = static_cast<int64_t>(columns.n_codes[feature]) + 1;
    expect(static_cast<int64_t>(slot_of.size()) == n_codes, "one slot per code expected");
    expect(1 <= n_slots && n_slots <= n_codes, "from 1 slot to one slot per code expected");
    std::vector<int64_t> starts;
    {
        nb::gil_scoped_release release;
        expect(slots_within(rows, begin, end, feature, slot_of, n_slots),
               "codes within their range, and a slot for each of them, expected");
        partition(rows, begin, end, feature, slot_of.data(), n_slots, starts);
    }
    return to_numpy(std::move(starts));
}

uint64_t key_of_child(uint64_t key, int slot) {
    expect(slot >= 0, "a slot of 0 or more expected");
    return child_key(key, slot);
}

// Each item is its price and its features.
using Items = std::vector<std::tuple<double, std::vector<int32_t>>>;
using PathRulesState = std::tuple<int, PathRules::Lists, PathRules::Lists, Items>;

// Puts checked path rules in place.
void new_path_rules(PathRules* place, int n_features, PathRules::Lists groups, PathRules::Lists below,
                    const Items& items) {
    expect(n_features >= 0 && static_cast<int>(below.size()) == n_features, "a list for each feature expected");
    for (const PathRules::Lists* lists : {&groups, &below})
        for (const std::vector<int32_t>& list : *lists)
            expect_within(list, 0, n_features - 1, "path rules: features of the table expected");
    PathRules::Items priced;
    for (const auto& [price, features] : items) {
        expect(price >= 0 && std::isfinite(price), "path rules: finite prices of 0 or more expected");
        expect_within(features, 0, n_features - 1, "path rules: features of the table expected");
        priced.push_back({price, features});
    }
    new (place) PathRules(n_features, std::move(groups), std::move(below), std::move(priced));
}

PathRulesState path_rules_state(const PathRules& paths) {
    Items items;
    for (const PricedItem& item : paths.items()) items.emplace_back(item.price, item.features);
    return {paths.n_features(), paths.groups(), paths.below(), std::move(items)};
}

Out<uint8_t> allowed_features(const PathRules& paths, const std::vector<int32_t>& path) {
    expect_within(path, 0, paths.n_features() - 1, "features of the table on the path expected");
    std::vector<uint8_t> allowed = paths.after_path(path)->feature;
    return to_numpy(std::move(allowed));
}

std::optional<Out<double>> prices_of_features(const PathRules& paths, const std::vector<int32_t>& path) {
    expect_within(path, 0, paths.n_features() - 1, "features of the table on the path expected");
    if (paths.items().empty()) return std::nullopt;
    std::vector<double> price = paths.after_path(path)->price;
    return to_numpy(std::move(price));
}

// Calls `action` with the name and the member pointer of each field of Rules.
template <class Action>
void each_rule(Action&& action) {
    action("nominal", &Rules::nominal);
    action("missing", &Rules::missing);
    action("gain_ratio", &Rules::gain_ratio);
    action("corrected", &Rules::corrected);
    action("rows_per_step", &Rules::rows_per_step);
    action("rows_per_row", &Rules::rows_per_row);
    action("dispersion", &Rules::dispersion);
    action("min_rows_split", &Rules::min_rows_split);
    action("min_rows_leaf", &Rules::min_rows_leaf);
    action("min_rows_missing", &Rules::min_rows_missing);
    action("min_weight_leaf", &Rules::min_weight_leaf);
    action("max_depth", &Rules::max_depth);
    action("min_decrease", &Rules::min_decrease);
    action("unit", &Rules::unit);
    action("total_weight", &Rules::total_weight);
    action("total_rows", &Rules::total_rows);
    action("numerator_unit", &Rules::numerator_unit);
    action("ridge", &Rules::ridge);
    action("rounding", &Rules::rounding);
    action("max_features", &Rules::max_features);
    action("price_unit", &Rules::price_unit);
}

nb::dict rules_state(const Rules& rules) {
    nb::dict state;
    each_rule([&](const char* name, auto field) { state[name] = nb::cast(rules.*field); });
    return state;
}

void restore_rules(Rules& place, const nb::dict& state) {
    Rules rules;
    each_rule([&](const char* name, auto field) {
        expect(state.contains(name), "rules: a state with every field expected");
        const nb::object value = state[name];
        expect(nb::try_cast(value, rules.*field, false), "rules: a state with fields of the right types expected");
    });
    new (&place) Rules(rules);
}

}  // namespace
}  // namespace hornbeam

void bind_subtree(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    nb::enum_<Missing>(module, "Missing")
        .value("own", Missing::own)
        .value("learned", Missing::learned)
        .value("fractional", Missing::fractional);
    nb::enum_<Nominal>(module, "Nominal").value("multiway", Nominal::multiway).value("subset", Nominal::subset);
    nb::class_<Rules> rules(module, "Rules");
    rules.def(nb::init<>());
    each_rule([&](const char* name, auto field) { rules.def_rw(name, field); });
    rules.def("__getstate__", &rules_state);
    rules.def("__setstate__", &restore_rules);
    nb::class_<PathRules>(module, "PathRules")
        .def("__init__", &new_path_rules, nb::arg("n_features"), nb::arg("groups"), nb::arg("below"),
             nb::arg("items") = Items{})
        .def("allowed", &allowed_features, nb::arg("path"))
        .def("prices", &prices_of_features, nb::arg("path"))
        .def("__getstate__", &path_rules_state)
        .def("__setstate__", [](PathRules& place, PathRulesState state) {
            new_path_rules(&place, std::get<0>(state), std::move(std::get<1>(state)), std::move(std::get<2>(state)),
                           std::get<3>(state));
        });
    nb::class_<Columns>(module, "Columns")
        .def(nb::init<const In<int32_t>&, const In<uint8_t>&, const std::optional<In<int8_t>>&,
                      const std::optional<In<double>>&, int, const std::optional<In<int32_t>>&,
                      const std::optional<In<double>>&>(),
             nb::arg("n_codes"), nb::arg("nominal"), nb::arg("monotone").none(), nb::arg("value").none(),
             nb::arg("n_classes"), nb::arg("position") = nb::none(), nb::arg("reliability") = nb::none());
    const auto bind = [&](auto code_type, const auto&... rows) {
        using Code = typename decltype(code_type)::type;
        module.def("check_codes", &check_codes<Code>, rows..., nb::arg("columns"));
        module.def("grow", &grow<Code>, rows..., nb::arg("columns"), nb::arg("criterion"), nb::arg("rules"),
                   nb::arg("begin"), nb::arg("end"), nb::arg("depth"), nb::arg("lower"), nb::arg("upper"),
                   nb::arg("key"), nb::arg("path"), nb::arg("paths").none(), nb::arg("progress"));
        module.def("grow_each", &grow_each<Code>, rows..., nb::arg("columns"), nb::arg("criterion"), nb::arg("rules"),
                   nb::arg("begin"), nb::arg("lower"), nb::arg("upper"), nb::arg("paths").none(), nb::arg("progress"));
        module.def("histogram", &histogram<Code>, rows..., nb::arg("columns"), nb::arg("slots").none(),
                   nb::arg("begin"), nb::arg("end"), nb::arg("cells"));
        module.def("partition", &partition_rows<Code>, rows..., nb::arg("columns"), nb::arg("begin"), nb::arg("end"),
                   nb::arg("feature"), nb::arg("slot_of"), nb::arg("n_slots"));
    };
    const auto codes = nb::arg("codes"), label = nb::arg("label");
    const auto weight = nb::arg("weight").none(), numerator = nb::arg("numerator").none();
    bind(Type<uint8_t>{}, codes, label, weight, numerator);
    bind(Type<uint16_t>{}, codes, label, weight, numerator);
    module.def("target_variance", &target_variance, nb::arg("numerator"), nb::arg("weight").none(), nb::arg("begin"),
               nb::arg("end"), nb::arg("rules"));
    module.def("child_key", &key_of_child, nb::arg("key"), nb::arg("slot"));
}
