// A number between two others: the middle, or the shortest decimal in the middle half.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace hornbeam {

// The middle of a pair left < right: finite, at least `left` and below `right`.
inline double midpoint(double left, double right) {
    constexpr double kLargest = std::numeric_limits<double>::max();
    left = std::max(left, -kLargest);
    const double middle = left / 2 + std::min(right, kLargest) / 2;
    return left <= middle && middle < right ? middle : left;
}

// Powers of ten beyond 10**22 are not exact as floats.
constexpr double kPowers[] = {1e-22, 1e-21, 1e-20, 1e-19, 1e-18, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11,
                              1e-10, 1e-9,  1e-8,  1e-7,  1e-6,  1e-5,  1e-4,  1e-3,  1e-2,  1e-1,  1e0,   1e1,
                              1e2,   1e3,   1e4,   1e5,   1e6,   1e7,   1e8,   1e9,   1e10,  1e11,  1e12,  1e13,
                              1e14,  1e15,  1e16,  1e17,  1e18,  1e19,  1e20,  1e21,  1e22};

// The shortest decimal in the middle half between a pair left < right: finite, at least `left` and below `right`; the
// midpoint where two floats are too close for a decimal.
inline double shortest_between(double left, double right) {
    const double middle = midpoint(left, right), low = midpoint(left, middle), high = midpoint(middle, right);
    // At most one multiple of the power of ten above the width is inside, and one to ten of the power below it.
    const auto above = static_cast<int>(std::upper_bound(std::begin(kPowers), std::end(kPowers), high - low) - kPowers);
    double shortest = middle;
    const auto try_multiple = [&](int exponent, double toward, double (*rounded)(double)) {
        // Factor and divisor are exact, so the decimal is rounded once and prints in its shortest form.
        const double factor = kPowers[22 + std::clamp(exponent, 0, 22)];
        const double divisor = kPowers[22 + std::clamp(-exponent, 0, 22)];
        const double number = rounded(toward / factor * divisor) * factor / divisor;
        if (low <= number && number <= high) shortest = number;
    };
    const int exponent = above - 23;  // of the highest power that is at most the width
    try_multiple(exponent - 1, middle, std::rint);
    try_multiple(exponent, middle, std::rint);
    try_multiple(exponent + 1, high, std::floor);
    return shortest + 0.0;  // -0.0 becomes 0.0
}

}  // namespace hornbeam
