// exp and log from IEEE additions, multiplications and divisions alone: the same bits on every machine.
//
// The functions of a C library differ between versions and between processors. Compiled without contraction
// (CMakeLists.txt), these do not. Each is within 1 unit in the last place of the exact value
// (tests/kernels/test_elementary.py).
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

namespace hornbeam {

namespace elementary {

// ln 2 in two parts: the first ends in zeros, so that its product with an exponent is exact.
constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kLog2E = 0x1.71547652b82fep+0;

inline double from_bits(uint64_t bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

inline uint64_t to_bits(double x) {
    uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

// 2^k, where that is a normal number.
inline double power_of_two(int k) { return from_bits(static_cast<uint64_t>(k + 1023) << 52); }

// x = mantissa 2^exponent, with the mantissa from sqrt(1/2) to sqrt(2).
struct Parts {
    double mantissa;
    double exponent;
};

// The parts of a normal number above 0, without branches.
inline Parts parts(double x) {
    constexpr uint64_t kOne = 0x3ff0000000000000ULL, kLeast = 0x3fe6a09e667f3bceULL;  // the bits of 1 and of sqrt(1/2)
    const uint64_t bits = to_bits(x) + (kOne - kLeast);
    const double biased = from_bits((bits >> 52) | 0x4330000000000000ULL);  // added to 2^52
    return {from_bits((bits & 0x000fffffffffffffULL) + kLeast), biased - (0x1p52 + 1023)};
}

// log(m) - (m - 1) for m from sqrt(1/2) to sqrt(2). With f = m - 1 and s = f / (2 + f):
// log(1 + f) = 2 (s + s^3/3 + s^5/5 + ...) = f - f^2/2 + s (f^2/2 + 2 (s^2/3 + s^4/5 + ...)).
inline double log_remainder(double f) {
    const double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    double series = 2.0 / 23;
    series = 2.0 / 21 + z * series;
    series = 2.0 / 19 + z * series;
    series = 2.0 / 17 + z * series;
    series = 2.0 / 15 + z * series;
    series = 2.0 / 13 + z * series;
    series = 2.0 / 11 + z * series;
    series = 2.0 / 9 + z * series;
    series = 2.0 / 7 + z * series;
    series = 2.0 / 5 + z * series;
    series = 2.0 / 3 + z * series;
    return s * (half + z * series) - half;
}

inline double log_of_parts(Parts at) {
    const double f = at.mantissa - 1.0;
    return at.exponent * kLn2High + (f + (log_remainder(f) + at.exponent * kLn2Low));
}

// The parts of any number above 0, subnormal ones included.
inline Parts any_parts(double x) {
    if (x >= 0x1p-1022) return parts(x);
    const Parts at = parts(x * 0x1p54);
    return {at.mantissa, at.exponent - 54};
}

inline bool has_log(double x) { return x > 0 && x <= std::numeric_limits<double>::max(); }

inline double log_at_edge(double x) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return x == 0 ? -kInfinity : x > 0 ? x : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace elementary

// exp(r + lost) for |r| <= ln(2) / 2 and a far smaller `lost`: the series up to r^13.
inline double exp_series(double r, double lost) {
    double series = 1.0 / 6227020800;
    series = 1.0 / 479001600 + r * series;
    series = 1.0 / 39916800 + r * series;
    series = 1.0 / 3628800 + r * series;
    series = 1.0 / 362880 + r * series;
    series = 1.0 / 40320 + r * series;
    series = 1.0 / 5040 + r * series;
    series = 1.0 / 720 + r * series;
    series = 1.0 / 120 + r * series;
    series = 1.0 / 24 + r * series;
    series = 1.0 / 6 + r * series;
    series = 0.5 + r * series;
    return 1.0 + (r + (lost + r * r * series));
}

// exp(x) = 2^k exp(r) with |r| <= ln(2) / 2; returns exp(r). The last bits of `shifted` are k.
inline double exp_of_rest(double x, double& shifted) {
    using namespace elementary;
    shifted = x * kLog2E + 0x1.8p52;  // rounds to the nearest whole number
    const double k = shifted - 0x1.8p52;
    const double high = x - k * kLn2High, low = k * kLn2Low;
    const double r = high - low;
    return exp_series(r, (high - r) - low);
}

// exp of numbers from -708 to 709, without branches, so that compilers use vector instructions.
inline double exp_inside(double x) {
    using namespace elementary;
    double shifted;
    const double rest = exp_of_rest(x, shifted);
    return rest * from_bits((to_bits(shifted) + 1023) << 52);
}

// exp of at most kExpBlock numbers, several at a time. Returns false, and computes nothing, if a number is outside the
// range of `exp_inside`. Defined in bind_elementary.cpp.
constexpr int64_t kExpBlock = 256;
bool exp_block(const double* x, int64_t n, double* found);

// 0 or infinity where the exact value is below or above every double.
inline double exp_of(double x) {
    if (x >= -708 && x <= 709) return exp_inside(x);
    if (x != x) return x;
    if (x > 709.782712893384) return std::numeric_limits<double>::infinity();
    if (x < -745.1332191019412) return 0.0;
    double shifted;
    const double rest = exp_of_rest(x, shifted);
    const int k = static_cast<int>(shifted - 0x1.8p52),
              half = k / 2;  // two multiplications, of which only the last one rounds
    return rest * elementary::power_of_two(half) * elementary::power_of_two(k - half);
}

// 2^x, exact for whole numbers; x from -1000 to 1000.
inline double exp2_of(double x) {
    using namespace elementary;
    const double k = (x + 0x1.8p52) - 0x1.8p52;
    return exp_series((x - k) * (kLn2High + kLn2Low), 0.0) * power_of_two(static_cast<int>(k));
}

// log of normal numbers above 0, without branches, so that compilers use vector instructions.
inline double log_inside(double x) { return elementary::log_of_parts(elementary::parts(x)); }

// Minus infinity at 0, NaN below.
inline double log_of(double x) {
    return elementary::has_log(x) ? elementary::log_of_parts(elementary::any_parts(x)) : elementary::log_at_edge(x);
}

// Exact for powers of two.
inline double log2_of(double x) {
    using namespace elementary;
    if (!has_log(x)) return log_at_edge(x);
    const Parts at = any_parts(x);
    const double f = at.mantissa - 1.0;
    return at.exponent + (f + log_remainder(f)) * kLog2E;
}

}  // namespace hornbeam
