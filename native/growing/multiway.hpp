// The multiway split of a nominal feature: one branch per category that occurs in the node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "growing/node_state.hpp"

namespace hornbeam {

template <class Criterion, class Entry>
class MultiwaySearch {
    using State = NodeState<Criterion, Entry>;
    using Totals = typename State::Totals;
    using Value = typename State::Value;

  public:
    explicit MultiwaySearch(State& state) : state_(state) {}

    // Missing values are a category of their own, except under fractional rows, which leave them out.
    Candidate search(int f, Span<Entry> known, Span<Entry> missing) {
        const bool all_rows = state_.rules.missing != Missing::fractional || missing.first == missing.last;
        const Totals totals = all_rows ? state_.all() : state_.without(state_.all(), missing);
        branches_.clear();
        state_.sizes.clear();
        Value value{};
        int n_feasible = 0;
        bool allowed = true;
        const Entry* last = all_rows ? missing.last : known.last;
        for (const Entry* entry = known.first; entry < last;) {
            const Entry* first = entry;
            int64_t weight = 0, rows = 0;
            for (; entry < last && code_of(entry->key) == code_of(first->key); ++entry) {
                weight += entry->weight();
                rows += entry->rows();
            }
            const Span<Entry> group{first, entry};
            value += state_.value_of(group);
            allowed = allowed && state_.monotone.allows(group);
            n_feasible += state_.feasible(rows, weight);
            branches_.push_back(weight);
            if (state_.rules.corrected) state_.sizes.push_back(state_.independent_rows(group));
        }
        Candidate c;
        if (branches_.size() < 2 || n_feasible < 2 || !allowed || !state_.worthwhile(value)) return c;
        c.gain = std::max(0.0, state_.criterion.gain(value, state_.value_of(totals), state_.node.weight));
        if (!state_.earns_price(c, f)) return {};
        c.found = c.multiway = true;
        c.score = c.gain;
        c.missing = MissingSide::own;
        if (state_.rules.corrected) state_.set_s_value(c, state_.chance.multiway(c.gain, state_.sizes));
        if (state_.rules.gain_ratio) {
            if (!all_rows) branches_.push_back(state_.node.weight - totals.weight);
            c.score = state_.ratio(c.gain, branches_.data(), branches_.size());
            c.in_average = state_.choice.counts_in_average(f);
        }
        return c;
    }

  private:
    State& state_;
    std::vector<int64_t> branches_;  // weights
};

}  // namespace hornbeam
