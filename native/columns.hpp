// What the columns of the code matrix are, and rows as kernels see them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <optional>

#include "arrays.hpp"
#include "criteria.hpp"
#include "entries.hpp"
#include "split.hpp"

namespace hornbeam {

using Weights = std::optional<InOut<int64_t>>;
using ConstWeights = std::optional<In<int64_t>>;
using Signs = std::optional<In<int8_t>>;
template <class Code>
using ConstMatrix = nb::ndarray<const Code, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

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
        expect(!monotone || n_classes <= 2, "monotone constraints need two classes, or sums");
        Features features(static_cast<int>(n), n_codes.data(), nominal.data(), monotone ? monotone->data() : nullptr,
                          value ? value->data() : nullptr);
        expect(!value || static_cast<int64_t>(value->shape(0)) == features.cells(), "one value a cell expected");
        return features;
    }
};

template <class Codes, class Labels, class Numbers>
void check_shapes(const Codes& codes, const Labels& label, const Numbers& weight, const Numbers& numerator,
                  const Columns& columns) {
    const size_t n = codes.shape(0);
    expect(label.shape(0) == (numerator ? 0 : n) && (!weight || weight->shape(0) == n),
           "one label and one weight a row expected, no label where there are numerators");
    expect(!numerator || (numerator->shape(0) == n && columns.n_classes == 1), "one numerator a row expected");
    expect(codes.shape(1) == columns.n_codes.shape(0), "one code a feature expected");
}

template <class Code>
Rows<Code> view(const Matrix<Code>& codes, const InOut<uint16_t>& label, const Weights& weight,
                const Weights& numerator, const Columns& columns) {
    check_shapes(codes, label, weight, numerator, columns);
    return {codes.data(), numerator ? nullptr : label.data(), weight ? weight->data() : nullptr,
            numerator ? numerator->data() : nullptr, static_cast<int>(codes.shape(1))};
}

// Rows that are only counted: they may lie in memory that nobody may write to.
template <class Code>
Rows<const Code> look(const ConstMatrix<Code>& codes, const In<uint16_t>& label, const ConstWeights& weight,
                      const ConstWeights& numerator, const Columns& columns) {
    check_shapes(codes, label, weight, numerator, columns);
    return {codes.data(), numerator ? nullptr : label.data(), weight ? weight->data() : nullptr,
            numerator ? numerator->data() : nullptr, static_cast<int>(codes.shape(1))};
}

// What the cells of a node hold, and NumPy's type for it.
enum class Holding : int { counts = 0, weights = 1, sums = 2, ratios = 3 };

template <class Row>
Holding holding_of(const Row& rows) {
    if (rows.numerator) return rows.weight ? Holding::ratios : Holding::sums;
    return rows.weight ? Holding::weights : Holding::counts;
}

// Calls `action` with the type of the entries, and of the numbers in NumPy's cells.
template <class Action>
auto with_entry(Holding holding, Action&& action) {
    constexpr int64_t* wide = nullptr;
    switch (holding) {
        case Holding::counts: return action(static_cast<CountEntry*>(nullptr), static_cast<int32_t*>(nullptr));
        case Holding::weights: return action(static_cast<WeightEntry*>(nullptr), wide);
        case Holding::sums: return action(static_cast<SumEntry*>(nullptr), wide);
        case Holding::ratios: return action(static_cast<RatioEntry*>(nullptr), wide);
    }
    throw std::invalid_argument("cells of counts, weights, sums or ratios expected");
}

// Calls `action` with the criterion's type; small totals keep Gini's squares in 64 bits.
template <class Entry, class Action>
auto with_criterion(int criterion, int64_t total_weight, Action&& action) {
    if constexpr (Entry::sums) {
        expect(criterion == 3, "criterion 3 (squares) expected for sums");
        return action(static_cast<Squares*>(nullptr));
    } else {
        switch (criterion) {
            case 0: return action(static_cast<Entropy*>(nullptr));
            case 1:
                if (total_weight < (int64_t{1} << 31)) return action(static_cast<Gini<int64_t>*>(nullptr));
                return action(static_cast<Gini<Wide>*>(nullptr));
            case 2: return action(static_cast<Hellinger*>(nullptr));
            default: throw std::invalid_argument("criterion 0 (entropy), 1 (gini) or 2 (hellinger) expected");
        }
    }
}

// A node's cells as NumPy holds them: int32 counts; or int64: weight and rows, sum and rows, or sum, weight and rows.
template <class Entry, class Array>
const typename Entry::Cell* cells_of(const Array& array, const Features& features, int n_classes) {
    using Cell = typename Entry::Cell;
    const size_t n = static_cast<size_t>(features.cells()) * n_classes;
    expect(array.size() == n * (sizeof(Cell) / sizeof(*array.data())), "the cells of one node expected");
    return reinterpret_cast<const Cell*>(array.data());
}

}  // namespace hornbeam
