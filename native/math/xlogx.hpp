// x log2 x of integers, in fixed point.
//
// Entropies are sums of x log2 x over counts. As integers they add exactly in any order, so a running sum equals a new
// one and equal splits tie exactly. Only +, -, * and / are used (no libm): the same bits on every machine.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

namespace hornbeam {

class Log2 {
  public:
    Log2() {
        for (int i = 0; i < kCells; ++i) {
            const double c = 1.0 + (i + 0.5) / kCells;
            centre_inverse_[i] = 1.0 / c;
            log2_centre_[i] = series(c);
        }
    }

    // log2 of x >= 1: exponent, table of 256 centres, and a short series around the nearest one.
    double operator()(double x) const {
        uint64_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        const int exponent = static_cast<int>(bits >> 52) - 1023;
        const int cell = static_cast<int>((bits >> 44) & 255);
        bits = (bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL;
        double mantissa;
        std::memcpy(&mantissa, &bits, sizeof mantissa);
        const double c = 1.0 + (cell + 0.5) / kCells;
        const double r = (mantissa - c) * centre_inverse_[cell];
        const double tail = r * (1.0 - r * (0.5 - r * (1.0 / 3 - r * (0.25 - r * (0.2 - r * (1.0 / 6))))));
        return exponent + (log2_centre_[cell] + tail * kLog2E);
    }

    static const Log2& instance() {
        static const Log2 log2;
        return log2;
    }

  private:
    static constexpr int kCells = 256;
    static constexpr double kLog2E = 1.4426950408889634;

    // ln c = 2 atanh((c - 1) / (c + 1)), for c in [1, 2).
    static double series(double c) {
        const double z = (c - 1) / (c + 1), z2 = z * z;
        double sum = 0;
        for (int k = 41; k >= 1; k -= 2) sum = sum * z2 + 1.0 / k;
        return 2 * z * sum * kLog2E;
    }

    std::array<double, kCells> centre_inverse_, log2_centre_;
};

// round(x log2 x * 2^shift), with the largest shift that the total allows. Small numbers are looked up in a table per
// shift, made when first needed.
class XLogX {
  public:
    explicit XLogX(int64_t total) {
        const double n = static_cast<double>(total);
        const double largest = total < 2 ? 1.0 : n * Log2::instance()(n);
        int shift = kMostShift;
        while (shift > kLeastShift && std::ldexp(largest, shift) >= 0x1p61) --shift;
        scale_ = std::ldexp(1.0, shift);
        table_ = table_for(shift);
    }

    int64_t operator()(int64_t x) const { return static_cast<uint64_t>(x) < kTable ? table_[x] : compute(x, scale_); }

    // Numbers below this are in the table.
    static constexpr int64_t limit() { return kTable; }
    const int64_t* table() const { return table_; }

    // One integer step, in bits times weight.
    double step() const { return 1.0 / scale_; }

  private:
    static constexpr int64_t kTable = 1 << 14;
    static constexpr int kMostShift = 30, kLeastShift = -16;

    static int64_t compute(int64_t x, double scale) {
        const double value = static_cast<double>(x);
        // NOLINTNEXTLINE(bugprone-incorrect-roundings): lround would change bits
        return static_cast<int64_t>(value * Log2::instance()(value) * scale + 0.5);
    }

    static const int64_t* table_for(int shift) {
        static std::array<std::once_flag, kMostShift - kLeastShift + 1> made;
        static std::array<std::vector<int64_t>, kMostShift - kLeastShift + 1> tables;
        const int i = shift - kLeastShift;
        std::call_once(made[i], [&] {
            tables[i].resize(kTable, 0);
            for (int64_t x = 2; x < kTable; ++x) tables[i][x] = compute(x, std::ldexp(1.0, shift));
        });
        return tables[i].data();
    }

    const int64_t* table_;
    double scale_;
};

}  // namespace hornbeam
