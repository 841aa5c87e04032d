// The best split of a node, from its entries.
//
// One sweep over the entries of a feature moves rows from the right branch to the left, class by class, and looks at
// every cut between two codes. Ties go to the earlier feature and the lower cut. Subset splits are the same sweep over
// categories in the order of their affinity.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "growing/category_order.hpp"
#include "growing/chance.hpp"
#include "growing/choice.hpp"
#include "growing/criteria.hpp"
#include "growing/entries.hpp"
#include "growing/feature_sampling.hpp"
#include "growing/split.hpp"

namespace hornbeam {

struct Node {
    const int64_t* counts;  // weight of each class, or the sum of numerators
    int64_t weight;
    int64_t rows;
    Bounds bounds;
    uint64_t key = 0;   // what a draw of features depends on
    double spread = 0;  // sums: the variance of the rows
};

template <class Criterion, class Entry>
class Scanner {
    using Sum = typename Criterion::Sum;
    using Value = typename Criterion::Value;

  public:
    Scanner(const Features& features, const Rules& rules, int n_classes)
        : features_(features), rules_(rules), n_classes_(n_classes), criterion_(rules),
          choice_(features, rules, chance_), branch_(n_classes, 0), known_(n_classes, 0), candidates_(features.count),
          affinity_(n_classes) {}

    // `entries(f)` gives the node's entries of feature f.
    template <class Entries>
    Split best(const Node& node, Entries&& entries) {
        compare(node, entries);
        const int f = choice_.winner(candidates_, node_.weight, tie_);
        return f < 0 ? Split{} : realise(f, candidates_[f], entries);
    }

    // These may be some features of many: what each offers, and the splits that may win among all.
    template <class Entries>
    std::vector<Split> offers(const Node& node, Entries&& entries, Offer* offer) {
        compare(node, entries);
        std::vector<Split> splits;
        for (int f = 0; f < features_.count; ++f) {
            Candidate& c = candidates_[f];
            if (!c.found) continue;
            if (may_win(c)) splits.push_back(realise(f, c, entries));
            offer[f] = {c.gain, c.score, c.searched, static_cast<double>(c.few)};
        }
        return splits;
    }

    // The feature that wins given what each offers; -1: none does.
    int choose(const Node& node, const Offer* offer) {
        enter(node);
        for (int f = 0; f < features_.count; ++f) {
            candidates_[f] = Candidate{};
            candidates_[f].found = !std::isnan(offer[f].gain);
            candidates_[f].in_average = choice_.counts_in_average(f);
            candidates_[f].gain = offer[f].gain;
            candidates_[f].score = offer[f].score;
            candidates_[f].searched = offer[f].searched;
            candidates_[f].few = offer[f].few != 0;
        }
        return choice_.winner(candidates_, node_.weight, tie_);
    }

  private:
    struct Cut {
        bool found = false;
        Value value{};
        int left = -1, right = -1;
        int64_t weight_left = 0;
        int64_t n_allowed = 0;
        bool searched = true;  // false: there was nothing to search, as for known against missing values
    };

    struct Whole {  // what a sweep shares out between left and right
        const int64_t* counts;
        Sum sum;
        int64_t weight, rows;
    };

    // A feature cannot win if another has a score better by more than a tie, wherever that one stands; under gain ratio
    // if it has as much gain too, and under correction if that is so where no feature beats chance as well.
    bool may_win(Candidate& c) {
        bool beaten = false, beaten_plain = !rules_.corrected;
        for (Candidate& o : candidates_) {
            if (!o.found || (rules_.gain_ratio && o.gain < c.gain)) continue;
            beaten = beaten || choice_.score(o) > tie_.raised(choice_.score(c));
            beaten_plain = beaten_plain || choice_.plain(o) > tie_.raised(choice_.plain(c));
        }
        return !(beaten && beaten_plain);
    }

    void enter(const Node& node) {
        node_ = node;
        criterion_.enter(node.counts, node.weight, n_classes_);
        if constexpr (Entry::sums) {
            centred_ = *node.counts - criterion_.centre() * node.weight;
            node_.counts = &centred_;
        }
        node_sum_ = Sum{};
        for (int k = 0; k < n_classes_; ++k) node_sum_ += criterion_.term(node_.counts[k]);
        node_value_ = criterion_.value(node_sum_, node.weight, [&](int k) { return node_.counts[k]; });
        if constexpr (Entry::sums) {
            noise_ = criterion_.noise(node_value_, node.weight, node.rows);
            tie_.factor = kAlike;
        } else {
            noise_ = rules_.gain_ratio ? tolerance() : criterion_.noise(node.weight, n_classes_);
            tie_.margin = rules_.gain_ratio ? kTie : criterion_.gain(noise_, Value{}, node.weight);
        }
        if (rules_.corrected) enter_chance();
    }

    // What one unit of gain is worth in bits, and how the classes are distributed.
    void enter_chance() {
        tie_ = Tie{kAlike, 0x1p-30};
        const double n = static_cast<double>(node_.weight) * rules_.rows_per_step;
        if constexpr (Entry::sums) {
            const double variance = std::max(node_.spread, 1e-280);
            const double bits = rules_.dispersion > 0 ? real(node_.weight) / rules_.dispersion : n / variance;
            chance_.enter(2, rules_.dispersion > 0 ? static_cast<double>(node_.rows) : n, 0.0, bits / kChiSquare);
        } else {
            int present = 0;
            double sides[2] = {0, 0}, impurity = 1;
            for (int k = 0; k < n_classes_; ++k) {
                const double share = static_cast<double>(node_.counts[k]) / static_cast<double>(node_.weight);
                present += node_.counts[k] > 0;
                sides[sides[1] < sides[0]] += share;
                impurity -= share * share;
            }
            chance_.enter(present, n, std::min(sides[0], sides[1]), n * criterion_.bits_per_gain(impurity, present));
        }
    }

    // An entry's share in a branch: its weight of a class, or its sum of numerators from the node's mean.
    int64_t amount(const Entry& entry) const {
        if constexpr (Entry::sums) return entry.amount() - criterion_.centre() * entry.weight();
        return entry.weight();
    }

    // What a value must exceed to be better than this one. Those of sums have no bounds to measure by: their rounding
    // is a share of themselves.
    Value raised_value(Value value) const {
        if constexpr (Entry::sums) return value * kAlike;
        return value + noise_;
    }
    // Whether a split of this value is worth more than rounding may pretend. Classes have other ways to say so.
    bool worth(Value value) const {
        if constexpr (Entry::sums) return value - node_value_ > noise_;
        return true;
    }

    Candidate scan(int f, Span<Entry> span) {
        const uint32_t missing_code = features_.n_codes[f];
        const Entry* last_known = span.last;
        while (last_known > span.first && code_of(last_known[-1].key) == missing_code) --last_known;
        const Span<Entry> known{span.first, last_known}, missing{last_known, span.last};
        if (known.first == known.last) return {};
        if (!features_.nominal[f]) return ordered(f, known, missing, missing_code);
        if (rules_.nominal == Nominal::multiway) return multiway(f, known, missing);
        if (rules_.missing == Missing::learned) return ordered(f, arrange(span), {nullptr, nullptr}, 0);
        const Span<Entry> ranked = arrange(known);
        return ordered(f, ranked, missing, static_cast<uint32_t>(affinity_.codes().size()));
    }

    // The categories of a subset test, in the order in which they are cut.
    Span<Entry> arrange(Span<Entry> span) {
        Span<Entry> ranked = affinity_.order(span);
        if constexpr (!Entry::sums) {
            if (n_classes_ > 2 && affinity_.groups().size() <= kExhaustive)
                if (const uint32_t subset = best_subset()) ranked = affinity_.move_first(subset);
        }
        if (rules_.corrected) {
            sizes_.clear();
            for (const auto& group : affinity_.groups()) sizes_.push_back(rows_of({group.first, group.last}));
        }
        return ranked;
    }
    // Of more than two classes no order of the categories is sure to hold the best subset, so while they are few all
    // are tried. Bit i: the category at rank i is in it, the last one never is. 0: a cut in the order is as good.
    uint32_t best_subset() {
        const auto& groups = affinity_.groups();
        const auto n = static_cast<int>(groups.size());
        if (n < 3) return 0;
        whole_.assign(n_classes_, 0);
        Whole whole{whole_.data(), Sum{}, 0, 0};
        for (const auto& group : groups)
            for (const Entry* e = group.first; e < group.last; ++e) {
                whole_[label_of(e->key)] += e->weight();
                whole.weight += e->weight();
                whole.rows += e->rows();
            }
        for (int k = 0; k < n_classes_; ++k) whole.sum += criterion_.term(whole_[k]);
        int64_t* left = branch_.data();
        Sum sum_left{}, sum_right = whole.sum;
        int64_t weight = 0, rows = 0;
        uint32_t in = 0, best = 0;
        Value ordered = std::numeric_limits<Value>::lowest(), best_value = ordered, bar = ordered;
        for (uint32_t step = 1; step < 1u << (n - 1);
             ++step) {  // in the order of Gray's code one category moves a step
            int rank = 0;
            while (!(step >> rank & 1)) ++rank;
            in ^= 1u << rank;
            const int64_t sign = in >> rank & 1 ? 1 : -1;
            for (const Entry* e = groups[rank].first; e < groups[rank].last; ++e) {
                const uint32_t k = label_of(e->key);
                const int64_t x = sign * e->weight(), l = left[k], r = whole_[k] - l;
                sum_left += criterion_.term(l + x) - criterion_.term(l);
                sum_right += criterion_.term(r - x) - criterion_.term(r);
                left[k] = l + x;
                weight += x;
                rows += sign * e->rows();
            }
            if (!feasible(rows, weight) || !feasible(whole.rows - rows, whole.weight - weight)) continue;
            const Value value = criterion_.value(sum_left, weight, [&](int k) {
                return left[k];
            }) + criterion_.value(sum_right, whole.weight - weight, [&](int k) { return whole_[k] - left[k]; });
            if ((in & (in + 1)) == 0 && value > ordered) ordered = value;
            if (value > bar) best_value = value, bar = raised_value(value), best = in;
        }
        std::fill(branch_.begin(), branch_.end(), 0);
        const bool none_ordered = ordered == std::numeric_limits<Value>::lowest();
        return best && (none_ordered || best_value > raised_value(ordered)) ? best : 0;
    }

    // Independent rows of a category, as far as is known.
    double rows_of(Span<Entry> group) const {
        int64_t weight = 0, rows = 0;
        for (const Entry* entry = group.first; entry < group.last; ++entry) {
            weight += entry->weight();
            rows += entry->rows();
        }
        if (rules_.rows_per_row > 0) return static_cast<double>(rows) * rules_.rows_per_row;
        return static_cast<double>(weight) * rules_.rows_per_step;
    }

    // ---- ordered tests ------------------------------------------------------------------------------------------

    Candidate ordered(int f, Span<Entry> known, Span<Entry> missing, uint32_t missing_code) {
        if (code_of(known.first->key) == code_of(known.last[-1].key) && missing.first == missing.last) return {};
        const Whole all{node_.counts, node_sum_, node_.weight, node_.rows};
        if (missing.first == missing.last) return settle(f, sweep(f, known, all, {}), Way::right, all, 0);

        const Whole seen = without(all, missing);
        const int64_t lost = all.weight - seen.weight;
        if (rules_.missing == Missing::fractional) return settle(f, sweep(f, known, seen, {}), Way::own, seen, lost);

        // Known against missing: a test of its own, whatever the mode.
        const Value apart = value_of(missing);
        Candidate best;
        const bool within =
            bounded(missing) && (!features_.monotone || inside(seen.counts[bound_class()], seen.weight));
        if (feasible(seen.rows, seen.weight) && feasible(all.rows - seen.rows, lost) && within) {
            Cut cut;
            cut.found = true;
            cut.value = criterion_.value(seen.sum, seen.weight, [&](int k) { return seen.counts[k]; }) + apart;
            cut.left = static_cast<int>(code_of(known.last[-1].key));
            cut.right = static_cast<int>(missing_code);
            cut.weight_left = seen.weight;
            cut.n_allowed = 1;
            cut.searched = false;
            best = settle(f, cut, Way::right, all, 0);
            if (rules_.missing == Missing::own) {
                Cut three = sweep(f, known, seen, {});
                three.value += apart;
                return better(best, settle(f, three, Way::own, seen, lost));
            }
        }
        best = better(best, settle(f, sweep(f, known, all, {}), Way::right, all, 0));
        return better(best, settle(f, sweep(f, known, all, missing), Way::left, all, 0));
    }

    Candidate better(Candidate a, Candidate b) const { return choice_.better(a, b, tie_) ? b : a; }

    // Every cut between two codes of `known`; `start` begins on the left. Strictly better cuts win, so the lowest
    // stays. Whether two neighbours differ in code or a cut is better is a coin toss: the loop looks after every entry
    // and keeps or drops the result without a branch.
    Cut sweep(int f, Span<Entry> known, const Whole& whole, Span<Entry> start) {
        const bool careful = features_.monotone || features_.value;
        return criterion_.within(whole.weight, [&](const auto& criterion) {
            return careful ? sweep<true>(criterion, f, known, whole, start)
                           : sweep<false>(criterion, f, known, whole, start);
        });
    }

    template <bool careful, class Form>
    Cut sweep(const Form& criterion, int f, Span<Entry> known, const Whole& whole, Span<Entry> start) {
        const int64_t min_rows = rules_.min_rows_leaf, min_weight = min_side_weight(f, whole);
        int64_t* left = branch_.data();
        const int64_t* counts = whole.counts;
        Sum sum_left{}, sum_right = whole.sum;
        int64_t weight = 0, rows = 0;
        const auto move = [&](const Entry& entry) {
            const uint32_t k = label_of(entry.key);
            const int64_t x = amount(entry), l = left[k], r = counts[k] - l;
            sum_left += criterion.term(l + x) - criterion.term(l);
            sum_right += criterion.term(r - x) - criterion.term(r);
            left[k] = l + x;
            weight += entry.weight();
            rows += entry.rows();
        };
        for (const Entry* entry = start.first; entry < start.last; ++entry) move(*entry);
        Value bar = std::numeric_limits<Value>::lowest(), best{};
        if (rules_.gain_ratio)
            bar = raised_value(criterion.value(whole.sum, whole.weight, [&](int k) { return counts[k]; }));
        const Entry* at = nullptr;
        int64_t weight_left = 0, n_allowed = 0;
        for (const Entry *entry = known.first, *last = known.last - 1; entry < last; ++entry) {
            move(*entry);
            bool allowed = (code_of(entry->key) != code_of(entry[1].key)) & (rows >= min_rows) &
                           (whole.rows - rows >= min_rows) & (weight >= min_weight) &
                           (whole.weight - weight >= min_weight);
            if constexpr (careful)
                allowed = allowed && wide_enough(f, entry) && monotone(f, left, weight, counts, whole.weight - weight);
            n_allowed += allowed;
            const Value value = criterion.value(sum_left, weight, [&](int k) {
                return left[k];
            }) + criterion.value(sum_right, whole.weight - weight, [&](int k) { return counts[k] - left[k]; });
            const bool better = allowed & (value > bar);
            bar = better ? raised_value(value) : bar;
            best = better ? value : best;
            at = better ? entry : at;
            weight_left = better ? weight : weight_left;
        }
        clear(start, known);
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

    void clear(Span<Entry> start, Span<Entry> known) {
        if (n_classes_ <= known.last - known.first) {
            std::fill(branch_.begin(), branch_.end(), 0);
            return;
        }
        for (const Entry* entry = start.first; entry < start.last; ++entry) branch_[label_of(entry->key)] = 0;
        for (const Entry* entry = known.first; entry < known.last; ++entry) branch_[label_of(entry->key)] = 0;
    }

    // From the best cut of a feature to its candidate: gain, and under gain ratio the penalty and the split
    // information.
    Candidate settle(int f, const Cut& cut, Way missing, const Whole& shared, int64_t apart) {
        Candidate c;
        if (!cut.found || !worth(cut.value)) return c;
        Value node_value = node_value_;
        if (rules_.missing == Missing::fractional && apart)
            node_value = criterion_.value(shared.sum, shared.weight, [&](int k) { return shared.counts[k]; });
        c.found = true;
        c.gain = std::max(0.0, criterion_.gain(cut.value, node_value, node_.weight));
        score(c, f, cut);
        c.left = cut.left;
        c.right = cut.right;
        c.missing = missing;
        if (rules_.gain_ratio) {
            if (!features_.nominal[f])
                c.gain -= Log2::instance()(static_cast<double>(cut.n_allowed)) / real(node_.weight);
            if (c.gain <= kTie) return {};
            const int64_t branches[] = {cut.weight_left, shared.weight - cut.weight_left, apart};
            c.score = ratio(c.gain, branches, 3);
            c.in_average = choice_.counts_in_average(f);
        }
        return c;
    }

    // What the candidate is compared by. Where no feature beats chance, few categories are not held against a feature:
    // there the correction would always take the feature with the fewest, and hide those that matter only together.
    void score(Candidate& c, int f, const Cut& cut) {
        c.score = c.gain;
        if (!rules_.corrected) return;
        if (!features_.nominal[f] || !cut.searched) {
            c.searched = chance_.searched(cut.n_allowed);
            c.score = std::numeric_limits<double>::quiet_NaN();
        } else {
            rate(c, chance_.subset(c.gain, sizes_));
        }
    }
    // A feature of many categories that gains less than chance does offers nothing.
    void rate(Candidate& c, double s_value) const {
        c.score = s_value;
        c.searched = -1;
        c.few = sizes_.size() <= kFewCategories;
        c.found = c.few || s_value > kLeastSurprise;
    }

    // ---- multiway tests -----------------------------------------------------------------------------------------

    Candidate multiway(int f, Span<Entry> known, Span<Entry> missing) {
        const bool whole = rules_.missing != Missing::fractional || missing.first == missing.last;
        const Whole all{node_.counts, node_sum_, node_.weight, node_.rows};
        const Whole shared = whole ? all : without(all, missing);
        branches_.clear();
        sizes_.clear();
        Value value{};
        int n_big = 0;
        bool bounded_all = true;
        const Entry* last = whole ? missing.last : known.last;
        for (const Entry* entry = known.first; entry < last;) {
            const Entry* group = entry;
            int64_t weight = 0, rows = 0;
            for (; entry < last && code_of(entry->key) == code_of(group->key); ++entry) {
                weight += entry->weight();
                rows += entry->rows();
            }
            value += value_of({group, entry});
            bounded_all = bounded_all && bounded({group, entry});
            n_big += feasible(rows, weight);
            branches_.push_back(weight);
            if (rules_.corrected) sizes_.push_back(rows_of({group, entry}));
        }
        Candidate c;
        if (branches_.size() < 2 || n_big < 2 || !bounded_all || !worth(value)) return c;
        const Value node_value = criterion_.value(shared.sum, shared.weight, [&](int k) { return shared.counts[k]; });
        c.found = c.multiway = true;
        c.gain = c.score = std::max(0.0, criterion_.gain(value, node_value, node_.weight));
        c.missing = Way::own;
        if (rules_.corrected) {
            rate(c, chance_.multiway(c.gain, sizes_));
        }
        if (rules_.gain_ratio) {
            if (!whole) branches_.push_back(node_.weight - shared.weight);
            c.score = ratio(c.gain, branches_.data(), branches_.size());
            c.in_average = choice_.counts_in_average(f);
        }
        return c;
    }

    // ---- choosing -----------------------------------------------------------------------------------------------

    template <class Entries>
    void compare(const Node& node, Entries&& entries) {
        enter(node);
        if (rules_.max_features <= 0 || rules_.max_features >= features_.count) {
            for (int f = 0; f < features_.count; ++f) candidates_[f] = scan(f, entries(f));
            return;
        }
        // So many features; then, if none of them offers a split, more until one does.
        std::fill(candidates_.begin(), candidates_.end(), Candidate{});
        bool found = false;
        draw_.begin(node.key, features_.count);
        for (int64_t n = 0; draw_.more() && (n < rules_.max_features || !found); ++n) {
            const int f = draw_.next();
            candidates_[f] = scan(f, entries(f));
            found = found || candidates_[f].found;
        }
    }

    double ratio(double gain, const int64_t* branches, size_t n) const {
        int64_t fixed = criterion_.term(node_.weight);
        for (size_t i = 0; i < n; ++i) fixed -= criterion_.term(branches[i]);
        const double information = split_bits(fixed) / static_cast<double>(node_.weight);
        return information > kTie ? gain / information : 0.0;
    }
    double split_bits(int64_t fixed) const {
        if constexpr (std::is_same_v<Criterion, Entropy>) return criterion_.bits(fixed);
        return 0.0;
    }

    // The winner's slots, code by code.
    template <class Entries>
    Split realise(int f, const Candidate& c, Entries&& entries) {
        Split split;
        split.feature = f;
        split.gain = c.gain;
        split.left = c.left;
        split.right = c.right;
        const int missing_code = features_.n_codes[f];
        split.slot_of.assign(missing_code + 1, -1);
        Span<Entry> span = entries(f);
        bool any_missing = false;
        if (features_.nominal[f] && !c.multiway) {
            // Ranks as the sweep saw them; with learned directions the missing value is one of the categories.
            const Entry* last = span.last;
            if (rules_.missing != Missing::learned)
                while (code_of(last[-1].key) == static_cast<uint32_t>(missing_code)) --last;
            any_missing = last < span.last;
            arrange({span.first, last});
            int rank = 0;
            for (const uint32_t code : affinity_.codes()) split.slot_of[code] = rank++ <= c.left ? 0 : 1;
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
                split.missing_slot = -2;
            } else {
                split.missing_slot = c.missing == Way::own ? split.n_slots++ : c.missing == Way::left ? 0 : 1;
                split.slot_of[missing_code] = split.missing_slot;
            }
        } else if (split.slot_of[missing_code] >= 0) {
            split.missing_slot = split.slot_of[missing_code];
        }
        return split;
    }

    // ---- pieces -------------------------------------------------------------------------------------------------

    static constexpr size_t kExhaustive = 10;
    static constexpr double kLeastSurprise = 0.05;
    static constexpr double kAlike = 1 + 0x1p-44;  // sums: larger by less than that is equal

    double real(int64_t weight) const { return static_cast<double>(weight) * rules_.unit; }
    Value tolerance() const {
        if constexpr (std::is_same_v<Criterion, Entropy>)
            return static_cast<Value>(kTie * static_cast<double>(node_.weight) / criterion_.bits(1));
        return Value{};
    }
    bool feasible(int64_t rows, int64_t weight) const {
        return rows >= rules_.min_rows_leaf && weight >= rules_.min_weight_leaf;
    }

    // C4.5 asks each side of a numeric cut for a tenth of a class's mean share, between the minimum and 25.
    int64_t min_side_weight(int f, const Whole& whole) const {
        if (!rules_.gain_ratio || features_.nominal[f]) return rules_.min_weight_leaf;
        const double tenth = 0.1 * real(whole.weight) / n_classes_;
        const double least = real(rules_.min_weight_leaf);
        const double bar = tenth <= least ? least : std::min(tenth, 25.0);
        return static_cast<int64_t>(std::clamp(std::ceil((bar - kTie) / rules_.unit), 0.0, 0x1p62));
    }

    Whole without(const Whole& all, Span<Entry> missing) {
        Whole rest = all;
        std::copy(all.counts, all.counts + n_classes_, known_.begin());
        for (const Entry* entry = missing.first; entry < missing.last; ++entry) {
            int64_t& count = known_[label_of(entry->key)];
            const int64_t x = amount(*entry);
            rest.sum += criterion_.term(count - x) - criterion_.term(count);
            count -= x;
            rest.weight -= entry->weight();
            rest.rows -= entry->rows();
        }
        rest.counts = known_.data();
        return rest;
    }

    Value value_of(Span<Entry> group) {
        Sum sum{};
        int64_t weight = 0;
        for (const Entry* entry = group.first; entry < group.last; ++entry) {
            int64_t& count = branch_[label_of(entry->key)];
            const int64_t x = amount(*entry);
            sum += criterion_.term(count + x) - criterion_.term(count);
            count += x;
            weight += entry->weight();
        }
        const Value value = criterion_.value(sum, weight, [&](int k) { return branch_[k]; });
        for (const Entry* entry = group.first; entry < group.last; ++entry) branch_[label_of(entry->key)] = 0;
        return value;
    }

    // What monotone constraints are about: the share of the second class, or numerator / denominator.
    int bound_class() const { return Entry::sums ? 0 : 1; }
    double rate(int64_t amount, int64_t weight) const {
        if constexpr (Entry::sums)
            return static_cast<double>(criterion_.centre()) +
                   static_cast<double>(amount) / (static_cast<double>(weight) + criterion_.ridge());
        return static_cast<double>(amount) / static_cast<double>(weight);
    }
    bool inside(int64_t amount, int64_t weight) const {
        const double r = rate(amount, weight);
        return r >= node_.bounds.lower && r <= node_.bounds.upper;
    }
    bool bounded(Span<Entry> group) const {
        if (!features_.monotone) return true;
        int64_t sum = 0, weight = 0;
        for (const Entry* entry = group.first; entry < group.last; ++entry) {
            weight += entry->weight();
            if (static_cast<int>(label_of(entry->key)) == bound_class()) sum += amount(*entry);
        }
        return inside(sum, weight);
    }
    bool monotone(int f, const int64_t* left, int64_t weight_left, const int64_t* whole, int64_t weight_right) const {
        if (!features_.monotone) return true;
        const int64_t sum_left = left[bound_class()], sum_right = whole[bound_class()] - sum_left;
        if (!inside(sum_left, weight_left) || !inside(sum_right, weight_right)) return false;
        return features_.nominal[f] ||
               features_.monotone[f] * rise(sum_left, weight_left, sum_right, weight_right) >= 0;
    }
    // The sign of the step up from left to right; exact unless a ridge is in the way.
    int rise(int64_t sum_left, int64_t weight_left, int64_t sum_right, int64_t weight_right) const {
        if constexpr (Entry::sums) {
            if (criterion_.ridge() > 0) {
                const double step = rate(sum_right, weight_right) - rate(sum_left, weight_left);
                return (step > 0) - (step < 0);
            }
        }
        const Wide step = static_cast<Wide>(sum_right) * weight_left - static_cast<Wide>(sum_left) * weight_right;
        return (step > 0) - (step < 0);
    }
    // C4.5 does not cut between values closer than this.
    bool wide_enough(int f, const Entry* entry) const {
        if (!features_.value || features_.nominal[f]) return true;
        const double* value = features_.value + features_.offset[f];
        return value[code_of(entry->key)] + 1e-5 < value[code_of(entry[1].key)];
    }

    const Features& features_;
    const Rules& rules_;
    int n_classes_;
    Criterion criterion_;
    Chance chance_;
    Choice choice_;
    Node node_{};
    Sum node_sum_{};
    Value node_value_{}, noise_{};
    Tie tie_;
    std::vector<double> sizes_;  // rows of each category at hand
    int64_t centred_ = 0;
    Draw draw_;
    std::vector<int64_t> branch_, known_, branches_, whole_;
    std::vector<Candidate> candidates_;
    Affinity<Entry> affinity_;
};

}  // namespace hornbeam
