// Which test a node is split by, given the best one of each feature.
#pragma once

#include <cstdint>
#include <vector>

#include "split.hpp"

namespace hornbeam {

constexpr double kTie = 1e-6;  // C4.5 takes gains and ratios this close for equal

enum class Way { right, left, own };  // where missing values go

struct Candidate {  // the best test of a feature
    bool found = false;
    bool multiway = false;
    bool in_average = true;
    double gain = 0, ratio = 0;
    int left = -1, right = -1;
    Way missing = Way::right;
};

// What a gain must exceed to be better than another: that one and a bit more.
struct Tie {
    double factor = 1, margin = 0;
    double raised(double gain) const { return gain * factor + margin; }
    const Candidate& better(const Candidate& a, const Candidate& b) const {
        return b.found && (!a.found || b.ratio > raised(a.ratio)) ? b : a;
    }
};

class Choice {
  public:
    Choice(const Features& features, const Rules& rules) : features_(features), rules_(rules) {}

    // The feature that wins at a node of this weight; -1: none does.
    int winner(const std::vector<Candidate>& candidates, int64_t weight, const Tie& tie) const {
        const Candidate* best = rules_.gain_ratio ? best_ratio(candidates) : best_gain(candidates, tie);
        if (!best) return -1;
        const double decrease =
            best->gain * static_cast<double>(weight) / static_cast<double>(rules_.total_weight);
        if (rules_.min_decrease > 0 && decrease < rules_.min_decrease) return -1;
        return static_cast<int>(best - candidates.data());
    }

    // A nominal feature with nearly as many categories as rows would drag the average down.
    bool counts_in_average(int f) const {
        return !features_.nominal[f] || features_.n_codes[f] < 0.3 * static_cast<double>(rules_.total_rows);
    }

  private:
    static const Candidate* best_gain(const std::vector<Candidate>& candidates, const Tie& tie) {
        const Candidate* best = nullptr;
        for (const Candidate& c : candidates)
            if (c.found && (!best || c.gain > tie.raised(best->gain))) best = &c;
        return best;
    }

    // C4.5: of the tests with at least average gain, the one with the best ratio.
    const Candidate* best_ratio(const std::vector<Candidate>& candidates) const {
        double sum = 0;
        int n = 0;
        bool any_counts = false;
        for (int f = 0; f < features_.count; ++f) any_counts = any_counts || counts_in_average(f);
        for (const Candidate& c : candidates)
            if (c.found && (c.in_average || !any_counts)) sum += c.gain, ++n;
        if (!n) return nullptr;
        const Candidate* best = nullptr;
        double bar = 0;
        for (const Candidate& c : candidates)
            if (c.found && c.gain >= sum / n - 1e-3 && c.ratio > bar + kTie) best = &c, bar = c.ratio;
        return best;
    }

    const Features& features_;
    const Rules& rules_;
};

}  // namespace hornbeam
