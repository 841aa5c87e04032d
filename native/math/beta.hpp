// The beta distribution: distribution function and quantiles, with the same bits on every machine.
//
// Both work in u = log(x / (1 - x)), where the density is x^a (1 - x)^b / B(a, b), without underflow at either end.
#pragma once

#include <algorithm>
#include <cmath>

#include "math/elementary.hpp"

namespace hornbeam {

// x and y = 1 - x, both with full precision.
struct Point {
    double x, y;
};

// The probabilities below and above x.
struct Tails {
    double below, above;
};

inline Point point_at(double u) {
    const double small = exp_of(-std::fabs(u));
    const Point far{small / (1 + small), 1 / (1 + small)};
    return u < 0 ? far : Point{far.y, far.x};
}

// log(1 + f) - f, where `ratio` is 1 + f.
inline double log_less_linear(double ratio, double f) {
    return f > -0.29 && f < 0.41 ? elementary::log_remainder(f) : log_of(ratio) - f;
}

// log Gamma(z) less Stirling's (z - 1/2) log z - z + log(2 pi) / 2.
inline double stirling_error(double z) {
    double product = 1, at = z;
    for (; at < 10; at += 1) product *= at;  // Gamma(z) = Gamma(at) / product
    const double w = 1 / (at * at);
    double series = 1.0 / 156;
    for (const double term : {-691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12})
        series = term + w * series;
    series /= at;
    if (at == z) return series;
    return series - log_of(product) + (at - 0.5) * log_of(at) - (z - 0.5) * log_of(z) - (at - z);
}

class Beta {
  public:
    Beta(double a, double b)
        : a_(a), b_(b), sum_(a + b), constant_(0.5 * (log_of(a) + log_of(b / sum_) - kLog2Pi) + stirling_error(sum_) -
                                               stirling_error(a) - stirling_error(b)) {}

    // The density in u = log(x / y).
    double density(Point at) const {
        // With p = 1 + f and q = 1 + g: a f + b g = 0, which gives the one of f and g that would lose digits.
        const double f = at.x <= at.y ? (at.x * sum_ - a_) / a_ : (b_ - at.y * sum_) / a_;
        const double g = at.x <= at.y ? (a_ - at.x * sum_) / b_ : (at.y * sum_ - b_) / b_;
        const double p = at.x <= at.y ? at.x * sum_ / a_ : 1 + f, q = at.x <= at.y ? 1 + g : at.y * sum_ / b_;
        return exp_of(a_ * log_less_linear(p, f) + b_ * log_less_linear(q, g) + constant_);
    }

    Tails tails(Point at) const {
        if (at.x <= 0 || at.y <= 0) return at.x <= 0 ? Tails{0, 1} : Tails{1, 0};
        if (std::min(a_, b_) > kMany) {
            const bool lower = at.x * sum_ <= a_;
            const double tail = std::min(quadrature(at, lower), 1.0);
            return lower ? Tails{tail, 1 - tail} : Tails{1 - tail, tail};
        }
        const double tail = at.x <= at.y ? series(a_, b_, at.x, density(at)) : series(b_, a_, at.y, density(at));
        return at.x <= at.y ? Tails{tail, 1 - tail} : Tails{1 - tail, tail};
    }

    // The x with probability p below it. Newton's method within a bracket, on the logarithm of the nearer tail, which
    // is concave in u.
    double quantile(double p) const {
        const bool lower = p <= 0.5;
        const double aim = log_of(lower ? p : 1 - p);
        double low = -745, high = 745, u = log_of(a_) - log_of(b_) + normal_quantile(p) * deviation();
        for (int step = 0; step < kMost; ++step) {
            const Point at = point_at(u);
            const Tails found = tails(at);
            const double tail = lower ? found.below : found.above;
            const double gap = log_of(tail) - aim;
            if (gap == 0) break;
            ((gap > 0) == lower ? high : low) = u;
            const double move = gap * tail / density(at);
            const double next = lower ? u - move : u + move;
            if (std::fabs(move) <= kClose * (1 + std::fabs(u))) return point_at(next).x;
            u = next > low && next < high ? next : low + (high - low) / 2;  // `next` is NaN where the tail underflows
        }
        return point_at(u).x;
    }

  private:
    static constexpr double kLog2Pi = 1.8378770664093453, kMany = 1000, kClose = 1e-10;
    static constexpr int kMost = 80;  // steps; bisection alone needs 60
    double a_, b_, sum_, constant_;

    double deviation() const { return std::sqrt(1 / a_ + 1 / b_); }  // of u, approximately

    // Abramowitz and Stegun, 26.2.23: within 0.00045.
    static double normal_quantile(double p) {
        const double t = std::sqrt(-2 * log_of(std::min(p, 1 - p)));
        const double z =
            t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
        return p <= 0.5 ? -z : z;
    }

    // The tail below x as a sum of positive terms (DLMF 8.17.22): the density / a times 1 + (a + b) / (a + 1) x +
    // (a + b) (a + b + 1) / ((a + 1) (a + 2)) x^2 + ... They grow up to the distribution's mean, so that there are some
    // thousands at most before the density vanishes.
    static double series(double a, double b, double x, double density) {
        constexpr int kMost = 1 << 20;
        if (density < 1e-290 && x * (a + b) > a) return 1;  // too few digits are left
        double term = density / a, sum = term;
        for (int n = 0; n < kMost && term > sum * 1e-17; ++n) {
            term *= x * ((a + b + n) / (a + 1 + n));
            sum += term;
        }
        return std::min(sum, 1.0);
    }

    // The tail beyond x by Gauss and Legendre's rule: ten points in each of eight parts of ten deviations, beyond which
    // there is less than 1e-20. The density is nearly normal where a and b are large.
    double quadrature(Point at, bool lower) const {
        constexpr double kPoint[] = {0.1488743389816312, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845,
                                     0.9739065285171717};
        constexpr double kWeight[] = {0.2955242247147529, 0.2692667193099963, 0.2190863625159820, 0.1494513491505806,
                                      0.0666713443086881};
        constexpr int kParts = 8;
        const double u = log_of(at.x) - log_of(at.y), mean = log_of(a_) - log_of(b_), far = 10 * deviation();
        const double end = lower ? mean - far : mean + far;
        if (lower ? u <= end : u >= end) return 0;
        const double half = (u - end) / (2 * kParts);
        double sum = 0;
        for (int part = 0; part < kParts; ++part) {
            const double middle = end + (2 * part + 1) * half;
            for (int i = 0; i < 5; ++i) {
                const double apart = half * kPoint[i];
                sum += kWeight[i] * (density(point_at(middle - apart)) + density(point_at(middle + apart)));
            }
        }
        return std::fabs(half) * sum;
    }
};

}  // namespace hornbeam
