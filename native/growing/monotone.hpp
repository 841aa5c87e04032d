// Monotone constraints on the branches of one node.
//
// They bound the probability of the second class or, for sums, numerator / (denominator + ridge).
#pragma once

#include <cstdint>

#include "growing/criteria.hpp"
#include "growing/entries.hpp"
#include "growing/split.hpp"

namespace hornbeam {

// What an entry adds to a branch: its weight of a class, or its sum of numerators measured from the criterion's centre.
template <class Criterion, class Entry>
int64_t amount_of(const Criterion& criterion, const Entry& entry) {
    if constexpr (Entry::sums) return entry.amount() - criterion.centre() * entry.weight();
    return entry.weight();
}

template <class Criterion, class Entry>
class MonotoneRule {
  public:
    MonotoneRule(const Features& features, const Criterion& criterion) : features_(features), criterion_(criterion) {}

    void enter(Bounds bounds) { bounds_ = bounds; }

    // Whether a branch keeps the node's bounds.
    bool allows(const int64_t* counts, int64_t weight) const {
        return !features_.monotone || inside(counts[kBoundClass], weight);
    }
    bool allows(Span<Entry> group) const {
        if (!features_.monotone) return true;
        int64_t sum = 0, weight = 0;
        for (const Entry* entry = group.first; entry < group.last; ++entry) {
            weight += entry->weight();
            if (static_cast<int>(label_of(entry->key)) == kBoundClass) sum += amount_of(criterion_, *entry);
        }
        return inside(sum, weight);
    }

    // Whether the two sides of a cut keep the bounds and, at an ordered feature, its sign.
    bool allows_cut(int f, const int64_t* left, int64_t weight_left, const int64_t* all, int64_t weight_right) const {
        if (!features_.monotone) return true;
        const int64_t sum_left = left[kBoundClass], sum_right = all[kBoundClass] - sum_left;
        if (!inside(sum_left, weight_left) || !inside(sum_right, weight_right)) return false;
        return features_.nominal[f] ||
               features_.monotone[f] * direction(sum_left, weight_left, sum_right, weight_right) >= 0;
    }

  private:
    static constexpr int kBoundClass = Entry::sums ? 0 : 1;

    double rate(int64_t amount, int64_t weight) const {
        if constexpr (Entry::sums)
            return static_cast<double>(criterion_.centre()) +
                   static_cast<double>(amount) / (static_cast<double>(weight) + criterion_.ridge());
        return static_cast<double>(amount) / static_cast<double>(weight);
    }
    bool inside(int64_t amount, int64_t weight) const {
        const double r = rate(amount, weight);
        return r >= bounds_.lower && r <= bounds_.upper;
    }

    // The sign of right rate - left rate; exact, in integers, unless there is a ridge.
    int direction(int64_t sum_left, int64_t weight_left, int64_t sum_right, int64_t weight_right) const {
        if constexpr (Entry::sums) {
            if (criterion_.ridge() > 0) {
                const double step = rate(sum_right, weight_right) - rate(sum_left, weight_left);
                return (step > 0) - (step < 0);
            }
        }
        const Wide step = static_cast<Wide>(sum_right) * weight_left - static_cast<Wide>(sum_left) * weight_right;
        return (step > 0) - (step < 0);
    }

    const Features& features_;
    const Criterion& criterion_;
    Bounds bounds_;
};

}  // namespace hornbeam
