// The feature that splits a node, given the best split of each feature.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "growing/chance.hpp"
#include "growing/split.hpp"

namespace hornbeam {

constexpr double kTie = 1e-6;  // C4.5 takes gains and ratios this close for equal

enum class MissingSide { right, left, own };  // where missing values go; own: to a branch of their own

// The best split of a feature.
struct Candidate {
    bool found = false;
    bool multiway = false;
    bool in_average = true;
    bool allowed = true;     // whether the feature may split the node
    double gain = 0;         // less the price of the feature
    double score = 0;        // compared between features: gain, C4.5's gain ratio or S-value; NaN: not yet computed
    double search_bits = 0;  // bits that the search of an ordered feature costs; -1: not ordered
    bool few_categories = false;  // where no feature beats chance, the search over few categories is not charged
    int left = -1, right = -1;
    MissingSide missing = MissingSide::right;
};

// The numbers of a Candidate that `Choice` needs, as doubles for Python; gain NaN: no split.
struct FeatureScore {
    double gain, score, search_bits, few_categories;
};

// A score is better than another only if it exceeds `raised(other)`.
struct Tie {
    double factor = 1, margin = 0;
    double raised(double score) const { return score * factor + margin; }
};

class Choice {
  public:
    Choice(const Features& features, const Rules& rules, const Chance& chance)
        : features_(features), rules_(rules), chance_(chance) {}

    // The winning feature at a node of this weight; -1: none.
    int winner(std::vector<Candidate>& candidates, int64_t weight, const Tie& tie) const {
        const Candidate* best = rules_.gain_ratio ? best_ratio(candidates) : best_score(candidates, tie);
        if (!best) return -1;
        const double decrease = best->gain * static_cast<double>(weight) / static_cast<double>(rules_.total_weight);
        if (rules_.min_decrease > 0 && decrease < rules_.min_decrease) return -1;
        return static_cast<int>(best - candidates.data());
    }

    // C4.5: a nominal feature with nearly as many categories as rows is left out of the average gain.
    bool counts_in_average(int f) const {
        return !features_.nominal[f] || features_.n_codes[f] < 0.3 * static_cast<double>(rules_.total_rows);
    }

    // Whether b is better than a by more than a tie.
    bool better(Candidate& a, Candidate& b, const Tie& tie) const {
        if (!a.found || !b.found) return b.found;
        if (rules_.corrected && a.search_bits >= 0 && b.search_bits >= 0) {
            // Mostly the gains decide without S-values: less gain after as much search is not better, and a lead that
            // exceeds the cost of the search is.
            const double lead = chance_.bits(b.gain) - chance_.bits(a.gain), cost = b.search_bits - a.search_bits;
            if (lead < 0 && cost >= 0) return false;
            if (lead > kNear && lead > cost + kNear) return true;
        }
        return score(b) > tie.raised(score(a));
    }

    double score(Candidate& c) const {
        if (std::isnan(c.score)) c.score = chance_.cut(c.gain, c.search_bits);
        return c.score;
    }

    // The score without the charge for the search over few categories.
    double uncharged_score(Candidate& c) const { return c.few_categories ? chance_.cut(c.gain, 0.0) : score(c); }

  private:
    static constexpr double kNear = 0x1p-10;  // bits

    // Where no feature beats chance, features with few categories are compared without the charge. Otherwise the
    // correction would always take the feature with the fewest categories there, and hide features that matter only
    // together.
    Candidate* best_score(std::vector<Candidate>& candidates, const Tie& tie) const {
        Candidate* best = nullptr;
        int n = 0, n_few = 0;
        for (Candidate& c : candidates) {
            n += c.found;
            n_few += c.found && c.few_categories;
            if (c.found && (!best || better(*best, c, tie))) best = &c;
        }
        if (n_few == 0 || score(*best) > Log2::instance()(n)) return best;
        best = nullptr;
        for (Candidate& c : candidates)
            if (c.found && (!best || uncharged_score(c) > tie.raised(uncharged_score(*best)))) best = &c;
        return best;
    }

    // C4.5: of the splits with at least average gain, the one with the best gain ratio.
    Candidate* best_ratio(std::vector<Candidate>& candidates) const {
        double sum = 0;
        int n = 0;
        bool any_counts = false;
        for (int f = 0; f < features_.count; ++f)
            any_counts = any_counts || (candidates[f].allowed && counts_in_average(f));
        for (const Candidate& c : candidates)
            if (c.found && (c.in_average || !any_counts)) sum += c.gain, ++n;
        if (!n) return nullptr;
        Candidate* best = nullptr;
        double bar = 0;
        for (Candidate& c : candidates)
            if (c.found && c.gain >= sum / n - 1e-3 && c.score > bar + kTie) best = &c, bar = c.score;
        return best;
    }

    const Features& features_;
    const Rules& rules_;
    const Chance& chance_;
};

}  // namespace hornbeam
