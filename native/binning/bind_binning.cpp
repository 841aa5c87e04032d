// Python's door to the kernels of binning: checks, then loops without the interpreter.
#include "binning/encode.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <mutex>
#include <numeric>
#include <string>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"
#include "binning/cuts.hpp"

using namespace hornbeam;

namespace {

template <class T>
Column<T> column_of(nb::handle item) {
    nb::ndarray<const T, nb::ndim<1>, nb::device::cpu> array;
    if (!nb::try_cast(item, array, false) || !aligned<T>(array.data())) {
        const std::string expected = sizeof(T) == 8 ? "float64" : "int32";
        throw nb::type_error(("a column must be a one-dimensional, aligned array of " + expected).c_str());
    }
    return {array.data(), static_cast<std::ptrdiff_t>(array.stride(0)), static_cast<std::ptrdiff_t>(array.shape(0))};
}

std::vector<Column<double>> columns_of(const nb::tuple& items) {
    std::vector<Column<double>> columns;
    for (nb::handle item : items) columns.push_back(column_of<double>(item));
    for (const auto& column : columns) expect(column.size == columns[0].size, "columns must have the same length");
    return columns;
}

constexpr std::size_t kMostFeatures = std::size_t{1} << 24;

void construct(Census* place, std::size_t n_features, std::size_t limit) {
    expect(n_features <= kMostFeatures, "at most 2**24 features are expected");
    new (place) Census(n_features, limit);
}

void census_add(Census& census, const nb::tuple& items) {
    const auto columns = columns_of(items);
    expect(columns.size() == census.features.size(), "as many columns as features are expected");
    nb::gil_scoped_release release;
    const std::lock_guard<std::mutex> alone(census.in_use);
    census.add(columns);
}

void census_absorb(Census& census, Census& other) {
    expect(&census != &other && census.limit == other.limit && census.features.size() == other.features.size(),
           "only another census of the same features and limit can be absorbed");
    nb::gil_scoped_release release;
    const std::scoped_lock alone(census.in_use, other.in_use);
    census.absorb(other);
}

// What a census found, feature after feature.
struct Entries {
    std::vector<std::int64_t> missing, zeros, starts{0}, counts;
    std::vector<std::uint64_t> ones, any, keys;
    std::vector<std::uint8_t> full;
};

Entries entries_of(Census& census) {
    nb::gil_scoped_release release;
    const std::lock_guard<std::mutex> alone(census.in_use);
    Entries found;
    for (const FeatureCensus& feature : census.features) {
        found.missing.push_back(static_cast<std::int64_t>(feature.missing));
        found.zeros.push_back(static_cast<std::int64_t>(feature.zeros));
        found.ones.push_back(feature.ones);
        found.any.push_back(feature.any);
        found.full.push_back(feature.full());
        for (const auto& [key, count] : feature.sorted()) {
            found.keys.push_back(key);
            found.counts.push_back(static_cast<std::int64_t>(count));
        }
        found.starts.push_back(static_cast<std::int64_t>(found.keys.size()));
    }
    return found;
}

nb::tuple census_entries(Census& census) {
    Entries found = entries_of(census);
    return nb::make_tuple(give(std::move(found.missing)), give(std::move(found.zeros)), give(std::move(found.ones)),
                          give(std::move(found.any)), give_bools(std::move(found.full)), give(std::move(found.starts)),
                          give(std::move(found.keys)), give(std::move(found.counts)));
}

// Checks everything before anything is added.
void census_restore(Census& census, const In<std::int64_t>& missing, const In<std::int64_t>& zeros,
                    const In<std::uint64_t>& ones, const In<std::uint64_t>& any, const In<bool>& full,
                    const In<std::int64_t>& starts, const In<std::uint64_t>& keys, const In<std::int64_t>& counts) {
    const std::size_t n = census.features.size();
    expect(missing.size() == n && zeros.size() == n && ones.size() == n && any.size() == n && full.size() == n,
           "one entry per feature is expected");
    expect(keys.size() == counts.size(), "one count per key is expected");
    expect_runs(starts, n, keys.size(), "starts must cover the keys and not decrease");
    expect_within(keys, std::uint64_t{1}, ~std::uint64_t{0}, "keys of 1 or more are expected");
    for (const auto* rows : {&missing, &zeros, &counts})
        expect(sum_of_counts(rows->data(), static_cast<std::int64_t>(rows->size()), kMostWeight) >= 0,
               "counts of 0 or more, and a sum of at most 2**62, are expected");
    nb::gil_scoped_release release;
    const std::lock_guard<std::mutex> alone(census.in_use);
    for (std::size_t f = 0; f < n; ++f) {
        FeatureCensus& feature = census.features[f];
        feature.missing += static_cast<std::uint64_t>(missing(f));
        feature.zeros += static_cast<std::uint64_t>(zeros(f));
        feature.ones &= ones(f);
        feature.any |= any(f);
        if (full(f) && !feature.full()) feature.fill();
        for (std::int64_t i = starts(f); i < starts(f + 1); ++i)
            feature.add(keys(i), static_cast<std::uint64_t>(counts(i)), census.limit);
    }
}

void tally(const nb::tuple& items, const In<std::int64_t>& starts, const In<std::uint64_t>& low,
           const In<std::uint64_t>& high, const In<std::int64_t>& digit_shift, const In<std::int64_t>& digits,
           const InOut<std::int64_t>& counts, const InOut<std::uint64_t>& ones, const InOut<std::uint64_t>& any) {
    const auto columns = columns_of(items);
    const std::size_t n_features = columns.size();
    expect_runs(starts, n_features, low.size(), "starts must cover the cells and not decrease");
    expect(high.size() == low.size() && digit_shift.size() == low.size() && digits.size() == low.size(),
           "one entry per cell is expected");
    std::vector<Parents> parents(n_features);
    std::size_t n_parts = 0;
    for (std::size_t f = 0; f < n_features; ++f) {
        for (std::int64_t i = starts(f); i < starts(f + 1); ++i) {
            expect(0 <= digits(i) && digits(i) <= kMostDigits && 0 <= digit_shift(i) &&
                       digit_shift(i) <= kOctaveShift - digits(i),
                   "a cell is divided by 0 to 16 of its bits");
            expect(low(i) >> kOctaveShift == high(i) >> kOctaveShift, "a cell must lie in one octave");
            expect(i == starts(f) || high(i - 1) < low(i), "cells must be in order");
            const std::uint64_t mask = (std::uint64_t{1} << digits(i)) - 1;
            parents[f].cells.push_back({low(i), high(i), n_parts, static_cast<int>(digit_shift(i)), mask});
            ++parents[f].first[(low(i) >> kOctaveShift) + 1];
            n_parts += mask + 1;
        }
        std::partial_sum(parents[f].first.begin(), parents[f].first.end(), parents[f].first.begin());
    }
    expect(counts.size() == n_parts && ones.size() == n_parts && any.size() == n_parts,
           "one entry per part of a cell is expected");
    expect_within(counts, std::int64_t{0}, kMostWeight, "counts of 0 or more are expected");

    nb::gil_scoped_release release;
    Parts parts{counts.data(), ones.data(), any.data()};
    std::uint64_t keys[kBlock];
    const std::ptrdiff_t n_rows = columns.empty() ? 0 : columns[0].size;
    for (std::ptrdiff_t begin = 0; begin < n_rows; begin += kBlock)
        for (std::size_t f = 0; f < n_features; ++f) {
            const std::size_t n = gather_keys(columns[f], begin, std::min(begin + kBlock, n_rows), keys);
            parts.add(parents[f], keys, n);
        }
}

Out<std::int64_t> share_counts(const In<std::int64_t>& counts, std::int64_t max_bins) {
    expect(max_bins >= 1, "at least one bin is expected");
    expect(sum_of_counts(counts.data(), static_cast<std::int64_t>(counts.size()), kMostSum) >= 0,
           "counts of 0 or more, and a sum of at most 2**61, are expected");
    return give(share(counts.data(), counts.size(), max_bins));
}

// Whether an edge is not above the one before it: so NaN is out of order, too.
bool not_before(double edge, double before) { return !(edge > before); }

template <class Code>
std::int64_t encode(const nb::tuple& items, const In<double>& edges, const In<std::int64_t>& starts,
                    const In<std::int32_t>& n_codes, const In<bool>& nominal, std::int64_t begin, std::int64_t end,
                    const Matrix<Code>& out) {
    const std::size_t n_features = items.size();
    expect(starts.size() == n_features + 1 && n_codes.size() == n_features && nominal.size() == n_features &&
               out.shape(1) == n_features,
           "one entry per column is expected");
    expect(0 <= begin && begin <= end && end <= static_cast<std::int64_t>(out.shape(0)), "rows outside of the result");
    std::vector<Column<double>> numbers(n_features);
    std::vector<Column<std::int32_t>> categories(n_features);
    std::vector<Ladder> ladders;
    const std::int64_t n_edges = static_cast<std::int64_t>(edges.size());
    for (std::size_t f = 0; f < n_features; ++f) {
        expect(n_codes(f) >= 1 && n_codes(f) <= std::numeric_limits<Code>::max(), "codes do not fit the result");
        expect(0 <= starts(f) && starts(f) <= starts(f + 1) && starts(f + 1) <= n_edges,
               "starts must not decrease nor leave the edges");
        expect(std::is_sorted(edges.begin() + starts(f), edges.begin() + starts(f + 1), not_before),
               "edges must increase");
        expect(starts(f + 1) - starts(f) < n_codes(f), "a feature has fewer edges than codes");
        ladders.emplace_back(edges.data() + starts(f), edges.data() + starts(f + 1), end - begin);
        if (nominal(f)) categories[f] = column_of<std::int32_t>(items[f]);
        else numbers[f] = column_of<double>(items[f]);
        expect((nominal(f) ? categories[f].size : numbers[f].size) == static_cast<std::ptrdiff_t>(out.shape(0)),
               "columns must have as many rows as the result");
    }

    nb::gil_scoped_release release;
    std::int64_t unknown = -1;
    for (std::ptrdiff_t row = begin; row < end; row += kBlock)
        for (std::size_t f = 0; f < n_features; ++f) {
            const std::ptrdiff_t stop = std::min<std::ptrdiff_t>(row + kBlock, end);
            const std::ptrdiff_t stride = static_cast<std::ptrdiff_t>(n_features);
            Code* codes = out.data() + row * stride + static_cast<std::ptrdiff_t>(f);
            const Code missing = static_cast<Code>(n_codes(f));
            if (!nominal(f)) ladders[f].encode(numbers[f], row, stop, missing, codes, stride);
            else if (!copy_block(categories[f], row, stop, missing, codes, stride) && unknown < 0)
                unknown = static_cast<std::int64_t>(f);
        }
    return unknown;
}

}  // namespace

void bind_encode(nb::module_& module) {
    nb::class_<Census>(module, "Census")
        .def("__init__", &construct, nb::arg("n_features"), nb::arg("limit"))
        .def("add", &census_add, nb::arg("columns"))
        .def("absorb", &census_absorb, nb::arg("other"))
        .def("entries", &census_entries)
        .def("restore", &census_restore, nb::arg("missing"), nb::arg("zeros"), nb::arg("ones"), nb::arg("some"),
             nb::arg("full"), nb::arg("starts"), nb::arg("keys"), nb::arg("counts"));
    module.def("tally", &tally, nb::arg("columns"), nb::arg("starts"), nb::arg("low"), nb::arg("high"),
               nb::arg("digit_shift"), nb::arg("digits"), nb::arg("counts"), nb::arg("ones"), nb::arg("some"));
    module.def("share", &share_counts, nb::arg("counts"), nb::arg("max_bins"));
    const auto bind = [&](const char* name, auto function) {
        module.def(name, function, nb::arg("columns"), nb::arg("edges"), nb::arg("starts"), nb::arg("n_codes"),
                   nb::arg("nominal"), nb::arg("begin"), nb::arg("end"), nb::arg("out"));
    };
    bind("encode_uint8", &encode<std::uint8_t>);
    bind("encode_uint16", &encode<std::uint16_t>);
}
