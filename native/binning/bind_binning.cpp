// Bindings of the binning kernels: census, cuts and encoding.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <mutex>
#include <numeric>
#include <string>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"
#include "binning/census.hpp"
#include "binning/cuts.hpp"
#include "binning/decimals.hpp"
#include "binning/edge_search.hpp"
#include "binning/ranks.hpp"
#include "binning/screen.hpp"

namespace hornbeam {
namespace {

using Held = std::vector<nb::ndarray<>>;  // arrays that must not be released while they are read

template <class T>
Column<T> column_of(nb::handle item, Held& held) {
    nb::ndarray<const T, nb::ndim<1>, nb::device::cpu> array;
    if (!nb::try_cast(item, array, false) || !aligned<T>(array.data())) {
        const std::string expected = sizeof(T) == 8 ? "float64" : "int32";
        throw nb::type_error(("a column must be a one-dimensional, aligned array of " + expected).c_str());
    }
    held.emplace_back(array.handle());
    return {array.data(), static_cast<int64_t>(array.stride(0)), static_cast<int64_t>(array.shape(0))};
}

std::vector<Column<double>> columns_of(const nb::tuple& items, Held& held) {
    std::vector<Column<double>> columns;
    for (nb::handle item : items) columns.push_back(column_of<double>(item, held));
    for (const auto& column : columns) expect(column.size == columns[0].size, "columns must have the same length");
    return columns;
}

constexpr size_t kMostFeatures = size_t{1} << 24;

void construct(Census* place, size_t n_features, size_t limit) {
    expect(n_features <= kMostFeatures, "at most 2**24 features are expected");
    new (place) Census(n_features, limit);
}

void census_add(Census& census, const nb::tuple& items) {
    Held held;
    const auto columns = columns_of(items, held);
    expect(columns.size() == census.features.size(), "as many columns as features are expected");
    nb::gil_scoped_release release;
    const std::lock_guard<std::mutex> lock(census.in_use);
    census.add(columns);
}

void census_merge(Census& census, Census& other) {
    expect(&census != &other && census.limit == other.limit && census.features.size() == other.features.size(),
           "only another census of the same features and limit can be merged");
    nb::gil_scoped_release release;
    const std::scoped_lock lock(census.in_use, other.in_use);
    census.merge(other);
}

// The result of a census, feature by feature.
struct Entries {
    std::vector<int64_t> missing, zeros, starts{0}, counts;
    std::vector<uint64_t> ones, any, keys;
    std::vector<uint8_t> full;
};

Entries entries_of(Census& census) {
    nb::gil_scoped_release release;
    const std::lock_guard<std::mutex> lock(census.in_use);
    Entries found;
    for (const FeatureCensus& feature : census.features) {
        found.missing.push_back(static_cast<int64_t>(feature.missing));
        found.zeros.push_back(static_cast<int64_t>(feature.zeros));
        found.ones.push_back(feature.ones);
        found.any.push_back(feature.any);
        found.full.push_back(feature.full());
        for (const auto& [key, count] : feature.sorted()) {
            found.keys.push_back(key);
            found.counts.push_back(static_cast<int64_t>(count));
        }
        found.starts.push_back(static_cast<int64_t>(found.keys.size()));
    }
    return found;
}

nb::tuple census_entries(Census& census) {
    Entries found = entries_of(census);
    return nb::make_tuple(to_numpy(std::move(found.missing)), to_numpy(std::move(found.zeros)),
                          to_numpy(std::move(found.ones)), to_numpy(std::move(found.any)),
                          bools_to_numpy(std::move(found.full)), to_numpy(std::move(found.starts)),
                          to_numpy(std::move(found.keys)), to_numpy(std::move(found.counts)));
}

// Everything is checked before anything is added.
void census_restore(Census& census, const In<int64_t>& missing, const In<int64_t>& zeros, const In<uint64_t>& ones,
                    const In<uint64_t>& any, const In<bool>& full, const In<int64_t>& starts, const In<uint64_t>& keys,
                    const In<int64_t>& counts) {
    const size_t n = census.features.size();
    expect(missing.size() == n && zeros.size() == n && ones.size() == n && any.size() == n && full.size() == n,
           "one entry per feature is expected");
    expect(keys.size() == counts.size(), "one count per key is expected");
    expect_runs(starts, n, keys.size(), "starts must cover the keys and not decrease");
    expect_within(keys, uint64_t{1}, ~uint64_t{0}, "keys of 1 or more are expected");
    for (const auto* rows : {&missing, &zeros, &counts})
        expect(sum_of_counts(rows->data(), static_cast<int64_t>(rows->size()), kMostWeight) >= 0,
               "counts of 0 or more, and a sum of at most 2**62, are expected");
    nb::gil_scoped_release release;
    const std::lock_guard<std::mutex> lock(census.in_use);
    for (size_t f = 0; f < n; ++f) {
        FeatureCensus& feature = census.features[f];
        feature.missing += static_cast<uint64_t>(missing(f));
        feature.zeros += static_cast<uint64_t>(zeros(f));
        feature.ones &= ones(f);
        feature.any |= any(f);
        if (full(f) && !feature.full()) feature.fill();
        for (int64_t i = starts(f); i < starts(f + 1); ++i)
            feature.add(keys(i), static_cast<uint64_t>(counts(i)), census.limit);
    }
}

void count_parts(const nb::tuple& items, const In<int64_t>& starts, const In<uint64_t>& low, const In<uint64_t>& high,
                 const In<int64_t>& digit_shift, const In<int64_t>& digits, const InOut<int64_t>& counts,
                 const InOut<uint64_t>& ones, const InOut<uint64_t>& any) {
    Held held;
    const auto columns = columns_of(items, held);
    const size_t n_features = columns.size();
    expect_runs(starts, n_features, low.size(), "starts must cover the cells and not decrease");
    expect(high.size() == low.size() && digit_shift.size() == low.size() && digits.size() == low.size(),
           "one entry per cell is expected");
    std::vector<DividedCells> divided(n_features);
    size_t n_parts = 0;
    for (size_t f = 0; f < n_features; ++f) {
        for (int64_t i = starts(f); i < starts(f + 1); ++i) {
            expect(0 <= digits(i) && digits(i) <= kMostDigits && 0 <= digit_shift(i) &&
                       digit_shift(i) <= kOctaveShift - digits(i),
                   "a cell is divided by 0 to 16 of its bits");
            expect(low(i) >> kOctaveShift == high(i) >> kOctaveShift, "a cell must lie in one octave");
            expect(i == starts(f) || high(i - 1) < low(i), "cells must be in order");
            const uint64_t mask = (uint64_t{1} << digits(i)) - 1;
            divided[f].cells.push_back({low(i), high(i), n_parts, static_cast<int>(digit_shift(i)), mask});
            ++divided[f].first[(low(i) >> kOctaveShift) + 1];
            n_parts += mask + 1;
        }
        std::partial_sum(divided[f].first.begin(), divided[f].first.end(), divided[f].first.begin());
    }
    expect(counts.size() == n_parts && ones.size() == n_parts && any.size() == n_parts,
           "one entry per part of a cell is expected");
    expect_within(counts, int64_t{0}, kMostWeight, "counts of 0 or more are expected");

    nb::gil_scoped_release release;
    PartCounts parts{counts.data(), ones.data(), any.data()};
    uint64_t keys[kBlock];
    const int64_t n_rows = columns.empty() ? 0 : columns[0].size;
    for (int64_t begin = 0; begin < n_rows; begin += kBlock)
        for (size_t f = 0; f < n_features; ++f) {
            const size_t n = gather_keys(columns[f], begin, std::min(begin + kBlock, n_rows), keys);
            parts.add(divided[f], keys, n);
        }
}

Out<int64_t> equal_bins_of(const In<int64_t>& counts, int64_t max_bins) {
    expect(max_bins >= 1, "at least one bin is expected");
    expect(sum_of_counts(counts.data(), static_cast<int64_t>(counts.size()), kMostSum) >= 0,
           "counts of 0 or more, and a sum of at most 2**61, are expected");
    return to_numpy(equal_bins(counts.data(), counts.size(), max_bins));
}

// Calls `action(f, column)` for each column f, of float64 numbers or of int32 codes.
template <class Action>
void each_column(const nb::tuple& items, Action action) {
    size_t f = 0;
    for (nb::handle item : items) {
        Held held;
        nb::ndarray<const int32_t, nb::ndim<1>, nb::device::cpu> codes;
        if (nb::try_cast(item, codes, false)) action(f++, column_of<int32_t>(item, held));
        else action(f++, column_of<double>(item, held));
    }
}

Out<int64_t> count_distinct(const nb::tuple& items) {
    std::vector<int64_t> found(items.size());
    DistinctValues values;
    each_column(items, [&](size_t f, const auto& column) { found[f] = values.count(column); });
    return to_numpy(std::move(found));
}

Out<double> compare_rows(const nb::tuple& items, const In<int64_t>& inside, const In<int64_t>& outside) {
    expect(inside.size() == outside.size(), "as many rows inside as outside are expected");
    std::vector<double> found(3 * items.size());
    each_column(items, [&](size_t f, const auto& column) {
        for (const auto* rows : {&inside, &outside})
            expect_within(*rows, int64_t{0}, column.size - 1, "rows of the columns are expected");
        const auto n = static_cast<int64_t>(inside.size());
        const PairShares shares = pair_shares(column, inside.data(), outside.data(), n);
        found[f] = shares.equal;
        found[items.size() + f] = shares.below;
        found[2 * items.size() + f] = shares.repeated;
    });
    return to_numpy(std::move(found), {3, items.size()});
}

template <class Between>
Out<double> each_between(const In<double>& left, const In<double>& right, Between between) {
    expect(left.size() == right.size(), "as many left as right numbers are expected");
    std::vector<double> found(left.size());
    std::transform(left.begin(), left.end(), right.begin(), found.begin(), between);
    return to_numpy(std::move(found));
}

// Ranks of the numeric columns, in the columns `at` of `out`; returns the keys of their distinct values.
nb::tuple rank_columns(const nb::tuple& items, const In<int32_t>& at, const Matrix<uint16_t>& out) {
    Held held;
    const auto columns = columns_of(items, held);
    const auto n_rows = static_cast<int64_t>(out.shape(0)), stride = static_cast<int64_t>(out.shape(1));
    expect(at.size() == columns.size(), "a place for each column is expected");
    expect_within(at, 0, static_cast<int32_t>(stride) - 1, "columns of the result are expected");
    expect(n_rows < std::numeric_limits<uint16_t>::max(), "fewer than 65,535 rows are expected");
    std::vector<uint64_t> keys;
    std::vector<int64_t> starts{0};
    expect(columns.empty() || columns[0].size == n_rows, "columns must have as many rows as the result");
    {
        nb::gil_scoped_release release;
        Ranks ranks;
        for (size_t f = 0; f < columns.size(); ++f) {
            ranks.add(columns[f], keys, out.data() + at(f), stride);
            starts.push_back(static_cast<int64_t>(keys.size()));
        }
    }
    return nb::make_tuple(to_numpy(std::move(keys)), to_numpy(std::move(starts)));
}

// Whether an edge is not above the one before it; NaN is out of order too.
bool not_before(double edge, double before) { return !(edge > before); }

template <class Code>
int64_t encode(const nb::tuple& items, const In<double>& edges, const In<int64_t>& starts, const In<int32_t>& n_codes,
               const In<bool>& nominal, int64_t begin, int64_t end, const Matrix<Code>& out) {
    const size_t n_features = items.size();
    expect(starts.size() == n_features + 1 && n_codes.size() == n_features && nominal.size() == n_features &&
               out.shape(1) == n_features,
           "one entry per column is expected");
    expect(0 <= begin && begin <= end && end <= static_cast<int64_t>(out.shape(0)), "rows outside of the result");
    std::vector<Column<double>> numbers(n_features);
    std::vector<Column<int32_t>> categories(n_features);
    std::vector<EdgeSearch> searches;
    Held held;
    const int64_t n_edges = static_cast<int64_t>(edges.size());
    for (size_t f = 0; f < n_features; ++f) {
        expect(n_codes(f) >= 1 && n_codes(f) <= std::numeric_limits<Code>::max(), "codes do not fit the result");
        expect(0 <= starts(f) && starts(f) <= starts(f + 1) && starts(f + 1) <= n_edges,
               "starts must not decrease nor leave the edges");
        expect(std::is_sorted(edges.begin() + starts(f), edges.begin() + starts(f + 1), not_before),
               "edges must increase");
        expect(starts(f + 1) - starts(f) < n_codes(f), "a feature has fewer edges than codes");
        searches.emplace_back(edges.data() + starts(f), edges.data() + starts(f + 1), end - begin);
        if (nominal(f)) categories[f] = column_of<int32_t>(items[f], held);
        else numbers[f] = column_of<double>(items[f], held);
        expect((nominal(f) ? categories[f].size : numbers[f].size) == static_cast<int64_t>(out.shape(0)),
               "columns must have as many rows as the result");
    }

    nb::gil_scoped_release release;
    int64_t unknown = -1;
    for (int64_t row = begin; row < end; row += kBlock)
        for (size_t f = 0; f < n_features; ++f) {
            const int64_t stop = std::min<int64_t>(row + kBlock, end);
            const int64_t stride = static_cast<int64_t>(n_features);
            Code* codes = out.data() + row * stride + static_cast<int64_t>(f);
            const Code missing = static_cast<Code>(n_codes(f));
            if (!nominal(f)) searches[f].encode(numbers[f], row, stop, missing, codes, stride);
            else if (!copy_codes(categories[f], row, stop, missing, codes, stride) && unknown < 0)
                unknown = static_cast<int64_t>(f);
        }
    return unknown;
}

}  // namespace
}  // namespace hornbeam

void bind_binning(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    nb::class_<Census>(module, "Census")
        .def("__init__", &construct, nb::arg("n_features"), nb::arg("limit"))
        .def("add", &census_add, nb::arg("columns"))
        .def("merge", &census_merge, nb::arg("other"))
        .def("entries", &census_entries)
        .def("restore", &census_restore, nb::arg("missing"), nb::arg("zeros"), nb::arg("ones"), nb::arg("some"),
             nb::arg("full"), nb::arg("starts"), nb::arg("keys"), nb::arg("counts"));
    module.def("count_parts", &count_parts, nb::arg("columns"), nb::arg("starts"), nb::arg("low"), nb::arg("high"),
               nb::arg("digit_shift"), nb::arg("digits"), nb::arg("counts"), nb::arg("ones"), nb::arg("some"));
    const auto between = [&](const char* name, double (*function)(double, double)) {
        module.def(
            name,
            [function](const In<double>& left, const In<double>& right) { return each_between(left, right, function); },
            nb::arg("left"), nb::arg("right"));
    };
    between("midpoint", midpoint);
    between("shortest_between", shortest_between);
    module.def("count_distinct", &count_distinct, nb::arg("columns"));
    module.def("compare_rows", &compare_rows, nb::arg("columns"), nb::arg("inside"), nb::arg("outside"));
    module.def("rank_columns", &rank_columns, nb::arg("columns"), nb::arg("at"), nb::arg("out"));
    module.def("equal_bins", &equal_bins_of, nb::arg("counts"), nb::arg("max_bins"));
    const auto bind = [&](const char* name, auto function) {
        module.def(name, function, nb::arg("columns"), nb::arg("edges"), nb::arg("starts"), nb::arg("n_codes"),
                   nb::arg("nominal"), nb::arg("begin"), nb::arg("end"), nb::arg("out"));
    };
    bind("encode_uint8", &encode<uint8_t>);
    bind("encode_uint16", &encode<uint16_t>);
}
