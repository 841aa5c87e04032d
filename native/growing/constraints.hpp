// Limits on growing that do not depend on the split: whether a node may be split, and the bounds of its children.
#pragma once

#include <cstdint>

#include "growing/split.hpp"

namespace hornbeam {

inline bool may_split(const Rules& rules, int64_t rows, int64_t weight, int64_t depth) {
    return rows >= rules.min_rows_split && rows >= 2 * rules.min_rows_leaf && weight >= 2 * rules.min_weight_leaf &&
           depth < rules.max_depth;
}

// Below a cut of a monotone feature the first two children stay on their sides of the mean of their rates. A split into
// known and missing values has no order and sets no bounds. `rate(slot)`: the rate of a child.
template <class Rate>
Bounds child_bounds(Bounds bounds, const Features& features, const Split& split, int slot, Rate&& rate) {
    const int f = split.feature, sign = features.monotone ? features.monotone[f] : 0;
    const bool ordered = !features.nominal[f] && split.right < features.n_codes[f];
    if (sign == 0 || !ordered || slot > 1) return bounds;
    const double middle = (rate(0) + rate(1)) / 2;
    ((slot == 0) == (sign > 0) ? bounds.upper : bounds.lower) = middle;
    return bounds;
}

}  // namespace hornbeam
