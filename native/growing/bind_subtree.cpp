// Growing: bindings of subtree, histogram and partition.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"
#include "bindings/nodes_to_numpy.hpp"
#include "growing/columns.hpp"
#include "growing/histogram.hpp"
#include "growing/partition.hpp"
#include "growing/subtree.hpp"

namespace hornbeam {
namespace {

template <class Code>
void check_codes(const Matrix<const Code>& codes, const In<uint16_t>& label, const ConstWeights& weight,
                 const ConstWeights& numerator, const Columns& columns) {
    const Rows<const Code> rows = view(codes, label, weight, numerator, columns);
    const Features features = columns.features();
    nb::gil_scoped_release release;
    check_rows(rows, 0, static_cast<int64_t>(codes.shape(0)), features, columns.n_classes);
}

template <class Code>
nb::tuple grow(const Matrix<Code>& codes, const InOut<uint16_t>& label, const Weights& weight, const Weights& numerator,
               const Columns& columns, int criterion, const Rules& given, int64_t begin, int64_t end, int64_t depth,
               double lower, double upper, uint64_t key, const InOut<int64_t>& watch) {
    const Rows<Code> rows = view(codes, label, weight, numerator, columns);
    const Features features = columns.features();
    const Rules rules = checked(given);
    expect_rows(begin, end, codes.shape(0));
    expect_bounds({lower, upper});
    expect(depth >= 0, "a depth of 0 or more expected");
    expect(watch.size() == 2 && 0 <= watch(0) && watch(0) <= kMostWeight, "watch: rows settled, stop");
    expect(rules.missing != Missing::fractional || (weight && !numerator), "fractional rows need classes and weights");
    const Watch watching{watch.data(), watch.data() + 1};
    Nodes nodes = with_entry(holding_of(rows), [&](auto* entry_tag, auto*) {
        using Entry = std::remove_pointer_t<decltype(entry_tag)>;
        return with_criterion<Entry>(criterion, rules.total_weight, [&](auto* tag) {
            using C = std::remove_pointer_t<decltype(tag)>;
            nb::gil_scoped_release release;
            check_rows(rows, begin, end, features, columns.n_classes, Entry::sums ? kMostWeight : rules.total_weight);
            return Subtree<C, Code, Entry>(rows, features, rules, columns.n_classes, watching)
                .grow(begin, end, depth, {lower, upper}, key);
        });
    });
    return hand_over(std::move(nodes));
}

// Cells of many nodes at once: row r is counted into the block of slots[r]; -1: nowhere. No slots: one node.
template <class Entry, class Code>
void count_into(typename Entry::Cell* cells, const Rows<Code>& rows, const int32_t* slots, int64_t begin, int64_t end,
                const Features& features, int n_classes) {
    const int64_t block = features.cells() * n_classes;
    if (!slots) return fill<Entry>(cells, rows, begin, end, features, n_classes);
    for (int64_t row = begin; row < end;) {
        int64_t run = row + 1;
        while (run < end && slots[run] == slots[row]) ++run;
        if (slots[row] >= 0) fill<Entry>(cells + slots[row] * block, rows, row, run, features, n_classes);
        row = run;
    }
}

template <class Code>
void histogram(const Matrix<const Code>& codes, const In<uint16_t>& label, const ConstWeights& weight,
               const ConstWeights& numerator, const Columns& columns, const std::optional<In<int32_t>>& slots,
               int64_t begin, int64_t end, nb::object cells) {
    const Rows<const Code> rows = view(codes, label, weight, numerator, columns);
    const Features features = columns.features();
    expect(!slots || slots->size() == codes.shape(0), "one slot a row expected");
    expect_rows(begin, end, codes.shape(0));
    with_entry(holding_of(rows), [&](auto* tag, auto* scalar_tag) {
        using Entry = std::remove_pointer_t<decltype(tag)>;
        const auto array = cells_array<InOut<std::remove_pointer_t<decltype(scalar_tag)>>>(cells);
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

double spread(const In<int64_t>& numerator, const ConstWeights& weight, int64_t begin, int64_t end,
              const Rules& given) {
    const Rules rules = checked(given);
    expect(!weight || weight->size() == numerator.size(), "one weight a row expected");
    expect_rows(begin, end, numerator.size());
    nb::gil_scoped_release release;
    expect(sum_of_sizes(numerator.data() + begin, end - begin, kMostSum) >= 0 &&
               (!weight || sum_of_counts(weight->data() + begin, end - begin, kMostWeight) >= 0),
           "numerators and weights whose sums fit 64 bits expected");
    return spread_of(numerator.data(), weight ? weight->data() : nullptr, begin, end, rules);
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
    const Rows<Code> rows = view(codes, label, weight, numerator, columns);
    expect_rows(begin, end, codes.shape(0));
    expect(0 <= feature && feature < rows.n_features, "a feature of the table expected");
    const auto n_codes = static_cast<int64_t>(columns.n_codes[feature]) + 1;
    expect(static_cast<int64_t>(slot_of.size()) == n_codes, "one slot a code expected");
    expect(1 <= n_slots && n_slots <= n_codes, "from 1 slot to one slot a code expected");
    std::vector<int64_t> starts;
    {
        nb::gil_scoped_release release;
        expect(slots_within(rows, begin, end, feature, slot_of, n_slots),
               "codes within their range, and a slot for each of them, expected");
        partition(rows, begin, end, feature, slot_of.data(), n_slots, starts);
    }
    return give(std::move(starts));
}

uint64_t key_of_child(uint64_t key, int slot) {
    expect(slot >= 0, "a slot of 0 or more expected");
    return child_key(key, slot);
}

}  // namespace
}  // namespace hornbeam

void bind_grow(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    nb::enum_<Missing>(module, "Missing")
        .value("own", Missing::own)
        .value("learned", Missing::learned)
        .value("fractional", Missing::fractional);
    nb::enum_<Nominal>(module, "Nominal").value("multiway", Nominal::multiway).value("subset", Nominal::subset);
    nb::class_<Rules>(module, "Rules")
        .def(nb::init<>())
        .def_rw("nominal", &Rules::nominal)
        .def_rw("missing", &Rules::missing)
        .def_rw("gain_ratio", &Rules::gain_ratio)
        .def_rw("corrected", &Rules::corrected)
        .def_rw("rows_per_step", &Rules::rows_per_step)
        .def_rw("rows_per_row", &Rules::rows_per_row)
        .def_rw("dispersion", &Rules::dispersion)
        .def_rw("min_rows_split", &Rules::min_rows_split)
        .def_rw("min_rows_leaf", &Rules::min_rows_leaf)
        .def_rw("min_weight_leaf", &Rules::min_weight_leaf)
        .def_rw("max_depth", &Rules::max_depth)
        .def_rw("min_decrease", &Rules::min_decrease)
        .def_rw("unit", &Rules::unit)
        .def_rw("total_weight", &Rules::total_weight)
        .def_rw("total_rows", &Rules::total_rows)
        .def_rw("numerator_unit", &Rules::numerator_unit)
        .def_rw("ridge", &Rules::ridge)
        .def_rw("rounding", &Rules::rounding)
        .def_rw("max_features", &Rules::max_features)
        .def("__getstate__",
             [](const Rules& r) {
                 return nb::make_tuple(static_cast<int>(r.nominal), static_cast<int>(r.missing), r.gain_ratio,
                                       r.corrected, r.rows_per_step, r.rows_per_row, r.dispersion, r.min_rows_split,
                                       r.min_rows_leaf, r.min_weight_leaf, r.max_depth, r.min_decrease, r.unit,
                                       r.total_weight, r.total_rows, r.numerator_unit, r.ridge, r.rounding,
                                       r.max_features);
             })
        .def("__setstate__",
             [](Rules& r, std::tuple<int, int, bool, bool, double, double, double, int64_t, int64_t, int64_t, int64_t,
                                     double, double, int64_t, int64_t, double, double, double, int64_t>
                              state) {
                 new (&r) Rules{};
                 int nominal, missing;
                 std::tie(nominal, missing, r.gain_ratio, r.corrected, r.rows_per_step, r.rows_per_row, r.dispersion,
                          r.min_rows_split, r.min_rows_leaf, r.min_weight_leaf, r.max_depth, r.min_decrease, r.unit,
                          r.total_weight, r.total_rows, r.numerator_unit, r.ridge, r.rounding, r.max_features) = state;
                 expect(0 <= nominal && nominal <= 1 && 0 <= missing && missing <= 2, "rules: unknown kind of test");
                 r.nominal = static_cast<Nominal>(nominal);
                 r.missing = static_cast<Missing>(missing);
             });
    nb::class_<Columns>(module, "Columns")
        .def(nb::init<const In<int32_t>&, const In<uint8_t>&, const std::optional<In<int8_t>>&,
                      const std::optional<In<double>>&, int>(),
             nb::arg("n_codes"), nb::arg("nominal"), nb::arg("monotone").none(), nb::arg("value").none(),
             nb::arg("n_classes"));
    const auto bind = [&](auto* tag, const auto&... rows) {
        using Code = std::remove_pointer_t<decltype(tag)>;
        module.def("check_codes", &check_codes<Code>, rows..., nb::arg("columns"));
        module.def("grow", &grow<Code>, rows..., nb::arg("columns"), nb::arg("criterion"), nb::arg("rules"),
                   nb::arg("begin"), nb::arg("end"), nb::arg("depth"), nb::arg("lower"), nb::arg("upper"),
                   nb::arg("key"), nb::arg("watch"));
        module.def("histogram", &histogram<Code>, rows..., nb::arg("columns"), nb::arg("slots").none(),
                   nb::arg("begin"), nb::arg("end"), nb::arg("cells"));
        module.def("partition", &partition_rows<Code>, rows..., nb::arg("columns"), nb::arg("begin"), nb::arg("end"),
                   nb::arg("feature"), nb::arg("slot_of"), nb::arg("n_slots"));
    };
    const auto codes = nb::arg("codes"), label = nb::arg("label");
    const auto weight = nb::arg("weight").none(), numerator = nb::arg("numerator").none();
    bind(static_cast<uint8_t*>(nullptr), codes, label, weight, numerator);
    bind(static_cast<uint16_t*>(nullptr), codes, label, weight, numerator);
    module.def("spread", &spread, nb::arg("numerator"), nb::arg("weight").none(), nb::arg("begin"), nb::arg("end"),
               nb::arg("rules"));
    module.def("child_key", &key_of_child, nb::arg("key"), nb::arg("slot"));
}
