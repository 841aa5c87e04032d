// The best cut of a feature whose codes are in order: an ordered feature, or categories in the order of
// category_order.hpp.
//
// One sweep over the entries moves rows from the right branch to the left, class by class, and looks at every cut
// between two codes. Rows without a value make several cases; the best candidate wins:
//
// clang-format off
//     missing values         candidate                 how
//     none                   left | right              one sweep
//     fractional             left | right              one sweep over the known rows; missing ones go both ways
//     own, learned           known | missing           no sweep; both sides feasible, enough rows missing for a branch
//       own, if feasible     left | right | missing    one sweep over the known rows, missing ones apart
//       else                 left | right + missing    one sweep over all rows, missing ones start right
//                            left + missing | right    one sweep over all rows, missing ones start left
// clang-format on
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "growing/node_state.hpp"

namespace hornbeam {

template <class Criterion, class Entry>
class OrderedSearch {
    using State = NodeState<Criterion, Entry>;
    using Sum = typename State::Sum;
    using Totals = typename State::Totals;
    using Value = typename State::Value;

  public:
    explicit OrderedSearch(State& state) : state_(state) {}

    Candidate search(int f, Span<Entry> known, Span<Entry> missing, uint32_t missing_code) {
        const bool any_missing = missing.first != missing.last;
        if (code_of(known.first->key) == code_of(known.last[-1].key) && !any_missing) return {};
        const Totals all = state_.all();
        if (!any_missing) return candidate(f, sweep(f, known, all, {}), MissingSide::right, all, 0);

        const Totals seen = state_.without(all, missing);
        const int64_t missing_weight = all.weight - seen.weight;
        if (state_.rules.missing == Missing::fractional)
            return candidate(f, sweep(f, known, seen, {}), MissingSide::own, seen, missing_weight);

        const Value missing_value = state_.value_of(missing);
        Candidate best;
        const bool within = state_.monotone.allows(missing) && state_.monotone.allows(seen.counts, seen.weight);
        const double missing_rows = static_cast<double>(missing_weight) * state_.rules.rows_per_step;
        const bool enough = missing_rows >= state_.rules.min_rows_missing;
        if (state_.feasible(seen.rows, seen.weight) && state_.feasible(all.rows - seen.rows, missing_weight) &&
            enough && within && state_.possible(missing_value)) {
            Cut cut;
            cut.found = true;
            cut.value = state_.value_of(seen) + missing_value;
            cut.left = static_cast<int>(code_of(known.last[-1].key));
            cut.right = static_cast<int>(missing_code);
            cut.weight_left = seen.weight;
            cut.n_allowed = 1;
            cut.searched = false;
            best = candidate(f, cut, MissingSide::right, all, 0);
            if (state_.rules.missing == Missing::own) {
                Cut three = sweep(f, known, seen, {});
                three.value += missing_value;
                return better(best, candidate(f, three, MissingSide::own, seen, missing_weight));
            }
        }
        best = better(best, candidate(f, sweep(f, known, all, {}), MissingSide::right, all, 0));
        return better(best, candidate(f, sweep(f, known, all, missing), MissingSide::left, all, 0));
    }

  private:
    struct Cut {
        bool found = false;
        Value value{};
        int left = -1, right = -1;
        int64_t weight_left = 0;
        int64_t n_allowed = 0;
        bool searched = true;  // false: a single candidate, as known against missing values
    };

    Candidate better(Candidate a, Candidate b) const { return state_.choice.better(a, b, state_.tie) ? b : a; }

    // The best cut between two codes of `known`; the rows of `start` begin on the left. Of equal cuts the lowest wins.
    Cut sweep(int f, Span<Entry> known, const Totals& totals, Span<Entry> start) {
        const bool constrained = state_.features.monotone || state_.features.value;
        if constexpr (State::has_tables)
            if (!constrained && state_.rules.min_rows_leaf <= 1 && min_side_weight(f, totals) <= 1)
                if (const auto* tables = state_.tables(totals, known.last - known.first))
                    return sweep<false>(TableSides{*tables, totals.sum}, f, known, totals, start);
        return state_.criterion.within(totals.weight, [&](const auto& criterion) {
            using Form = std::decay_t<decltype(criterion)>;
            return constrained ? sweep<true>(SummedSides<Form>{criterion, {}, totals.sum}, f, known, totals, start)
                               : sweep<false>(SummedSides<Form>{criterion, {}, totals.sum}, f, known, totals, start);
        });
    }

    // Both sides of a cut while rows move from the right to the left: their sums, and the value of the cut.
    template <class Form>
    struct SummedSides {
        static constexpr bool checks_sizes = true;  // whether a side may have too few rows
        const Form& criterion;
        Sum left, right;
        void move(uint32_t, int64_t l, int64_t r, int64_t x) {
            left += criterion.term(l + x) - criterion.term(l);
            right += criterion.term(r - x) - criterion.term(r);
        }
        Value value(int64_t weight, int64_t total, const int64_t* at, const int64_t* all) const {
            return criterion.value(left, weight, [&](int k) { return at[k]; }) +
                   criterion.value(right, total - weight, [&](int k) { return all[k] - at[k]; });
        }
    };

    struct TableSides {
        static constexpr bool checks_sizes = false;
        const typename Criterion::BothSides& tables;
        Sum sum;
        void move(uint32_t k, int64_t l, int64_t, int64_t x) {
            const int64_t* of_class = tables.of_class(k);
            sum += of_class[l + x] - of_class[l];
        }
        Value value(int64_t weight, int64_t, const int64_t*, const int64_t*) const {
            return sum - tables.of_all()[weight];
        }
    };

    // Whether two neighbours differ in code and whether a cut is better is unpredictable, so there is no branch on
    // either: the value is computed after every entry, and kept or dropped by conditional moves.
    template <bool constrained, class Sides>
    Cut sweep(Sides sides, int f, Span<Entry> known, const Totals& totals, Span<Entry> start) {
        const int64_t min_rows = state_.rules.min_rows_leaf, min_weight = min_side_weight(f, totals);
        int64_t* left = state_.branch.data();
        const int64_t* counts = totals.counts;
        int64_t weight = 0, rows = 0;
        const auto move = [&](const Entry& entry) {
            const uint32_t k = label_of(entry.key);
            const int64_t x = amount_of(state_.criterion, entry), l = left[k];
            sides.move(k, l, counts[k] - l, x);
            left[k] = l + x;
            weight += entry.weight();
            rows += entry.rows();
        };
        for (const Entry* entry = start.first; entry < start.last; ++entry) move(*entry);
        Value bar = std::numeric_limits<Value>::lowest(), best{};
        if (state_.rules.gain_ratio) bar = state_.raised(state_.value_of(totals));
        const Entry* at = nullptr;
        int64_t weight_left = 0, n_allowed = 0;
        for (const Entry *entry = known.first, *last = known.last - 1; entry < last; ++entry) {
            move(*entry);
            bool allowed = code_of(entry->key) != code_of(entry[1].key);
            if constexpr (Sides::checks_sizes) {
                if (rows < min_rows) continue;
                if (totals.rows - rows < min_rows) break;
                allowed = allowed & (weight >= min_weight) & (totals.weight - weight >= min_weight);
            }
            if constexpr (constrained)
                allowed = allowed && wide_enough(f, entry) &&
                          state_.monotone.allows_cut(f, left, weight, counts, totals.weight - weight);
            n_allowed += allowed;
            const Value value = sides.value(weight, totals.weight, left, counts);
            const bool better = allowed & (value > bar);
            bar = better ? state_.raised(value) : bar;
            best = better ? value : best;
            at = better ? entry : at;
            weight_left = better ? weight : weight_left;
        }
        clear_branch(start, known);
        Cut cut;
        if (!at) return cut;
        cut.found = true;
        cut.value = best;
        cut.left = static_cast<int>(code_of(at->key));
        cut.right = static_cast<int>(code_of(at[1].key));
        cut.weight_left = weight_left;
        cut.n_allowed = n_allowed;
        return cut;
    }

    void clear_branch(Span<Entry> start, Span<Entry> known) {
        std::vector<int64_t>& branch = state_.branch;
        if (state_.n_classes <= known.last - known.first) {
            std::fill(branch.begin(), branch.end(), 0);
            return;
        }
        for (const Entry* entry = start.first; entry < start.last; ++entry) branch[label_of(entry->key)] = 0;
        for (const Entry* entry = known.first; entry < known.last; ++entry) branch[label_of(entry->key)] = 0;
    }

    // The candidate of a cut: its gain, and under gain ratio C4.5's penalty and the split information.
    // `missing_weight`: of rows that are not in `totals`.
    Candidate candidate(int f, const Cut& cut, MissingSide missing, const Totals& totals, int64_t missing_weight) {
        Candidate c;
        if (!cut.found || !state_.worthwhile(cut.value)) return c;
        const bool fractional = state_.rules.missing == Missing::fractional && missing_weight;
        const Value node_value = fractional ? state_.value_of(totals) : state_.value;
        c.found = true;
        c.gain = std::max(0.0, state_.criterion.gain(cut.value, node_value, state_.node.weight));
        if (!state_.earns_price(c, f)) return {};
        score(c, f, cut);
        c.left = cut.left;
        c.right = cut.right;
        c.missing = missing;
        if (state_.rules.gain_ratio) {
            if (!state_.features.nominal[f])
                c.gain -= Log2::instance()(static_cast<double>(cut.n_allowed)) / state_.real(state_.node.weight);
            if (c.gain <= kTie) return {};
            const int64_t branches[] = {cut.weight_left, totals.weight - cut.weight_left, missing_weight};
            c.score = state_.ratio(c.gain, branches, 3);
            c.in_average = state_.choice.counts_in_average(f);
        }
        return c;
    }

    // The number that features are compared by. The S-value of an ordered feature is computed only if it is needed.
    void score(Candidate& c, int f, const Cut& cut) {
        c.score = c.gain;
        if (!state_.rules.corrected) return;
        if (!state_.features.nominal[f] || !cut.searched) {
            c.search_bits = state_.chance.search_bits(cut.n_allowed);
            c.score = std::numeric_limits<double>::quiet_NaN();
        } else if (state_.in_fixed_order(f)) {
            state_.set_s_value_in_fixed_order(c, state_.s_value_in_order(f, c.gain, cut.n_allowed));
        } else {
            state_.set_s_value(c, state_.s_value_of_subset(f, c.gain, cut.n_allowed));
        }
    }

    // C4.5 requires on each side of a numeric cut a tenth of a class's mean weight, between the minimum and 25.
    int64_t min_side_weight(int f, const Totals& totals) const {
        const Rules& rules = state_.rules;
        if (!rules.gain_ratio || state_.features.nominal[f]) return rules.min_weight_leaf;
        const double tenth = 0.1 * state_.real(totals.weight) / state_.n_classes;
        const double least = state_.real(rules.min_weight_leaf);
        const double bar = tenth <= least ? least : std::min(tenth, 25.0);
        return static_cast<int64_t>(std::clamp(std::ceil((bar - kTie) / rules.unit), 0.0, 0x1p62));
    }

    // C4.5 does not cut between values closer than this.
    bool wide_enough(int f, const Entry* entry) const {
        const Features& features = state_.features;
        if (!features.value || features.nominal[f]) return true;
        const double* value = features.value + features.offset[f];
        return value[code_of(entry->key)] + 1e-5 < value[code_of(entry[1].key)];
    }

    State& state_;
};

}  // namespace hornbeam
