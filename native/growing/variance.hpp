// The variance of the target over rows that carry numerators.
#pragma once

#include <algorithm>
#include <cstdint>

#include "growing/criteria.hpp"
#include "growing/split.hpp"

namespace hornbeam {

// The variance of numerator / weight over rows, in real units; summed as integers, so that the order has no effect.
inline double variance_of(const int64_t* numerator, const int64_t* weight, int64_t begin, int64_t end,
                          const Rules& rules) {
    Wide squares = 0;
    int64_t total = 0, sum = 0;
    for (int64_t row = begin; row < end; ++row) {
        const int64_t x = numerator[row], w = weight ? weight[row] : 1;
        const Wide square = static_cast<Wide>(x) * x;
        squares += w > 1 ? square / w : square;
        total += w;
        sum += x;
    }
    if (total <= 0) return 0;
    const Wide around_mean = squares - static_cast<Wide>(sum) * sum / total;
    const double unit = rules.numerator_unit / rules.unit;
    return static_cast<double>(std::max<Wide>(around_mean, 0)) / static_cast<double>(total) * unit * unit;
}

}  // namespace hornbeam
