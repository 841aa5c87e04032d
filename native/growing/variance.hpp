// The variance of the target over rows that carry numerators.
#pragma once

#include <algorithm>
#include <cstdint>

#include "growing/entries.hpp"
#include "growing/split.hpp"
#include "math/compiler.hpp"

namespace hornbeam {

// The square of a row's numerator over its weight, rounded down; the sum over all rows of a table fits 128 bits.
inline Wide square_of(int64_t numerator, const int64_t* weight, int64_t row) {
    const Wide square = static_cast<Wide>(numerator) * numerator;
    return weight && weight[row] > 1 ? square / weight[row] : square;
}

// The variance of numerator / weight in real units, from the sums over some rows.
inline double variance_of(Wide squares, int64_t total, int64_t sum, const Rules& rules) {
    if (total <= 0) return 0;
    const Wide around_mean = squares - static_cast<Wide>(sum) * sum / total;
    const double unit = rules.numerator_unit / rules.unit;
    return static_cast<double>(std::max<Wide>(around_mean, 0)) / static_cast<double>(total) * unit * unit;
}

// The same over some rows, with each of which `each_row` calls its argument; summed as integers, so that the order has
// no effect.
template <class EachRow>
double variance_over(const int64_t* numerator, const int64_t* weight, const Rules& rules, EachRow&& each_row) {
    Wide squares = 0;
    int64_t total = 0, sum = 0;
    each_row([&](int64_t row) {
        squares += square_of(numerator[row], weight, row);
        total += weight ? weight[row] : 1;
        sum += numerator[row];
    });
    return variance_of(squares, total, sum, rules);
}

inline double variance_of(const int64_t* numerator, const int64_t* weight, int64_t begin, int64_t end,
                          const Rules& rules) {
    return variance_over(numerator, weight, rules, [=](auto&& add) {
        for (int64_t row = begin; row < end; ++row) add(row);
    });
}

// A sum of squares in numbers of 64 bits, which Python adds and subtracts: 32 bits in each, so that no sum overflows.
constexpr int kSquareParts = 4;

inline void add_parts(int64_t* parts, Wide squares) {
    for (int i = 0; i < kSquareParts; ++i)
        parts[i] = wrapped(parts[i], static_cast<int64_t>((squares >> (32 * i)) & 0xffffffff));
}

inline Wide from_parts(const int64_t* parts) {
    UnsignedWide squares = 0;  // differences may have negative parts
    for (int i = 0; i < kSquareParts; ++i)
        squares += static_cast<UnsignedWide>(static_cast<Wide>(parts[i])) << (32 * i);
    return static_cast<Wide>(squares);
}

}  // namespace hornbeam
