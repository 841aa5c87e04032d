// Which test a node is split by, given the best one of each feature.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "growing/chance.hpp"
#include "growing/split.hpp"

namespace hornbeam {

constexpr double kTie = 1e-6;  // C4.5 takes gains and ratios this close for equal

enum class Way { right, left, own };  // where missing values go

struct Candidate {  // the best test of a feature
    bool found = false;
    bool multiway = false;
    bool in_average = true;
    double gain = 0;
    double score = 0;  // what features are compared by: the gain, C4.5's gain ratio, or the S-value; NaN: not yet known
    double searched = 0;  // bits that the search of an ordered feature costs; -1: not ordered
    bool few = false;     // few categories: where no feature beats chance, the search over them is not charged
    int left = -1, right = -1;
    Way missing = Way::right;
};

struct Offer {  // what a feature can do for a node, as plain numbers; gain NaN: nothing
    double gain = std::numeric_limits<double>::quiet_NaN(), score = 0, searched = 0, few = 0;
};

// What a gain or score must exceed to be better than another: that one and a bit more.
struct Tie {
    double factor = 1, margin = 0;
    double raised(double score) const { return score * factor + margin; }
};

class Choice {
  public:
    Choice(const Features& features, const Rules& rules, const Chance& chance)
        : features_(features), rules_(rules), chance_(chance) {}

    // The feature that wins at a node of this weight; -1: none does.
    int winner(std::vector<Candidate>& candidates, int64_t weight, const Tie& tie) const {
        Candidate* best = rules_.gain_ratio ? best_ratio(candidates) : best_score(candidates, tie);
        if (!best) return -1;
        const double decrease = best->gain * static_cast<double>(weight) / static_cast<double>(rules_.total_weight);
        if (rules_.min_decrease > 0 && decrease < rules_.min_decrease) return -1;
        return static_cast<int>(best - candidates.data());
    }

    // A nominal feature with nearly as many categories as rows would drag the average down.
    bool counts_in_average(int f) const {
        return !features_.nominal[f] || features_.n_codes[f] < 0.3 * static_cast<double>(rules_.total_rows);
    }

    // Whether the second is better than the first, by more than a tie.
    bool better(Candidate& a, Candidate& b, const Tie& tie) const {
        if (!a.found || !b.found) return b.found;
        if (rules_.corrected && a.searched >= 0 && b.searched >= 0) {
            // Less gain after no less search is no better, and a lead beyond the cost of the search is: mostly that
            // decides.
            const double lead = chance_.bits(b.gain) - chance_.bits(a.gain), cost = b.searched - a.searched;
            if (lead < 0 && cost >= 0) return false;
            if (lead > kNear && lead > cost + kNear) return true;
        }
        return score(b) > tie.raised(score(a));
    }

    double score(Candidate& c) const {
        if (std::isnan(c.score)) c.score = chance_.cut(c.gain, c.searched);
        return c.score;
    }
    // The score where no feature beats chance.
    double plain(Candidate& c) const { return c.few ? chance_.cut(c.gain, 0.0) : score(c); }

  private:
    static constexpr double kNear = 0x1p-10;  // bits

    Candidate* best_score(std::vector<Candidate>& candidates, const Tie& tie) const {
        Candidate* best = nullptr;
        int n = 0, n_few = 0;
        for (Candidate& c : candidates) {
            n += c.found;
            n_few += c.found && c.few;
            if (c.found && (!best || better(*best, c, tie))) best = &c;
        }
        if (n_few == 0 || score(*best) > Log2::instance()(n)) return best;
        best = nullptr;
        for (Candidate& c : candidates)
            if (c.found && (!best || plain(c) > tie.raised(plain(*best)))) best = &c;
        return best;
    }

    // C4.5: of the tests with at least average gain, the one with the best ratio.
    Candidate* best_ratio(std::vector<Candidate>& candidates) const {
        double sum = 0;
        int n = 0;
        bool any_counts = false;
        for (int f = 0; f < features_.count; ++f) any_counts = any_counts || counts_in_average(f);
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
