// The best split of a node, from its entries.
//
// Each feature gives one candidate: the best cut of an ordered feature (ordered.hpp), the best subset of categories,
// which is the same sweep over sorted categories (subset.hpp), or a branch per category (multiway.hpp). Then the
// features compete (choice.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "growing/feature_sampling.hpp"
#include "growing/multiway.hpp"
#include "growing/node_state.hpp"
#include "growing/ordered.hpp"
#include "growing/subset.hpp"

namespace hornbeam {

template <class Criterion, class Entry>
class Scanner {
  public:
    Scanner(const Features& features, const Rules& rules, int n_classes)
        : features_(features), rules_(rules), state_(features, rules, n_classes), ordered_(state_), subset_(state_),
          multiway_(state_), candidates_(features.count) {}

    // `entries(f)` gives the node's entries of feature f.
    template <class Entries>
    Split best(const NodeFacts& node, Entries&& entries) {
        scan_features(node, entries);
        const int f = state_.choice.winner(candidates_, node.weight, state_.tie);
        return f < 0 ? Split{} : make_split(f, candidates_[f], entries);
    }

    // The features may be a part of all: scores of each of them, and the splits that may win among all.
    template <class Entries>
    std::vector<Split> best_per_feature(const NodeFacts& node, Entries&& entries, FeatureScore* scores) {
        scan_features(node, entries);
        std::vector<Split> splits;
        for (int f = 0; f < features_.count; ++f) {
            Candidate& c = candidates_[f];
            if (!c.found) continue;
            if (may_win(c)) splits.push_back(make_split(f, c, entries));
            scores[f] = {c.gain, c.score, c.search_bits, static_cast<double>(c.few_categories)};
        }
        return splits;
    }

    // The winning feature given the scores of all; -1: none.
    int choose(const NodeFacts& node, const FeatureScore* scores) {
        state_.enter(node);
        for (int f = 0; f < features_.count; ++f) {
            candidates_[f] = node.allows(f) ? Candidate{} : not_allowed();
            candidates_[f].found = node.allows(f) && !std::isnan(scores[f].gain);
            candidates_[f].in_average = state_.choice.counts_in_average(f);
            candidates_[f].gain = scores[f].gain;
            candidates_[f].score = scores[f].score;
            candidates_[f].search_bits = scores[f].search_bits;
            candidates_[f].few_categories = scores[f].few_categories != 0;
        }
        return state_.choice.winner(candidates_, node.weight, state_.tie);
    }

  private:
    // A feature cannot win if another one beats its score by more than a tie, whatever their order. Under gain ratio
    // the other must have as much gain too; under correction it must win without the charge for the search as well.
    bool may_win(Candidate& c) {
        const Choice& choice = state_.choice;
        bool beaten = false, beaten_uncharged = !rules_.corrected;
        for (Candidate& o : candidates_) {
            if (!o.found || (rules_.gain_ratio && o.gain < c.gain)) continue;
            beaten = beaten || choice.score(o) > state_.tie.raised(choice.score(c));
            beaten_uncharged =
                beaten_uncharged || choice.uncharged_score(o) > state_.tie.raised(choice.uncharged_score(c));
        }
        return !(beaten && beaten_uncharged);
    }

    template <class Entries>
    void scan_features(const NodeFacts& node, Entries&& entries) {
        state_.enter(node);
        if (rules_.max_features <= 0 || rules_.max_features >= features_.count) {
            for (int f = 0; f < features_.count; ++f)
                candidates_[f] = node.allows(f) ? scan(f, entries(f)) : not_allowed();
            return;
        }
        // `max_features` allowed features; then, while none of them has a split, further ones.
        for (int f = 0; f < features_.count; ++f) candidates_[f] = node.allows(f) ? Candidate{} : not_allowed();
        bool found = false;
        sample_.begin(node.key, features_.count);
        for (int64_t n = 0; sample_.more() && (n < rules_.max_features || !found);) {
            const int f = sample_.next();
            if (!node.allows(f)) continue;
            candidates_[f] = scan(f, entries(f));
            found = found || candidates_[f].found;
            ++n;
        }
    }

    static Candidate not_allowed() {
        Candidate none;
        none.allowed = false;
        return none;
    }

    Candidate scan(int f, Span<Entry> span) {
        const uint32_t missing_code = features_.n_codes[f];
        const Entry* last_known = span.last;
        while (last_known > span.first && code_of(last_known[-1].key) == missing_code) --last_known;
        const Span<Entry> known{span.first, last_known}, missing{last_known, span.last};
        if (known.first == known.last) return {};
        if (!features_.nominal[f]) return ordered_.search(f, known, missing, missing_code);
        if (state_.in_fixed_order(f)) return ordered_.search(f, subset_.place(f, known), missing, kBeyondPositions);
        if (rules_.nominal == Nominal::multiway) return multiway_.search(f, known, missing);
        if (rules_.missing == Missing::learned) return ordered_.search(f, subset_.arrange(span), {nullptr, nullptr}, 0);
        const Span<Entry> ranked = subset_.arrange(known);
        return ordered_.search(f, ranked, missing, static_cast<uint32_t>(subset_.codes().size()));
    }

    // The split of a candidate: the slot of each code.
    template <class Entries>
    Split make_split(int f, const Candidate& c, Entries&& entries) {
        Split split;
        split.feature = f;
        split.gain = c.gain;
        split.left = c.left;
        split.right = c.right;
        const int missing_code = features_.n_codes[f];
        split.slot_of.assign(missing_code + 1, -1);
        const Span<Entry> span = entries(f);
        bool any_missing = false;
        if (state_.in_fixed_order(f)) {
            // A category that no row of the node has goes to the nearer side.
            const int32_t* position = features_.position + features_.offset[f];
            const int middle = (c.left + c.right - 1) / 2;
            for (int code = 0; code < missing_code; ++code)
                if (position[code] >= 0) split.slot_of[code] = position[code] <= middle ? 0 : 1;
            for (const Entry* entry = span.first; entry < span.last; ++entry) {
                const int code = static_cast<int>(code_of(entry->key));
                if (code == missing_code) any_missing = true;
                else split.slot_of[code] = std::max(split.slot_of[code], 0);  // `place` counts it at position 0
            }
            split.left = split.right = -1;
            split.n_slots = 2;
        } else if (features_.nominal[f] && !c.multiway) {
            // The same ranks as in the sweep; with learned directions the missing value is one of the categories.
            const Entry* last = span.last;
            if (rules_.missing != Missing::learned)
                while (code_of(last[-1].key) == static_cast<uint32_t>(missing_code)) --last;
            any_missing = last < span.last;
            subset_.arrange({span.first, last});
            int rank = 0;
            for (const uint32_t code : subset_.codes()) split.slot_of[code] = rank++ <= c.left ? 0 : 1;
            split.left = split.right = -1;
            split.n_slots = 2;
        } else {
            int previous = -1;
            for (const Entry* entry = span.first; entry < span.last; ++entry) {
                const int code = static_cast<int>(code_of(entry->key));
                if (code == missing_code) {
                    any_missing = true;
                } else if (c.multiway) {
                    if (code != previous) split.slot_of[code] = split.n_slots++;
                } else {
                    split.slot_of[code] = code <= c.left ? 0 : 1;
                }
                previous = code;
            }
            if (!c.multiway) split.n_slots = 2;
        }
        if (any_missing) {
            if (rules_.missing == Missing::fractional) {
                split.missing_slot = kEveryChild;
            } else {
                const int side = c.missing == MissingSide::left ? 0 : 1;
                split.missing_slot = c.missing == MissingSide::own ? split.n_slots++ : side;
                split.slot_of[missing_code] = split.missing_slot;
            }
        } else if (split.slot_of[missing_code] >= 0) {
            split.missing_slot = split.slot_of[missing_code];
        }
        return split;
    }

    const Features& features_;
    const Rules& rules_;
    NodeState<Criterion, Entry> state_;
    OrderedSearch<Criterion, Entry> ordered_;
    SubsetOrder<Criterion, Entry> subset_;
    MultiwaySearch<Criterion, Entry> multiway_;
    FeatureSampling sample_;
    std::vector<Candidate> candidates_;
};

}  // namespace hornbeam
