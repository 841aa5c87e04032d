// Python's door to the kernels of binning: checks, then loops without the interpreter.
#include "encode.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <numeric>
#include <string>

#include "cuts.hpp"

namespace nb = nanobind;
using namespace hornbeam;

namespace {

template <class T>
using Array = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Result = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

void require(bool condition, const char* message) {
    if (!condition) throw nb::value_error(message);
}

template <class T>
Column<T> column_of(nb::handle item) {
    nb::ndarray<const T, nb::ndim<1>, nb::device::cpu> array;
    if (!nb::try_cast(item, array, false)) {
        const std::string expected = sizeof(T) == 8 ? "float64" : "int32";
        throw nb::type_error(("a column must be a one-dimensional array of " + expected).c_str());
    }
    return {array.data(), static_cast<std::ptrdiff_t>(array.stride(0)), static_cast<std::ptrdiff_t>(array.shape(0))};
}

std::vector<Column<double>> columns_of(const nb::tuple& items) {
    std::vector<Column<double>> columns;
    for (nb::handle item : items) columns.push_back(column_of<double>(item));
    for (const auto& column : columns) require(column.size == columns[0].size, "columns must have the same length");
    return columns;
}

template <class T, class U>
Result<T> result_of(const std::vector<U>& items) {
    T* data = new T[items.size()];
    std::copy(items.begin(), items.end(), data);
    return {data, {items.size()}, nb::capsule(data, [](void* p) noexcept { delete[] static_cast<T*>(p); })};
}

void census_add(Census& census, const nb::tuple& items) {
    const auto columns = columns_of(items);
    require(columns.size() == census.features.size(), "as many columns as features are expected");
    nb::gil_scoped_release release;
    census.add(columns);
}

void census_absorb(Census& census, const Census& other) {
    require(&census != &other && census.limit == other.limit && census.features.size() == other.features.size(),
            "only another census of the same features and limit can be absorbed");
    nb::gil_scoped_release release;
    census.absorb(other);
}

nb::tuple census_entries(const Census& census) {
    std::vector<std::int64_t> missing, zeros, starts{0}, counts;
    std::vector<std::uint64_t> ones, any, keys;
    std::vector<bool> full;
    for (const FeatureCensus& feature : census.features) {
        missing.push_back(static_cast<std::int64_t>(feature.missing));
        zeros.push_back(static_cast<std::int64_t>(feature.zeros));
        ones.push_back(feature.ones);
        any.push_back(feature.any);
        full.push_back(feature.full());
        for (const auto& [key, count] : feature.sorted()) {
            keys.push_back(key);
            counts.push_back(static_cast<std::int64_t>(count));
        }
        starts.push_back(static_cast<std::int64_t>(keys.size()));
    }
    return nb::make_tuple(result_of<std::int64_t>(missing), result_of<std::int64_t>(zeros),
                          result_of<std::uint64_t>(ones), result_of<std::uint64_t>(any), result_of<bool>(full),
                          result_of<std::int64_t>(starts), result_of<std::uint64_t>(keys),
                          result_of<std::int64_t>(counts));
}

void census_restore(Census& census, Array<const std::int64_t> missing, Array<const std::int64_t> zeros,
                    Array<const std::uint64_t> ones, Array<const std::uint64_t> any, Array<const bool> full,
                    Array<const std::int64_t> starts, Array<const std::uint64_t> keys,
                    Array<const std::int64_t> counts) {
    const std::size_t n = census.features.size();
    require(missing.size() == n && zeros.size() == n && ones.size() == n && any.size() == n && full.size() == n &&
                starts.size() == n + 1,
            "one entry per feature is expected");
    require(keys.size() == counts.size() && starts(0) == 0 && starts(n) == static_cast<std::int64_t>(keys.size()),
            "starts must cover the keys");
    for (std::size_t f = 0; f < n; ++f) {
        require(starts(f) <= starts(f + 1), "starts must not decrease");
        FeatureCensus& feature = census.features[f];
        feature.missing += static_cast<std::uint64_t>(missing(f));
        feature.zeros += static_cast<std::uint64_t>(zeros(f));
        feature.ones &= ones(f);
        feature.any |= any(f);
        if (full(f)) feature.fill();
        for (std::int64_t i = starts(f); i < starts(f + 1); ++i)
            feature.add(keys(i), static_cast<std::uint64_t>(counts(i)), census.limit);
    }
}

void tally(const nb::tuple& items, Array<const std::int64_t> starts, Array<const std::uint64_t> low,
           Array<const std::uint64_t> high, Array<const std::int64_t> digit_shift, Array<const std::int64_t> digits,
           Array<std::int64_t> counts, Array<std::uint64_t> ones, Array<std::uint64_t> any) {
    const auto columns = columns_of(items);
    const std::size_t n_features = columns.size();
    const std::int64_t n_cells = static_cast<std::int64_t>(low.size());
    require(starts.size() == n_features + 1 && starts(0) == 0 && starts(n_features) == n_cells,
            "starts must cover the cells");
    require(high.size() == low.size() && digit_shift.size() == low.size() && digits.size() == low.size(),
            "one entry per cell is expected");
    std::vector<Parents> parents(n_features);
    std::size_t n_parts = 0;
    for (std::size_t f = 0; f < n_features; ++f) {
        require(starts(f) <= starts(f + 1), "starts must not decrease");
        for (std::int64_t i = starts(f); i < starts(f + 1); ++i) {
            require(0 <= digits(i) && digits(i) <= kMostDigits && 0 <= digit_shift(i) &&
                        digit_shift(i) + digits(i) <= kOctaveShift,
                    "a cell is divided by 0 to 16 of its bits");
            require(low(i) >> kOctaveShift == high(i) >> kOctaveShift, "a cell must lie in one octave");
            require(i == starts(f) || high(i - 1) < low(i), "cells must be in order");
            const std::uint64_t mask = (std::uint64_t{1} << digits(i)) - 1;
            parents[f].cells.push_back({low(i), high(i), n_parts, static_cast<int>(digit_shift(i)), mask});
            ++parents[f].first[(low(i) >> kOctaveShift) + 1];
            n_parts += mask + 1;
        }
        std::partial_sum(parents[f].first.begin(), parents[f].first.end(), parents[f].first.begin());
    }
    require(counts.size() == n_parts && ones.size() == n_parts && any.size() == n_parts,
            "one entry per part of a cell is expected");

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

Result<std::int64_t> share_counts(Array<const std::int64_t> counts, std::int64_t max_bins) {
    require(max_bins >= 1, "at least one bin is expected");
    return result_of<std::int64_t>(share(counts.data(), counts.size(), max_bins));
}

template <class Code>
std::int64_t encode(const nb::tuple& items, Array<const double> edges, Array<const std::int64_t> starts,
                    Array<const std::int32_t> n_codes, Array<const bool> nominal, std::int64_t begin, std::int64_t end,
                    Matrix<Code> out) {
    const std::size_t n_features = items.size();
    require(starts.size() == n_features + 1 && n_codes.size() == n_features && nominal.size() == n_features &&
                out.shape(1) == n_features,
            "one entry per column is expected");
    require(0 <= begin && begin <= end && end <= static_cast<std::int64_t>(out.shape(0)), "rows outside of the result");
    std::vector<Column<double>> numbers(n_features);
    std::vector<Column<std::int32_t>> categories(n_features);
    std::vector<Ladder> ladders;
    const std::int64_t n_edges = static_cast<std::int64_t>(edges.size());
    for (std::size_t f = 0; f < n_features; ++f) {
        require(n_codes(f) >= 1 && n_codes(f) <= std::numeric_limits<Code>::max(), "codes do not fit the result");
        require(0 <= starts(f) && starts(f) <= starts(f + 1) && starts(f + 1) <= n_edges,
                "starts must not decrease nor leave the edges");
        require(starts(f + 1) - starts(f) < n_codes(f), "a feature has fewer edges than codes");
        ladders.emplace_back(edges.data() + starts(f), edges.data() + starts(f + 1), end - begin);
        if (nominal(f))
            categories[f] = column_of<std::int32_t>(items[f]);
        else
            numbers[f] = column_of<double>(items[f]);
        require((nominal(f) ? categories[f].size : numbers[f].size) == static_cast<std::ptrdiff_t>(out.shape(0)),
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
            if (!nominal(f))
                ladders[f].encode(numbers[f], row, stop, missing, codes, stride);
            else if (!copy_block(categories[f], row, stop, missing, codes, stride) && unknown < 0)
                unknown = static_cast<std::int64_t>(f);
        }
    return unknown;
}

}  // namespace

void bind_encode(nb::module_& module) {
    nb::class_<Census>(module, "Census")
        .def(nb::init<std::size_t, std::size_t>())
        .def("add", &census_add)
        .def("absorb", &census_absorb)
        .def("entries", &census_entries)
        .def("restore", &census_restore);
    // What is written to is never converted: the numbers would end in a copy.
    module.def("tally", &tally, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
               nb::arg("counts").noconvert(), nb::arg("ones").noconvert(), nb::arg("some").noconvert());
    module.def("share", &share_counts);
    module.def("encode_uint8", &encode<std::uint8_t>, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
               nb::arg(), nb::arg("out").noconvert());
    module.def("encode_uint16", &encode<std::uint16_t>, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
               nb::arg(), nb::arg(), nb::arg("out").noconvert());
}
