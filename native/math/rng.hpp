// Random numbers: SplitMix64, and the distributions that the Gibbs sampler draws from.
//
// Only +, -, *, / and square roots are used (no libm): the same bits on every machine.
#pragma once

#include <cmath>
#include <cstdint>

#include "math/xlogx.hpp"

namespace hornbeam {

// SplitMix64 (Steele, Lea and Flood 2014): number n of the sequence of a key, without computing those before it.
inline uint64_t splitmix64(uint64_t key, uint64_t n) {
    uint64_t x = key + (n + 1) * 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

class Rng {
  public:
    explicit Rng(uint64_t seed) : seed_(seed) {}

    // Uniform on (0, 1), never 0 or 1.
    double uniform() { return (static_cast<double>(splitmix64(seed_, n_drawn_++) >> 11) + 0.5) * 0x1p-53; }

    double exponential() { return -log(uniform()); }

    // Marsaglia and Tsang (2000); shape >= 1.
    double gamma(double shape) {
        const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
        for (;;) {
            const double x = normal(), root = 1 + c * x;
            if (root <= 0) continue;
            const double v = root * root * root;
            if (log(uniform()) < 0.5 * x * x + d - d * v + d * log(v)) return d * v;
        }
    }

    // log(1 / q) of q ~ Beta(c, n), n >= 1: Beta(c, 1) times Beta(c + 1, n - 1), so that no shape is below 1.
    double log_inverse_beta(double c, double n) {
        const double first = exponential() / c;
        if (n < 2) return first;
        const double a = gamma(c + 1), b = gamma(n - 1);
        return first + log((a + b) / a);
    }

  private:
    static constexpr double kLn2 = 0.6931471805599453;

    static double log(double x) { return Log2::instance()(x) * kLn2; }

    // Marsaglia's polar method; the second number is dropped.
    double normal() {
        for (;;) {
            const double x = 2 * uniform() - 1, y = 2 * uniform() - 1, s = x * x + y * y;
            if (s < 1 && s > 0) return x * std::sqrt(-2 * log(s) / s);
        }
    }

    uint64_t seed_, n_drawn_ = 0;
};

}  // namespace hornbeam
