// Growing: bindings of subtree, histogram, best split, partition and descent over codes.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <algorithm>

#include "arrays.hpp"
#include "descent.hpp"
#include "histogram.hpp"
#include "partition.hpp"
#include "scan.hpp"
#include "subtree.hpp"

namespace hornbeam {
namespace {

using Weights = std::optional<InOut<int64_t>>;
using Signs = std::optional<In<int8_t>>;

enum Criterion : int { entropy = 0, gini = 1, hellinger = 2 };

struct Columns {  // what the features are, checked once
    In<int32_t> n_codes;
    In<uint8_t> nominal;
    Signs monotone;
    std::optional<In<double>> value;
    int n_classes;

    Features features() const {
        const size_t n = n_codes.shape(0);
        expect(nominal.shape(0) == n && (!monotone || monotone->shape(0) == n), "one entry a feature expected");
        expect(n_classes >= 1 && n_classes <= 65535, "between 1 and 65,535 classes expected");
        for (size_t f = 0; f < n; ++f)
            expect(n_codes.data()[f] >= 0 && n_codes.data()[f] <= 65535, "between 0 and 65,535 codes expected");
        expect(!monotone || n_classes == 2, "monotone constraints need two classes");
        Features features(static_cast<int>(n), n_codes.data(), nominal.data(), monotone ? monotone->data() : nullptr,
                          value ? value->data() : nullptr);
        expect(!value || static_cast<int64_t>(value->shape(0)) == features.cells(), "one value a cell expected");
        return features;
    }
};

template <class Code>
Rows<Code> view(const Matrix<Code>& codes, const InOut<uint16_t>& label, const Weights& weight,
                const Columns& columns) {
    const size_t n = codes.shape(0);
    expect(label.shape(0) == n && (!weight || weight->shape(0) == n), "one label and one weight a row expected");
    expect(codes.shape(1) == columns.n_codes.shape(0), "one code a feature expected");
    return {codes.data(), label.data(), weight ? weight->data() : nullptr, static_cast<int>(codes.shape(1))};
}

// A code or a label out of range would write outside its histogram.
template <class Code>
void check_range(const Rows<Code>& rows, int64_t n, const Features& features, int n_classes) {
    bool good = true;
    for (int64_t row = 0; row < n; ++row) {
        const Code* code = rows.codes + row * rows.n_features;
        good &= rows.label[row] < n_classes;
        for (int f = 0; f < rows.n_features; ++f) good &= code[f] <= features.n_codes[f];
    }
    expect(good, "codes and labels within their ranges expected");
}

template <class Code>
void check_codes(const Matrix<Code>& codes, const InOut<uint16_t>& label, const Columns& columns) {
    const Rows<Code> rows = view(codes, label, std::nullopt, columns);
    const Features features = columns.features();
    nb::gil_scoped_release release;
    check_range(rows, static_cast<int64_t>(codes.shape(0)), features, columns.n_classes);
}

// Calls `action` with the criterion's type; small totals keep Gini's squares in 64 bits.
template <class Action>
auto with_criterion(int criterion, int64_t total_weight, Action&& action) {
    switch (criterion) {
        case entropy: return action(static_cast<Entropy*>(nullptr));
        case gini:
            if (total_weight < (int64_t{1} << 31)) return action(static_cast<Gini<int64_t>*>(nullptr));
            return action(static_cast<Gini<Wide>*>(nullptr));
        case hellinger: return action(static_cast<Hellinger*>(nullptr));
        default: throw std::invalid_argument("criterion 0 (entropy), 1 (gini) or 2 (hellinger) expected");
    }
}

nb::tuple hand_over(Nodes&& nodes) {
    const size_t n = nodes.parent.size(), k = static_cast<size_t>(nodes.n_classes);
    return nb::make_tuple(give(std::move(nodes.parent)), give(std::move(nodes.slot)), give(std::move(nodes.feature)),
                          give(std::move(nodes.left)), give(std::move(nodes.right)),
                          give(std::move(nodes.missing_slot)), give(std::move(nodes.gain)),
                          give(std::move(nodes.rows)), give(std::move(nodes.evidence), {n, k}),
                          give(std::move(nodes.map_start)), give(std::move(nodes.map)));
}

// A node's cells as NumPy holds them: int32 counts, or int64 pairs of weight and rows.
template <class Entry, class Array>
std::vector<typename Entry::Cell> copy_cells(const Array& array, const Features& features, int n_classes) {
    using Cell = typename Entry::Cell;
    const size_t n = static_cast<size_t>(features.cells()) * n_classes;
    expect(array.size() == n * (sizeof(Cell) / sizeof(*array.data())), "the cells of one node expected");
    const Cell* first = reinterpret_cast<const Cell*>(array.data());
    return std::vector<Cell>(first, first + n);
}

template <class Code>
nb::tuple grow(const Matrix<Code>& codes, const InOut<uint16_t>& label, const Weights& weight, const Columns& columns,
               int criterion, const Rules& rules, int64_t begin, int64_t end, int64_t depth, double lower,
               double upper, const InOut<int64_t>& watch, std::optional<nb::object> cells) {
    const Rows<Code> rows = view(codes, label, weight, columns);
    const Features features = columns.features();
    expect(0 <= begin && begin <= end && end <= static_cast<int64_t>(codes.shape(0)), "rows within the table expected");
    expect(watch.shape(0) == 2, "watch: rows settled, stop");
    expect(rules.missing != Missing::fractional || weight, "fractional rows need weights");
    const Watch watching{watch.data(), watch.data() + 1};
    const auto run = [&](auto* entry_tag, auto* scalar_tag) {
        using Entry = std::remove_pointer_t<decltype(entry_tag)>;
        using Scalar = std::remove_pointer_t<decltype(scalar_tag)>;
        std::vector<typename Entry::Cell> counted;
        if (cells) counted = copy_cells<Entry>(nb::cast<In<Scalar>>(*cells), features, columns.n_classes);
        return with_criterion(criterion, rules.total_weight, [&](auto* tag) {
            using C = std::remove_pointer_t<decltype(tag)>;
            nb::gil_scoped_release release;
            return Subtree<C, Code, Entry>(rows, features, rules, columns.n_classes, watching)
                .grow(begin, end, depth, {lower, upper}, std::move(counted));
        });
    };
    Nodes nodes = weight ? run(static_cast<WeightEntry*>(nullptr), static_cast<int64_t*>(nullptr))
                         : run(static_cast<CountEntry*>(nullptr), static_cast<int32_t*>(nullptr));
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
void histogram(const Matrix<Code>& codes, const InOut<uint16_t>& label, const Weights& weight, const Columns& columns,
               const std::optional<In<int32_t>>& slots, int64_t begin, int64_t end, nb::object cells) {
    const Rows<Code> rows = view(codes, label, weight, columns);
    const Features features = columns.features();
    expect(!slots || slots->shape(0) == codes.shape(0), "one slot a row expected");
    expect(0 <= begin && begin <= end && end <= static_cast<int64_t>(codes.shape(0)), "rows within the table expected");
    const auto run = [&](auto array, auto* tag) {
        using Entry = std::remove_pointer_t<decltype(tag)>;
        const int64_t block = features.cells() * columns.n_classes;
        const int64_t per_cell = sizeof(typename Entry::Cell) / sizeof(*array.data());
        const int64_t n_slots = static_cast<int64_t>(array.size()) / std::max<int64_t>(1, block * per_cell);
        expect(n_slots >= 1, "the cells of at least one node expected");
        const int32_t* slot = slots ? slots->data() : nullptr;
        for (int64_t row = begin; slot && row < end; ++row)
            expect(slot[row] < n_slots, "slots within the cells expected");
        auto* first = reinterpret_cast<typename Entry::Cell*>(array.data());
        nb::gil_scoped_release release;
        count_into<Entry>(first, rows, slot, begin, end, features, columns.n_classes);
    };
    if (weight) run(nb::cast<InOut<int64_t>>(cells), static_cast<WeightEntry*>(nullptr));
    else run(nb::cast<InOut<int32_t>>(cells), static_cast<CountEntry*>(nullptr));
}

nb::object describe(const Split& split) {
    if (!split.found()) return nb::none();
    std::vector<int32_t> slot_of = split.slot_of;
    return nb::make_tuple(split.feature, split.gain, split.left, split.right, split.missing_slot, split.n_slots,
                          give(std::move(slot_of)));
}

// The best split of one node from its cells.
nb::object best_split(nb::object cells, bool weighted, const Columns& columns, int criterion, const Rules& rules,
                      const In<int64_t>& counts, int64_t n_rows, double lower, double upper) {
    const Features features = columns.features();
    expect(static_cast<int>(counts.shape(0)) == columns.n_classes, "one count a class expected");
    int64_t total = 0;
    for (int k = 0; k < columns.n_classes; ++k) total += counts.data()[k];
    const Node node{counts.data(), total, n_rows, {lower, upper}};
    const auto run = [&](auto array, auto* entry_tag) {
        using Entry = std::remove_pointer_t<decltype(entry_tag)>;
        const auto counted = copy_cells<Entry>(array, features, columns.n_classes);
        return with_criterion(criterion, rules.total_weight, [&](auto* tag) {
            using C = std::remove_pointer_t<decltype(tag)>;
            nb::gil_scoped_release release;
            EntryReader<uint16_t, Entry> reader(features, columns.n_classes);
            Scanner<C, Entry> scanner(features, rules, columns.n_classes);
            return scanner.best(node, [&](int f) { return reader.from_histogram(counted.data(), f); });
        });
    };
    const Split split = weighted ? run(nb::cast<In<int64_t>>(cells), static_cast<WeightEntry*>(nullptr))
                                 : run(nb::cast<In<int32_t>>(cells), static_cast<CountEntry*>(nullptr));
    return describe(split);
}

template <class Code>
nb::object partition_rows(const Matrix<Code>& codes, const InOut<uint16_t>& label, const Weights& weight,
                          const Columns& columns, int64_t begin, int64_t end, int feature,
                          const In<int32_t>& slot_of, int n_slots) {
    const Rows<Code> rows = view(codes, label, weight, columns);
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
        .def_rw("min_rows_split", &Rules::min_rows_split)
        .def_rw("min_rows_leaf", &Rules::min_rows_leaf)
        .def_rw("min_weight_leaf", &Rules::min_weight_leaf)
        .def_rw("max_depth", &Rules::max_depth)
        .def_rw("min_decrease", &Rules::min_decrease)
        .def_rw("unit", &Rules::unit)
        .def_rw("total_weight", &Rules::total_weight)
        .def_rw("total_rows", &Rules::total_rows);
    nb::class_<Columns>(module, "Columns")
        .def("__init__", [](Columns* self, In<int32_t> n_codes, In<uint8_t> nominal, Signs monotone,
                            std::optional<In<double>> value, int n_classes) {
            new (self) Columns{n_codes, nominal, monotone, value, n_classes};
            (void)self->features();
        }, nb::arg("n_codes"), nb::arg("nominal"), nb::arg("monotone").none(), nb::arg("value").none(),
             nb::arg("n_classes"));
    const auto weight = nb::arg("weight").none();
    module.def("check_codes", &check_codes<uint8_t>, nb::arg("codes"), nb::arg("label"), nb::arg("columns"));
    module.def("check_codes", &check_codes<uint16_t>, nb::arg("codes"), nb::arg("label"), nb::arg("columns"));
    module.def("grow", &grow<uint8_t>, nb::arg("codes"), nb::arg("label"), weight, nb::arg("columns"),
               nb::arg("criterion"), nb::arg("rules"), nb::arg("begin"), nb::arg("end"), nb::arg("depth"),
               nb::arg("lower"), nb::arg("upper"), nb::arg("watch"), nb::arg("cells").none() = nb::none());
    module.def("grow", &grow<uint16_t>, nb::arg("codes"), nb::arg("label"), weight, nb::arg("columns"),
               nb::arg("criterion"), nb::arg("rules"), nb::arg("begin"), nb::arg("end"), nb::arg("depth"),
               nb::arg("lower"), nb::arg("upper"), nb::arg("watch"), nb::arg("cells").none() = nb::none());
    module.def("histogram", &histogram<uint8_t>, nb::arg("codes"), nb::arg("label"), weight, nb::arg("columns"),
               nb::arg("slots").none(), nb::arg("begin"), nb::arg("end"), nb::arg("cells"));
    module.def("histogram", &histogram<uint16_t>, nb::arg("codes"), nb::arg("label"), weight, nb::arg("columns"),
               nb::arg("slots").none(), nb::arg("begin"), nb::arg("end"), nb::arg("cells"));
    module.def("best_split", &best_split, nb::arg("cells"), nb::arg("weighted"), nb::arg("columns"),
               nb::arg("criterion"), nb::arg("rules"), nb::arg("counts"), nb::arg("n_rows"), nb::arg("lower"),
               nb::arg("upper"));
    module.def("partition", &partition_rows<uint8_t>, nb::arg("codes"), nb::arg("label"), weight, nb::arg("columns"),
               nb::arg("begin"), nb::arg("end"), nb::arg("feature"), nb::arg("slot_of"), nb::arg("n_slots"));
    module.def("partition", &partition_rows<uint16_t>, nb::arg("codes"), nb::arg("label"), weight, nb::arg("columns"),
               nb::arg("begin"), nb::arg("end"), nb::arg("feature"), nb::arg("slot_of"), nb::arg("n_slots"));
    module.def("descend", &descend<uint8_t>, nb::arg("codes"), nb::arg("begin"), nb::arg("end"), nb::arg("feature"),
               nb::arg("first_child"), nb::arg("map_start"), nb::arg("map"), nb::arg("node"));
    module.def("descend", &descend<uint16_t>, nb::arg("codes"), nb::arg("begin"), nb::arg("end"), nb::arg("feature"),
               nb::arg("first_child"), nb::arg("map_start"), nb::arg("map"), nb::arg("node"));
}
