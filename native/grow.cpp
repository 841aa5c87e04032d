// Growing: bindings of subtree, histogram and partition.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>

#include "arrays.hpp"
#include "columns.hpp"
#include "hand_over.hpp"
#include "histogram.hpp"
#include "partition.hpp"
#include "subtree.hpp"

namespace hornbeam {
namespace {

// A code or a label out of range would write outside its histogram.
template <class Code>
void check_range(const Rows<const Code>& rows, int64_t n, const Features& features, int n_classes) {
    std::vector<Code> highest(rows.n_features, 0);
    Code* top = highest.data();
    uint16_t label = 0;
    for (int64_t row = 0; row < n; ++row) {
        const Code* code = rows.codes + row * rows.n_features;
        if (rows.label) label = std::max(label, rows.label[row]);
        for (int f = 0; f < rows.n_features; ++f) top[f] = std::max(top[f], code[f]);
    }
    bool good = n == 0 || label < n_classes;
    for (int f = 0; f < rows.n_features; ++f) good = good && highest[f] <= features.n_codes[f];
    expect(good, "codes and labels within their ranges expected");
}

template <class Code>
void check_codes(const ConstMatrix<Code>& codes, const In<uint16_t>& label, const ConstWeights& weight,
                 const ConstWeights& numerator, const Columns& columns) {
    const Rows<const Code> rows = look(codes, label, weight, numerator, columns);
    const Features features = columns.features();
    nb::gil_scoped_release release;
    check_range(rows, static_cast<int64_t>(codes.shape(0)), features, columns.n_classes);
}

template <class Code>
nb::tuple grow(const Matrix<Code>& codes, const InOut<uint16_t>& label, const Weights& weight,
               const Weights& numerator, const Columns& columns, int criterion, const Rules& rules, int64_t begin,
               int64_t end, int64_t depth, double lower, double upper, uint64_t key, const InOut<int64_t>& watch,
               std::optional<nb::object> cells) {
    const Rows<Code> rows = view(codes, label, weight, numerator, columns);
    const Features features = columns.features();
    expect(0 <= begin && begin <= end && end <= static_cast<int64_t>(codes.shape(0)), "rows within the table expected");
    expect(watch.shape(0) == 2, "watch: rows settled, stop");
    expect(rules.missing != Missing::fractional || (weight && !numerator), "fractional rows need classes and weights");
    const Watch watching{watch.data(), watch.data() + 1};
    Nodes nodes = with_entry(holding_of(rows), [&](auto* entry_tag, auto* scalar_tag) {
        using Entry = std::remove_pointer_t<decltype(entry_tag)>;
        using Scalar = std::remove_pointer_t<decltype(scalar_tag)>;
        std::vector<typename Entry::Cell> counted;
        if (cells) {
            const auto array = nb::cast<In<Scalar>>(*cells);
            const auto* first = cells_of<Entry>(array, features, columns.n_classes);
            counted.assign(first, first + features.cells() * columns.n_classes);
        }
        return with_criterion<Entry>(criterion, rules.total_weight, [&](auto* tag) {
            using C = std::remove_pointer_t<decltype(tag)>;
            nb::gil_scoped_release release;
            return Subtree<C, Code, Entry>(rows, features, rules, columns.n_classes, watching)
                .grow(begin, end, depth, {lower, upper}, key, std::move(counted));
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
void histogram(const ConstMatrix<Code>& codes, const In<uint16_t>& label, const ConstWeights& weight,
               const ConstWeights& numerator, const Columns& columns, const std::optional<In<int32_t>>& slots,
               int64_t begin, int64_t end, nb::object cells) {
    const Rows<const Code> rows = look(codes, label, weight, numerator, columns);
    const Features features = columns.features();
    expect(!slots || slots->shape(0) == codes.shape(0), "one slot a row expected");
    expect(0 <= begin && begin <= end && end <= static_cast<int64_t>(codes.shape(0)), "rows within the table expected");
    with_entry(holding_of(rows), [&](auto* tag, auto* scalar_tag) {
        using Entry = std::remove_pointer_t<decltype(tag)>;
        const auto array = nb::cast<InOut<std::remove_pointer_t<decltype(scalar_tag)>>>(cells);
        const int64_t block = features.cells() * columns.n_classes;
        const int64_t per_cell = sizeof(typename Entry::Cell) / sizeof(*array.data());
        const int64_t n_slots = static_cast<int64_t>(array.size()) / std::max<int64_t>(1, block * per_cell);
        expect(n_slots >= 1, "the cells of at least one node expected");
        const int32_t* slot = slots ? slots->data() : nullptr;
        int32_t highest = -1;
        for (int64_t row = begin; slot && row < end; ++row) highest = std::max(highest, slot[row]);
        expect(highest < n_slots, "slots within the cells expected");
        auto* first = reinterpret_cast<typename Entry::Cell*>(array.data());
        nb::gil_scoped_release release;
        count_into<Entry>(first, rows, slot, begin, end, features, columns.n_classes);
    });
}

double spread(const In<int64_t>& numerator, const std::optional<In<int64_t>>& weight, int64_t begin, int64_t end,
              const Rules& rules) {
    expect(!weight || weight->shape(0) == numerator.shape(0), "one weight a row expected");
    expect(0 <= begin && begin <= end && end <= static_cast<int64_t>(numerator.shape(0)), "rows within the table expected");
    nb::gil_scoped_release release;
    return spread_of(numerator.data(), weight ? weight->data() : nullptr, begin, end, rules);
}

template <class Code>
nb::object partition_rows(const Matrix<Code>& codes, const InOut<uint16_t>& label, const Weights& weight,
                          const Weights& numerator, const Columns& columns, int64_t begin, int64_t end, int feature,
                          const In<int32_t>& slot_of, int n_slots) {
    const Rows<Code> rows = view(codes, label, weight, numerator, columns);
    expect(0 <= begin && begin <= end && end <= static_cast<int64_t>(codes.shape(0)), "rows within the table expected");
    expect(0 <= feature && feature < rows.n_features, "a feature of the table expected");
    expect(static_cast<int>(slot_of.shape(0)) == columns.n_codes.data()[feature] + 1, "one slot a code expected");
    std::vector<int64_t> starts;
    {
        nb::gil_scoped_release release;
        partition(rows, begin, end, feature, slot_of.data(), n_slots, starts);
    }
    return nb::cast(give(std::move(starts)));
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
        .def("__getstate__", [](const Rules& r) {
            return nb::make_tuple(static_cast<int>(r.nominal), static_cast<int>(r.missing), r.gain_ratio,
                                  r.corrected, r.rows_per_step, r.rows_per_row, r.dispersion, r.min_rows_split, r.min_rows_leaf, r.min_weight_leaf, r.max_depth, r.min_decrease,
                                  r.unit, r.total_weight, r.total_rows, r.numerator_unit, r.ridge, r.rounding,
                                  r.max_features);
        })
        .def("__setstate__", [](Rules& r, std::tuple<int, int, bool, bool, double, double, double, int64_t, int64_t, int64_t, int64_t, double,
                                                     double, int64_t, int64_t, double, double, double, int64_t>
                                              state) {
            new (&r) Rules{};
            int nominal, missing;
            std::tie(nominal, missing, r.gain_ratio, r.corrected, r.rows_per_step, r.rows_per_row, r.dispersion, r.min_rows_split, r.min_rows_leaf, r.min_weight_leaf, r.max_depth,
                     r.min_decrease, r.unit, r.total_weight, r.total_rows, r.numerator_unit, r.ridge, r.rounding,
                     r.max_features) = state;
            r.nominal = static_cast<Nominal>(nominal);
            r.missing = static_cast<Missing>(missing);
        });
    nb::class_<Columns>(module, "Columns")
        .def("__init__", [](Columns* self, In<int32_t> n_codes, In<uint8_t> nominal, Signs monotone,
                            std::optional<In<double>> value, int n_classes) {
            new (self) Columns{n_codes, nominal, monotone, value, n_classes};
            (void)self->features();
        }, nb::arg("n_codes"), nb::arg("nominal"), nb::arg("monotone").none(), nb::arg("value").none(),
             nb::arg("n_classes"));
    const auto bind = [&](const auto&... rows) {
        module.def("check_codes", &check_codes<uint8_t>, rows..., nb::arg("columns"));
        module.def("check_codes", &check_codes<uint16_t>, rows..., nb::arg("columns"));
        module.def("grow", &grow<uint8_t>, rows..., nb::arg("columns"), nb::arg("criterion"), nb::arg("rules"),
                   nb::arg("begin"), nb::arg("end"), nb::arg("depth"), nb::arg("lower"), nb::arg("upper"),
                   nb::arg("key"), nb::arg("watch"), nb::arg("cells").none() = nb::none());
        module.def("grow", &grow<uint16_t>, rows..., nb::arg("columns"), nb::arg("criterion"), nb::arg("rules"),
                   nb::arg("begin"), nb::arg("end"), nb::arg("depth"), nb::arg("lower"), nb::arg("upper"),
                   nb::arg("key"), nb::arg("watch"), nb::arg("cells").none() = nb::none());
        module.def("histogram", &histogram<uint8_t>, rows..., nb::arg("columns"), nb::arg("slots").none(),
                   nb::arg("begin"), nb::arg("end"), nb::arg("cells"));
        module.def("histogram", &histogram<uint16_t>, rows..., nb::arg("columns"), nb::arg("slots").none(),
                   nb::arg("begin"), nb::arg("end"), nb::arg("cells"));
        module.def("partition", &partition_rows<uint8_t>, rows..., nb::arg("columns"), nb::arg("begin"),
                   nb::arg("end"), nb::arg("feature"), nb::arg("slot_of"), nb::arg("n_slots"));
        module.def("partition", &partition_rows<uint16_t>, rows..., nb::arg("columns"), nb::arg("begin"),
                   nb::arg("end"), nb::arg("feature"), nb::arg("slot_of"), nb::arg("n_slots"));
    };
    bind(nb::arg("codes"), nb::arg("label"), nb::arg("weight").none(), nb::arg("numerator").none());
    module.def("spread", &spread, nb::arg("numerator"), nb::arg("weight").none(), nb::arg("begin"), nb::arg("end"),
               nb::arg("rules"));
    module.def("child_key", &child_key, nb::arg("key"), nb::arg("slot"));
}
