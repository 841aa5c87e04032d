// Split criteria.
//
// A criterion gives a value to a branch; the gain of a split is the sum of the values of its branches minus the value
// of the node. `Sum` is updated while rows move from one branch to another, one class at a time; `value` turns it into
// the value of the branch. `at(k)` is the branch's weight of class k, for criteria that need more than the running sum.
// `within(n, action)` calls the action with the form of the criterion that is fastest for weights up to n. Sums have
// one class, whose weight is the sum of numerators.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "growing/chance.hpp"
#include "growing/entries.hpp"
#include "growing/split.hpp"
#include "math/compiler.hpp"
#include "math/elementary.hpp"
#include "math/xlogx.hpp"

namespace hornbeam {

// Gains that differ by less are equal (node_state.hpp): rounding and fractional rows must not decide. Each criterion's
// `noise` is this in its own values.
constexpr double kEqualGain = 0x1p-36;

// sum_k n_k log2 n_k - n log2 n, in the fixed point of XLogX: minus n times the entropy.
class Entropy {
  public:
    using Sum = int64_t;
    using Value = int64_t;

    explicit Entropy(const Rules& rules) : xlogx_(rules.total_weight) {}
    void enter(const int64_t*, int64_t, int) {}
    Sum term(int64_t x) const { return xlogx_(x); }
    template <class At>
    Value value(Sum sum, int64_t n, const At&) const {
        return sum - xlogx_(n);
    }
    double gain(Value split, Value node, int64_t n) const {
        return static_cast<double>(split - node) * xlogx_.step() / static_cast<double>(n);
    }
    template <class Action>
    auto within(int64_t n, Action&& action) const {
        return n < xlogx_.limit() ? action(Table{xlogx_.table()}) : action(*this);
    }
    // In tiny nodes the rounding of the fixed point is larger: half a step for each class and the total of each branch.
    Value noise(int64_t n, int n_classes) const {
        return 2 * (n_classes + 1) + static_cast<Value>(kEqualGain * static_cast<double>(n) / xlogx_.step());
    }
    // Bits of surprise per row and unit of gain (chance.hpp), in a node of this Gini impurity and number of classes. A
    // new criterion returns what makes rows * gain * bits_per_gain, for small gains, the chi-square statistic of the
    // split divided by kChiSquare: that is the gain of entropy in bits.
    double bits_per_gain(double, int) const { return 1; }
    // Fixed point to bits times weight.
    double bits(int64_t fixed) const { return static_cast<double>(fixed) * xlogx_.step(); }

    // The sums of both sides of a cut of one node, by what is on the left: of each class, and of all rows. All features
    // of the node share these tables, and a cut takes a third of the look-ups.
    class BothSides {
      public:
        void enter(const Entropy& entropy, const int64_t* counts, int64_t n, int n_classes) {
            const XLogX& xlogx = entropy.xlogx_;
            const auto fill = [&xlogx](int64_t* sums, int64_t all) {
                for (int64_t x = 0; x <= all; ++x) sums[x] = xlogx(x);
                for (int64_t x = 0; 2 * x <= all; ++x) sums[x] = sums[all - x] = sums[x] + sums[all - x];
            };
            sums_.resize(n + n_classes + n + 1);
            of_class_.resize(n_classes);
            int64_t* sums = sums_.data();
            for (int k = 0; k < n_classes; ++k) {
                of_class_[k] = sums;
                fill(sums, counts[k]);
                sums += counts[k] + 1;
            }
            of_all_ = sums;
            fill(sums, n);
        }
        const int64_t* of_class(uint32_t k) const { return of_class_[k]; }
        const int64_t* of_all() const { return of_all_; }

      private:
        std::vector<int64_t> sums_;
        std::vector<const int64_t*> of_class_;
        const int64_t* of_all_ = nullptr;
    };

  private:
    struct Table {  // all weights are in the table: no check
        const int64_t* xlogx;
        Sum term(int64_t x) const { return xlogx[x]; }
        template <class At>
        Value value(Sum sum, int64_t n, const At&) const {
            return sum - xlogx[n];
        }
    };

    XLogX xlogx_;
};

// sum_k n_k^2 / n: n minus n times the Gini impurity. Integer squares are exact; one division per branch.
template <class Integer>
class Gini {
  public:
    using Sum = Integer;
    using Value = double;

    explicit Gini(const Rules&) {}
    void enter(const int64_t*, int64_t, int) {}
    Sum term(int64_t x) const { return static_cast<Integer>(x) * x; }
    template <class At>
    Value value(Sum sum, int64_t n, const At&) const {
        return n ? static_cast<double>(sum) / static_cast<double>(n) : 0.0;
    }
    double gain(Value split, Value node, int64_t n) const { return (split - node) / static_cast<double>(n); }
    template <class Action>
    auto within(int64_t, Action&& action) const {
        return action(*this);
    }
    Value noise(int64_t n, int) const { return kEqualGain * static_cast<double>(n); }
    double bits_per_gain(double impurity, int n_classes) const {
        return (n_classes - 1) / (kChiSquare * std::max(impurity, 1e-12));
    }
};

// Squared Hellinger distance between a class and the rest over the branches, averaged over the classes present (0 to
// 1). It does not depend on the class frequencies. A branch's value is -sum_k sqrt(n_k (n - n_k) / (N_k (N - N_k))).
class Hellinger {
  public:
    using Sum = int64_t;
    using Value = double;

    explicit Hellinger(const Rules&) {}
    void enter(const int64_t* counts, int64_t n, int n_classes) {
        n_classes_ = n_classes;
        present_ = 0;
        inverse_.assign(n_classes, 0.0);
        for (int k = 0; k < n_classes; ++k) {
            if (counts[k] == 0 || counts[k] == n) continue;
            ++present_;
            inverse_[k] = 1.0 / std::sqrt(static_cast<double>(counts[k]) * static_cast<double>(n - counts[k]));
        }
    }
    Sum term(int64_t) const { return 0; }
    template <class At>
    Value value(Sum, int64_t n, const At& at) const {
        double sum = 0;
        for (int k = 0; k < n_classes_; ++k) {
            const double x = static_cast<double>(at(k));
            sum += std::sqrt(x * (static_cast<double>(n) - x)) * inverse_[k];
        }
        return -sum;
    }
    Value noise(int64_t, int) const { return kEqualGain * present_; }
    double bits_per_gain(double impurity, int n_classes) const { return 8 * impurity / (n_classes * kChiSquare); }
    double gain(Value split, Value node, int64_t) const { return present_ ? (split - node) / present_ : 0.0; }
    template <class Action>
    auto within(int64_t, Action&& action) const {
        return action(*this);
    }

  private:
    std::vector<double> inverse_;
    int n_classes_ = 0, present_ = 0;
};

// (sum of numerators)^2 / (sum of denominators + ridge): the squared error a mean explains, or, with negative
// gradients and hessians, twice the loss a Newton step saves.
//
// Without a ridge numerators are measured from the node's mean, rounded to a step: that changes every split by the same
// amount, and the gain is not the difference of two large numbers.
class Squares {
  public:
    using Sum = int64_t;
    using Value = double;

    explicit Squares(const Rules& rules)
        : ridge_(rules.ridge / rules.unit), rounding_(rules.rounding),
          scale_(rules.numerator_unit / rules.unit * (rules.numerator_unit / rules.unit)) {}
    void enter(const int64_t* sum, int64_t weight, int) {
        if (ridge_ == 0) centre_ = weight ? *sum / weight : 0;
    }
    int64_t centre() const { return centre_; }
    double ridge() const { return ridge_; }
    Sum term(int64_t x) const { return x; }
    template <class At>
    Value value(Sum sum, int64_t weight, const At&) const {
        const double s = static_cast<double>(sum);
        return weight ? s * s / (static_cast<double>(weight) + ridge_) : 0.0;
    }
    double gain(Value split, Value node, int64_t n) const { return (split - node) * scale_ / static_cast<double>(n); }
    template <class Action>
    auto within(int64_t, Action&& action) const {
        return action(*this);
    }
    // The largest gain that rounding of the values and of the numerators can give a split of equal rows.
    Value noise(Value node, int64_t weight, int64_t rows) const {
        const double off = 2 * rounding_ * static_cast<double>(rows);
        return 0x1p-46 * node + off * off / static_cast<double>(weight);
    }
    // What the gain per row is multiplied by to get the statistic of a chi-square test; kChiSquare turns it into bits.
    // n: independent rows; variance: that of their target.
    double surprise(double n, double variance) const { return n / variance; }

  private:
    double ridge_, rounding_, scale_;
    int64_t centre_ = 0;
};

// The half deviance of counts (Poisson) or of positive amounts (gamma) that the mean of a branch explains, beside the
// mean of the node:
//
//     Poisson    S log(r) - S + W m        r = S / (W m), the mean of the branch over m, the mean of the node
//     gamma      -W log(r) + S / m - W
//
// S: the sum of numerators, W: the weight. Both are functions of r - 1 = (S W0 - W S0) / (W S0), which is exact but for
// its last rounding, so values near 0 have all their digits. A branch whose sum is 0 is worth minus infinity: its mean
// would say that nothing can happen there.
template <bool gamma>
class Deviance {
  public:
    using Sum = int64_t;
    using Value = double;

    explicit Deviance(const Rules& rules) : rounding_(rules.rounding), mean_unit_(rules.numerator_unit / rules.unit) {}
    void enter(const int64_t* sum, int64_t weight, int) { sum_ = *sum, weight_ = weight; }
    int64_t centre() const { return 0; }
    double ridge() const { return 0; }
    Sum term(int64_t x) const { return x; }
    template <class At>
    Value value(Sum sum, int64_t weight, const At&) const {
        if (weight == 0) return 0;
        if (sum <= 0 || sum_ <= 0) return -std::numeric_limits<double>::infinity();
        const double expected = static_cast<double>(weight) * static_cast<double>(sum_);
        const double apart =
            static_cast<double>(static_cast<Wide>(sum) * weight_ - static_cast<Wide>(weight) * sum_) / expected;
        return (gamma ? static_cast<double>(weight) : expected / static_cast<double>(weight_)) * divergence(apart);
    }
    double gain(Value split, Value node, int64_t n) const {
        return (split - node) * (gamma ? 1.0 : mean_unit_) / static_cast<double>(n);
    }
    template <class Action>
    auto within(int64_t, Action&& action) const {
        return action(*this);
    }
    // The largest value that rounding of the numerators can give a split of equal rows.
    Value noise(Value, int64_t weight, int64_t rows) const {
        const double off = 2 * rounding_ * static_cast<double>(rows), sum = static_cast<double>(sum_);
        return sum > 0 ? off / sum * off * (gamma ? static_cast<double>(weight) / sum : 1.0) : 0.0;
    }
    // Twice the half deviance over the dispersion, which is the variance divided by that of the distribution.
    double surprise(double n, double variance) const {
        const double mean = static_cast<double>(sum_) / static_cast<double>(weight_) * mean_unit_;
        return 2 * n * (gamma ? mean * mean : mean) / variance;
    }

  private:
    // r log(r) - (r - 1), or r - 1 - log(r), for r = 1 + x above 0.
    static double divergence(double x) {
        if (-0.25 < x && x < 0.4) {
            const double bent = elementary::log_remainder(x);  // log(1 + x) - x
            return gamma ? -bent : x * x + (1 + x) * bent;
        }
        return gamma ? x - log_of(1 + x) : (1 + x) * log_of(1 + x) - x;
    }

    double rounding_, mean_unit_;
    int64_t sum_ = 0, weight_ = 1;
};

// Calls `action` with the criterion's type; small totals keep Gini's squares in 64 bits.
template <class Entry, class Action>
auto with_criterion(int criterion, int64_t total_weight, Action&& action) {
    if constexpr (Entry::sums) {
        switch (criterion) {
            case 3: return action(Type<Squares>{});
            case 4: return action(Type<Deviance<false>>{});
            case 5: return action(Type<Deviance<true>>{});
            default: throw std::invalid_argument("criterion 3 (squares), 4 (poisson) or 5 (gamma) expected for sums");
        }
    } else {
        switch (criterion) {
            case 0: return action(Type<Entropy>{});
            case 1:
                if (total_weight < (int64_t{1} << 31)) return action(Type<Gini<int64_t>>{});
                return action(Type<Gini<Wide>>{});
            case 2: return action(Type<Hellinger>{});
            default: throw std::invalid_argument("criterion 0 (entropy), 1 (gini) or 2 (hellinger) expected");
        }
    }
}

}  // namespace hornbeam
