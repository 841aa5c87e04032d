// Arguments of the growing kernels: the columns of the code matrix, views of rows, and the cells of histograms.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"
#include "growing/entries.hpp"
#include "growing/split.hpp"

namespace hornbeam {

using Weights = std::optional<InOut<int64_t>>;
using ConstWeights = std::optional<In<int64_t>>;

// The features. Checked once; the arrays are copied, because the caller may change them afterwards.
struct Columns {
    const std::vector<int32_t> n_codes;
    const std::vector<uint8_t> nominal;
    const std::optional<std::vector<int8_t>> monotone;
    const std::optional<std::vector<double>> value;
    const int n_classes;
    const std::optional<std::vector<int32_t>> position;
    const std::optional<std::vector<double>> reliability;

    Columns(const In<int32_t>& n_codes_, const In<uint8_t>& nominal_, const std::optional<In<int8_t>>& monotone_,
            const std::optional<In<double>>& value_, int n_classes_, const std::optional<In<int32_t>>& position_,
            const std::optional<In<double>>& reliability_)
        : n_codes(copied(n_codes_)), nominal(copied(nominal_)), monotone(copied_if(monotone_)),
          value(copied_if(value_)), n_classes(n_classes_), position(copied_if(position_)),
          reliability(copied_if(reliability_)) {
        const size_t n = n_codes.size();
        expect(nominal.size() == n && (!monotone || monotone->size() == n), "one entry per feature expected");
        expect(n_classes >= 1 && n_classes <= 65535, "between 1 and 65,535 classes expected");
        expect_within(n_codes, 0, 65535, "between 0 and 65,535 codes expected");
        expect_within(nominal, 0, 1, "nominal: 0 or 1 expected");
        expect(!monotone || n_classes <= 2, "monotone constraints need two classes, or sums");
        if (monotone) expect_within(*monotone, -1, 1, "monotone: -1, 0 or 1 expected");
        expect(!value || static_cast<int64_t>(value->size()) == features().cells(), "one value per cell expected");
        expect(position.has_value() == reliability.has_value() && (!reliability || reliability->size() == n) &&
                   (!position || static_cast<int64_t>(position->size()) == features().cells()),
               "one position per cell and one reliability per feature expected");
        for (size_t f = 0; reliability && f < n; ++f)
            expect((*reliability)[f] == -1 || (nominal[f] && (*reliability)[f] >= 0 && (*reliability)[f] <= 1),
                   "a reliability between 0 and 1 of a nominal feature, or -1, expected");
        if (position) expect_within(*position, -1, kMostPosition, "positions between -1 and 32,767 expected");
    }

    Features features() const {
        Features features(static_cast<int>(n_codes.size()), n_codes.data(), nominal.data(),
                          monotone ? monotone->data() : nullptr, value ? value->data() : nullptr);
        features.position = position ? position->data() : nullptr;
        features.reliability = reliability ? reliability->data() : nullptr;
        return features;
    }

  private:
    template <class T>
    static std::optional<std::vector<T>> copied_if(const std::optional<In<T>>& array) {
        if (!array) return std::nullopt;
        return copied(*array);
    }
};

// A view of rows. `Rows<const Code>` is only read, and may be in read-only memory.
template <class Code, class Labels, class Numbers>
Rows<Code> rows_view(const Matrix<Code>& codes, const Labels& label, const Numbers& weight, const Numbers& numerator,
                     const Columns& columns) {
    const size_t n = codes.shape(0);
    expect(label.size() == (numerator ? 0 : n) && (!weight || weight->size() == n),
           "one label and one weight per row expected, no label where there are numerators");
    expect(!numerator || (numerator->size() == n && columns.n_classes == 1), "one numerator per row expected");
    expect(codes.shape(1) == columns.n_codes.size(), "one code per feature expected");
    return {codes.data(), numerator ? nullptr : label.data(), weight ? weight->data() : nullptr,
            numerator ? numerator->data() : nullptr, static_cast<int>(codes.shape(1))};
}

// Whether no code of n rows is above the missing code of its feature, which is the highest. Codes are compared with a
// tile of limits for several rows: with few features a single row is too short for vector instructions.
template <class Code>
bool codes_within(const Code* code, int64_t n, const Features& features) {
    if (n == 0 || features.count == 0) return true;
    using Value = std::remove_const_t<Code>;
    const int64_t tile = std::min<int64_t>(n, 1 + 256 / features.count), size = tile * features.count;
    std::vector<Value> limit(size);
    for (int64_t i = 0; i < size; ++i)
        limit[i] = static_cast<Value>(
            std::min<int32_t>(features.n_codes[i % features.count], std::numeric_limits<Value>::max()));
    Value beyond = 0;
    const Value* most = limit.data();
    for (int64_t left = n * features.count; left > 0; left -= size, code += size) {
        const int64_t length = std::min(left, size);
        for (int64_t i = 0; i < length; ++i) beyond |= static_cast<Value>(std::max<Value>(code[i], most[i]) ^ most[i]);
    }
    return beyond == 0;
}

// Checks the cells that rows [begin, end) are counted in: a code or a label out of range would be counted outside the
// histogram.
template <class Code>
void check_cells(const Rows<Code>& rows, int64_t begin, int64_t end, const Features& features, int n_classes) {
    const int64_t n = end - begin;
    bool good = codes_within(rows.codes + begin * rows.n_features, n, features);
    if (rows.label) {
        uint16_t highest = 0;
        for (int64_t row = begin; row < end; ++row) highest = std::max<uint16_t>(highest, rows.label[row]);
        good = good && (n == 0 || highest < n_classes);
    }
    expect(good, "codes and labels within their ranges expected");
}

// Checks that sums of the weights and numerators of rows [begin, end) do not overflow.
template <class Code>
void check_sums(const Rows<Code>& rows, int64_t begin, int64_t end, int64_t most_weight = kMostWeight) {
    const int64_t n = end - begin;
    const int64_t weight = rows.weight ? sum_of_counts(rows.weight + begin, n, most_weight) : n;
    expect(0 <= weight && weight <= most_weight,
           "weights of 0 or more, and a sum within the rules' total weight, expected");
    expect(!rows.numerator || sum_of_sizes(rows.numerator + begin, n, kMostSum) >= 0,
           "numerators whose sizes add up to less than 2**61 expected");
}

// Checks everything that counting rows [begin, end) relies on.
template <class Code>
void check_rows(const Rows<Code>& rows, int64_t begin, int64_t end, const Features& features, int n_classes,
                int64_t most_weight = kMostWeight) {
    check_cells(rows, begin, end, features, n_classes);
    check_sums(rows, begin, end, most_weight);
}

// What the cells of a histogram contain.
enum class CellKind : int { counts = 0, weights = 1, sums = 2, ratios = 3 };

template <class Row>
CellKind cell_kind_of(const Row& rows) {
    if (rows.numerator) return rows.weight ? CellKind::ratios : CellKind::sums;
    return rows.weight ? CellKind::weights : CellKind::counts;
}

// Calls `action` with the type of the entries, and the type of the numbers in NumPy's cells.
template <class Action>
auto with_entry(CellKind kind, Action&& action) {
    switch (kind) {
        case CellKind::counts: return action(Type<CountEntry>{}, Type<int32_t>{});
        case CellKind::weights: return action(Type<WeightEntry>{}, Type<int64_t>{});
        case CellKind::sums: return action(Type<SumEntry>{}, Type<int64_t>{});
        case CellKind::ratios: return action(Type<RatioEntry>{}, Type<int64_t>{});
    }
    throw std::invalid_argument("cells of counts, weights, sums or ratios expected");
}

// NumPy's array of cells: int32 counts; or int64 weight and rows; sum and rows; sum, weight and rows.
template <class Array>
Array cells_array(const nb::object& cells) {
    Array array;
    expect(nb::try_cast(cells, array, false), "cells: an array of int32 counts or int64 sums, in C order, expected");
    return array;
}

// Cells of several nodes, to be written; n: the number of nodes.
template <class Entry>
struct Blocks {
    using Cell = typename Entry::Cell;
    Cell* cells;
    int64_t n;

    template <class Array>
    Blocks(const Array& array, const Features& features, int n_classes)
        : cells(reinterpret_cast<Cell*>(array.data())),
          n(static_cast<int64_t>(array.size() * sizeof(*array.data()) / sizeof(Cell)) /
            std::max<int64_t>(1, features.cells() * n_classes)) {}
};

// The cells of one node.
template <class Entry, class Array>
const typename Entry::Cell* cells_of(const Array& array, const Features& features, int n_classes) {
    using Cell = typename Entry::Cell;
    const size_t n = static_cast<size_t>(features.cells()) * n_classes;
    expect(array.size() * sizeof(*array.data()) == n * sizeof(Cell), "the cells of one node expected");
    return reinterpret_cast<const Cell*>(array.data());
}

// Whether the cells of each feature contain the rows of the node, all of them and no others. The scan relies on it: it
// uses what is left of the node's evidence as an index.
template <class Entry>
bool cells_add_up(const typename Entry::Cell* cell, const Features& features, int n_classes, const int64_t* evidence,
                  int64_t n_rows) {
    const int channels = Entry::channels(n_classes);
    std::vector<Wide> sum(channels);
    Wide sizes = 0, rows = 0;
    bool good = true;
    for (int f = 0; f < features.count; ++f) {
        std::fill(sum.begin(), sum.end(), 0);
        sizes = rows = 0;
        for (int32_t code = 0; code <= features.n_codes[f]; ++code)
            for (int k = 0; k < n_classes; ++k, ++cell) {
                const Entry entry(make_key(code, k), *cell);
                good &= entry.weight() >= 0 && entry.rows() >= 0;
                rows += entry.rows();
                if constexpr (Entry::sums) {
                    sum[0] += entry.weight();
                    sum[1] += entry.amount();
                    sizes += entry.amount() < 0 ? -Wide{entry.amount()} : Wide{entry.amount()};
                } else {
                    sum[k] += entry.weight();
                }
            }
        good &= rows == n_rows && sizes <= kMostSum;
        for (int k = 0; k < channels; ++k) good &= sum[k] == evidence[k];
    }
    return good;
}

}  // namespace hornbeam
