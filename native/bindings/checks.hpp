// Common checks of arguments. A failed check raises a ValueError.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "bindings/arrays.hpp"
#include "growing/split.hpp"
#include "math/compiler.hpp"

namespace hornbeam {

constexpr int64_t kMostWeight = int64_t{1} << 62;  // of all rows, in steps
constexpr int64_t kMostSum =
    (int64_t{1} << 61) +
    (int64_t{1} << 40);  // of the absolute values of all numerators, so that differences fit 64 bits

inline void expect(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

// Without a branch on the numbers, so that compilers use vector instructions.
template <class Numbers, class Number>
void expect_within(const Numbers& numbers, Number least, Number most, const char* message) {
    bool good = true;
    for (const auto x : numbers) good &= (x >= least) & (x <= most);
    expect(good, message);
}

template <class Numbers>
void expect_finite(const Numbers& numbers, const char* message) {
    expect_within(numbers, -std::numeric_limits<double>::max(), std::numeric_limits<double>::max(), message);
}

// Run i contains the items from starts[i] up to starts[i + 1]; the runs must cover all items.
template <class Starts>
void expect_runs(const Starts& starts, size_t n_runs, size_t n_items, const char* message) {
    const int64_t* start = starts.data();
    expect(starts.size() == n_runs + 1 && start[0] == 0 && start[n_runs] == static_cast<int64_t>(n_items), message);
    bool good = true;
    for (size_t i = 0; i < n_runs; ++i) good &= start[i] <= start[i + 1];
    expect(good, message);
}

inline void expect_rows(int64_t begin, int64_t end, size_t n_rows) {
    expect(0 <= begin && begin <= end && end <= static_cast<int64_t>(n_rows), "rows within the table expected");
}

inline void expect_bounds(const Bounds& bounds) {
    expect(!std::isnan(bounds.lower) && !std::isnan(bounds.upper), "bounds expected, found NaN");
}

// The sum of absolute values; -1: above `most`.
inline int64_t sum_of_sizes(const int64_t* numbers, int64_t n, int64_t most) {
    uint64_t low = 0, high = 0;  // 32 bits of each number, so that no sum overflows
    for (int64_t i = 0; i < n; ++i) {
        const auto bits = static_cast<uint64_t>(numbers[i]), size = numbers[i] < 0 ? 0 - bits : bits;
        low += size & 0xffffffff;
        high += size >> 32;
    }
    const UnsignedWide sum = (static_cast<UnsignedWide>(high) << 32) + low;
    return sum <= static_cast<UnsignedWide>(most) ? static_cast<int64_t>(sum) : -1;
}

// The sum of numbers that must be 0 or more; -1: one is negative, or the sum is above `most`.
inline int64_t sum_of_counts(const int64_t* numbers, int64_t n, int64_t most) {
    int64_t signs = 0;
    for (int64_t i = 0; i < n; ++i) signs |= numbers[i];
    return signs < 0 ? -1 : sum_of_sizes(numbers, n, most);
}

// A checked copy, which the caller cannot change while a kernel reads it. Limits beyond any table are lowered so that
// twice the limit fits 64 bits.
inline Rules checked(Rules rules) {
    const auto number = [](double x) { return x >= 0; };  // infinity: a limit that is never reached
    const auto finite = [](double x) { return x >= 0 && x <= std::numeric_limits<double>::max(); };
    expect(rules.min_rows_split >= 0 && rules.min_rows_leaf >= 0 && rules.min_weight_leaf >= 0 && rules.max_depth >= 0,
           "rules: limits of 0 or more expected");
    expect(0 <= rules.total_weight && rules.total_weight <= kMostWeight && rules.total_rows >= 0,
           "rules: a total weight from 0 to 2**62 and 0 or more rows expected");
    expect(finite(rules.unit) && rules.unit > 0 && finite(rules.numerator_unit) && rules.numerator_unit > 0,
           "rules: units above 0 expected");
    expect(finite(rules.rows_per_step) && finite(rules.rows_per_row) && finite(rules.ridge) && finite(rules.rounding) &&
               finite(rules.price_unit),
           "rules: finite numbers of 0 or more expected");
    expect(number(rules.dispersion) && number(rules.min_decrease) && number(rules.min_rows_missing),
           "rules: numbers of 0 or more expected");
    constexpr int64_t beyond = int64_t{1} << 61;
    rules.min_rows_split = std::min(rules.min_rows_split, beyond);
    rules.min_rows_leaf = std::min(rules.min_rows_leaf, beyond);
    rules.min_weight_leaf = std::min(rules.min_weight_leaf, beyond);
    return rules;
}

}  // namespace hornbeam
