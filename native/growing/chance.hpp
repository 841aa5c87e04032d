// S-values: how surprising a split is, given how many alternatives its feature was searched for.
//
// The largest of many gains is large by chance. The S-value of a split is -log2 of the probability that the search over
// its feature gains as much where the feature is independent of the target. Features are compared by their S-values,
// so that one with many cuts or many categories has no advantage over one with few.
//
// Gains are measured in bits: twice their natural logarithm is chi-square distributed, asymptotically, with one degree
// of freedom for each class but one. The constants below were fitted to simulations of pure noise
// (benchmarks/selection.py). Only +, -, *, / and sqrt are used: the same bits everywhere.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "growing/split.hpp"
#include "math/xlogx.hpp"

namespace hornbeam {

constexpr double kChiSquare = 1.3862943611198906;  // 2 ln 2: chi-square in a bit
constexpr double kMeanBits = 0.7213475204444817;   // mean of a chi-square of one degree of freedom, in bits

constexpr size_t kFewCategories = 5;

// 2^x for |x| up to 1,000: a power of two, and a series for the rest.
inline double power_of_two(double x) {
    const double whole = std::floor(x + 0.5), t = (x - whole) * 0.6931471805599453;
    double sum = 1;
    for (int k = 10; k >= 1; --k) sum = 1 + sum * t / k;
    const uint64_t bits = static_cast<uint64_t>(static_cast<int64_t>(whole) + 1023) << 52;
    double scale;
    std::memcpy(&scale, &bits, sizeof scale);
    return sum * scale;
}

class Chance {
  public:
    // The facts common to all splits of a node. `bits_per_gain`: bits per unit of gain; `n`: the weight in rows;
    // `share`: of the lighter of two sides, where each class in turn joins the side that is lighter so far; 0 for sums.
    void enter(int n_classes, double n, double share, double bits_per_gain) {
        more_classes_ = std::max(n_classes, 2) - 2;
        n_ = n;
        share_ = share;
        bits_per_gain_ = bits_per_gain;
        cut_factor_ = more_classes_ > 0 ? 1 + 0.45 * log2(1.0 + more_classes_) : 1.0;
        ++node_;
    }

    double bits(double gain) const { return gain * bits_per_gain_; }

    // The bits that the search of an ordered feature costs. Neighbouring cuts send nearly the same rows to each
    // side, so the search counts as one over far fewer independent cuts.
    double search_bits(int64_t n_cuts) const {
        static const std::vector<double> table = [] {
            std::vector<double> costs(4096, 0.0);
            for (size_t n = 2; n < costs.size(); ++n) costs[n] = cost(static_cast<double>(n));
            return costs;
        }();
        const auto n = static_cast<size_t>(std::max<int64_t>(n_cuts, 1));
        return cut_factor_ * (n < table.size() ? table[n] : cost(static_cast<double>(n)));
    }

    // The S-value of the best of several cuts.
    double cut(double gain, double search_bits) const {
        const double one = single(std::max(0.0, bits(gain) - kMeanBits * more_classes_));
        if (search_bits == 0) return one;
        return one > 60 ? one - search_bits : log2(1 + (power_of_two(one) - 1) * power_of_two(-search_bits));
    }

    // The S-value of the best subset of categories; `rows`: of each category.
    double subset(double gain, const std::vector<double>& rows) {
        if (rows.size() <= 2) return cut(gain, 0.0);
        double roots = 0, rare = 0;
        for (double r : rows) roots += std::sqrt(r), rare += 1 / std::max(1.0, r * r);
        const double categories = roots * roots / n_;  // the number of equal categories with the same effect
        const double more = 0.65 * std::sqrt(std::max(0.0, categories - 2) * more_classes_);
        const double deviation = 0.69 * std::sqrt(categories);
        // Where most of many categories have a single row, every search reaches the largest gain: that is no surprise.
        const double sure =
            rows.size() > kFewCategories ? 2 * deviation * rare / static_cast<double>(rows.size()) : 0.0;
        return tail(gain, by_chance(rows) + kMeanBits * more_classes_ + more + sure, deviation);
    }

    // The S-value of a branch per category. A category of few rows looks purer than it is.
    double multiway(double gain, const std::vector<double>& rows) const {
        if (rows.size() <= 2) return cut(gain, 0.0);
        const double freedom = kMeanBits * (1 + more_classes_);
        const double entropy = share_ > 0 ? uncertain(share_, 1) * (1 + more_classes_) : freedom;  // the most per row
        double mean = -freedom;
        for (double r : rows) mean += std::min(r * entropy, freedom * (1 + 0.8 / r));
        const double degrees = static_cast<double>(rows.size() - 1) * (1 + more_classes_);
        return tail(gain, mean, kMeanBits * std::sqrt(2 * degrees));
    }

  private:
    static double log2(double x) { return Log2::instance()(x); }
    static double cost(double n_cuts) { return 2.2 * log2(1 + 0.35 * log2(n_cuts)); }

    // The S-value of a single cut, of one degree of freedom.
    static double single(double bits) {
        const double root = std::sqrt(bits);
        return bits + 1.2 * root / (1 + 0.35 * root);
    }

    // -log2 of the upper tail: normal near the mean, and linear beyond, where each bit of gain adds a bit.
    double tail(double gain, double mean, double deviation) const {
        const double z = (bits(gain) - mean) / deviation;
        if (z < 0) return -log2_below_one(1 - power_of_two(-normal_tail(std::min(-z, 30.0))));
        const double normal = std::min(z, std::max(0.0, (deviation - 1.034) / 1.2));
        return normal_tail(normal) + (z - normal) * deviation;
    }
    static double normal_tail(double z) { return 1 + 1.034 * z + 0.6 * z * z; }  // -log2 of P(N > z), for z >= 0
    static double log2_below_one(double x) { return -log2(1 / x); }

    // The mean gain of the best subset where classes are assigned to categories at random: the categories with more
    // than the expected share of one side against the others.
    double by_chance(const std::vector<double>& rows) {
        double surplus = 0, above = 0;
        for (double r : rows) {
            const auto [deviation, more] =
                share_ > 0 ? binomial(r) : Binomial{std::sqrt(0.637 * r + 0.363 * std::min(r, 1.0)), 0.5};
            surplus += deviation / 2;
            above += r * more;
        }
        if (share_ == 0) return 4 * surplus * surplus / (n_ * kChiSquare);
        if (above <= 0 || above >= n_) return 0;
        const double all = share_ * n_, mine = std::min(all, above * share_ + surplus);
        return uncertain(all, n_) - uncertain(mine, above) - uncertain(all - mine, n_ - above);
    }

    struct Binomial {
        double deviation, more;  // of a binomial count: mean distance from its mean, and probability of being above
    };

    // There are many categories of few rows: each size is computed once per node.
    Binomial binomial(double r) {
        const auto size = static_cast<size_t>(std::min(r, static_cast<double>(kSizes)));
        if (size >= kSizes || static_cast<double>(size) != r) return compute_binomial(r);
        if (cached_at_[size] != node_) cached_[size] = compute_binomial(r), cached_at_[size] = node_;
        return cached_[size];
    }

    Binomial compute_binomial(double r) const {
        const double p = share_, q = 1 - p, variance = r * p * q;
        if (variance > 8) return {0.7978845608028654 * std::sqrt(variance), 0.5};
        const auto n = std::max<int64_t>(1, static_cast<int64_t>(std::min(r + 0.5, 0x1p62)));
        double term = 1, base = q;  // q^n
        for (int64_t e = n; e; e >>= 1, base *= base)
            if (e & 1) term *= base;
        const auto middle = static_cast<int64_t>(static_cast<double>(n) * p);
        double below = term;
        for (int64_t k = 1; k <= middle; ++k)
            below += term *= static_cast<double>(n - k + 1) * p / (static_cast<double>(k) * q);
        // De Moivre's formula of the mean deviation, for a whole number of rows.
        return {2 * p * static_cast<double>(n - middle) * term * (r / static_cast<double>(n)), 1 - below};
    }

    // n times the entropy of a count of a among n.
    static double uncertain(double a, double n) {
        return a <= 0 || a >= n ? 0.0 : a * log2(n / a) + (n - a) * log2(n / (n - a));
    }

    static constexpr size_t kSizes = 64;
    std::array<Binomial, kSizes> cached_{};
    std::array<uint64_t, kSizes> cached_at_{};
    uint64_t node_ = 0;
    double more_classes_ = 0, n_ = 1, share_ = 0, bits_per_gain_ = 1, cut_factor_ = 1;
};

}  // namespace hornbeam
