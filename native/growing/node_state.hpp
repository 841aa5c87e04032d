// The node whose splits are being searched: its totals, the value of a group of its rows, and when two splits are
// equal.
//
// Rounding must not decide which of two nearly equal splits wins. These numbers say what "equal" means:
//
//     noise       in the criterion's values. One cut of a feature beats another only if its value is larger by more
//     than
//                 the noise. Sums have no fixed noise, because their rounding grows with the value: there the larger
//                 value must exceed the smaller one times kAlike, and the noise is the least value that a split must
//                 add to the node's own (`worthwhile`).
//     tie         in the scores that features are compared by. A later feature beats an earlier one only if its score
//                 exceeds tie.raised(score of the earlier one) (choice.hpp).
//     tolerance   the noise under gain ratio, where C4.5 takes gains within 1e-6 bits for equal.
//
//                 class counts         sums                 gain ratio           corrected (S-values)
//     noise       criterion.noise()    criterion.noise()    tolerance()          as without the correction
//     tie         margin: the noise    factor: kAlike       margin: kTie         factor: kAlike, margin: 2^-30
//
// So equal splits go to the earlier feature and the lower cut.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "growing/chance.hpp"
#include "growing/choice.hpp"
#include "growing/criteria.hpp"
#include "growing/entries.hpp"
#include "growing/monotone.hpp"
#include "growing/split.hpp"

namespace hornbeam {

struct NodeFacts {
    const int64_t* counts;  // weight of each class, or the sum of numerators
    int64_t weight;
    int64_t rows;
    Bounds bounds;
    uint64_t key = 0;                  // seeds the sampling of features
    double variance = 0;               // sums: of numerator / weight over the rows
    const uint8_t* allowed = nullptr;  // nullptr: all features; else 1 for each feature that may split the node
    const double* price = nullptr;     // nullptr: all are free; else what the path has still to pay for each feature
    bool allows(int f) const { return !allowed || allowed[f]; }
};

template <class Criterion, class Entry>
struct NodeState {
    using Sum = typename Criterion::Sum;
    using Value = typename Criterion::Value;

    // The rows that a search divides among branches: all rows of the node, or those with a known value.
    struct Totals {
        const int64_t* counts;
        Sum sum;
        int64_t weight, rows;
    };

    const Features& features;
    const Rules& rules;
    const int n_classes;
    Criterion criterion;
    Chance chance;
    Choice choice;
    MonotoneRule<Criterion, Entry> monotone;
    NodeFacts node{};
    Value value{}, noise{};
    Tie tie;
    std::vector<int64_t> branch;  // counts of one branch; all 0 between two searches
    std::vector<double> sizes;    // corrected: rows of each category of the feature being searched

    NodeState(const Features& features_, const Rules& rules_, int n_classes_)
        : features(features_), rules(rules_), n_classes(n_classes_), criterion(rules_),
          choice(features_, rules_, chance), monotone(features_, criterion), branch(n_classes_, 0),
          known_(n_classes_, 0) {}
    NodeState(const NodeState&) = delete;  // members refer to each other
    NodeState& operator=(const NodeState&) = delete;

    void enter(const NodeFacts& facts) {
        node = facts;
        tables_made_ = false;
        monotone.enter(facts.bounds);
        criterion.enter(facts.counts, facts.weight, n_classes);
        if constexpr (Entry::sums) {
            centred_ = *facts.counts - criterion.centre() * facts.weight;
            node.counts = &centred_;
        }
        sum_ = Sum{};
        for (int k = 0; k < n_classes; ++k) sum_ += criterion.term(node.counts[k]);
        value = criterion.value(sum_, node.weight, [&](int k) { return node.counts[k]; });
        if constexpr (Entry::sums) {
            noise = criterion.noise(value, node.weight, node.rows);
            tie.factor = kAlike;
        } else {
            noise = rules.gain_ratio ? tolerance() : criterion.noise(node.weight, n_classes);
            tie.margin = rules.gain_ratio ? kTie : criterion.gain(noise, Value{}, node.weight);
        }
        if (rules.corrected) enter_chance();
    }

    // Tables of both sides of a cut, if they make sweeps over n entries faster: for counts of all rows of the node.
    static constexpr bool has_tables = std::is_same_v<Criterion, Entropy> && std::is_same_v<Entry, CountEntry>;
    const Entropy::BothSides* tables(const Totals& totals, int64_t n) {
        if (totals.counts != node.counts || kTableRows * n < node.weight) return nullptr;
        if (!tables_made_) {
            tables_.enter(criterion, node.counts, node.weight, n_classes);
            tables_made_ = true;
        }
        return &tables_;
    }

    Totals all() const { return {node.counts, sum_, node.weight, node.rows}; }

    // The totals without the rows whose value is missing. Valid until the next call.
    Totals without(const Totals& totals, Span<Entry> missing) {
        Totals known = totals;
        std::copy(totals.counts, totals.counts + n_classes, known_.begin());
        for (const Entry* entry = missing.first; entry < missing.last; ++entry) {
            int64_t& count = known_[label_of(entry->key)];
            const int64_t x = amount_of(criterion, *entry);
            known.sum += criterion.term(count - x) - criterion.term(count);
            count -= x;
            known.weight -= entry->weight();
            known.rows -= entry->rows();
        }
        known.counts = known_.data();
        return known;
    }

    Value value_of(const Totals& totals) const {
        return criterion.value(totals.sum, totals.weight, [&](int k) { return totals.counts[k]; });
    }

    Value value_of(Span<Entry> group) {
        Sum sum{};
        int64_t weight = 0;
        for (const Entry* entry = group.first; entry < group.last; ++entry) {
            int64_t& count = branch[label_of(entry->key)];
            const int64_t x = amount_of(criterion, *entry);
            sum += criterion.term(count + x) - criterion.term(count);
            count += x;
            weight += entry->weight();
        }
        const Value found = criterion.value(sum, weight, [&](int k) { return branch[k]; });
        for (const Entry* entry = group.first; entry < group.last; ++entry) branch[label_of(entry->key)] = 0;
        return found;
    }

    // Takes the price of the feature off the gain; whether something is left. A free feature needs no gain.
    bool earns_price(Candidate& c, int f) const {
        const double price = node.price ? node.price[f] * rules.price_unit : 0.0;
        c.gain -= price;
        return price <= 0 || c.gain > 0;
    }

    bool feasible(int64_t rows, int64_t weight) const {
        return rows >= rules.min_rows_leaf && weight >= rules.min_weight_leaf;
    }

    // The value that another cut must exceed to be better than a cut of this value.
    Value raised(Value best) const {
        if constexpr (Entry::sums) return best * kAlike;
        return best + noise;
    }

    // Whether a criterion allows branches of these values at all.
    static bool possible(Value branch) {
        if constexpr (Entry::sums) return branch >= 0;
        return true;
    }

    // Whether a split of sums gains more than rounding alone could. Class counts are integers: nothing to check.
    bool worthwhile(Value split) const {
        if constexpr (Entry::sums) return split - value > noise;
        return true;
    }

    // Whether the categories of a feature have an order for the whole tree.
    bool has_order(int f) const { return features.reliability && features.reliability[f] >= 0; }

    // Whether they are searched in that order. The root orders them by its own rows, which are the same, and its
    // S-values count what that search gains by chance.
    bool in_fixed_order(int f) const { return has_order(f) && node.weight < rules.total_weight; }

    // The S-value of a cut in the order of the whole tree: of the part of the gain that new rows keep.
    double s_value_in_order(int f, double gain, int64_t n_cuts) const {
        return chance.cut(gain * features.reliability[f], chance.search_bits(n_cuts));
    }

    // The S-value of the best subset. What surprises by more than a few bits is no longer noise: there the part of the
    // gain that new rows keep must be surprising, too.
    double s_value_of_subset(int f, double gain, int64_t n_cuts) {
        const double s_value = chance.subset(gain, sizes);
        if (!has_order(f)) return s_value;
        return std::min(s_value, std::max(kNoLongerNoise, s_value_in_order(f, gain, n_cuts)));
    }

    double real(int64_t weight) const { return static_cast<double>(weight) * rules.unit; }

    // Independent rows of a category: its rows, or its weight in rows.
    double independent_rows(Span<Entry> group) const {
        int64_t weight = 0, rows = 0;
        for (const Entry* entry = group.first; entry < group.last; ++entry) {
            weight += entry->weight();
            rows += entry->rows();
        }
        if (rules.rows_per_row > 0) return static_cast<double>(rows) * rules.rows_per_row;
        return static_cast<double>(weight) * rules.rows_per_step;
    }

    // Scores a nominal feature by its S-value. One with many categories is dropped if it gains less than chance would.
    void set_s_value(Candidate& c, double s_value) const {
        c.score = s_value;
        c.search_bits = -1;
        c.few_categories = sizes.size() <= kFewCategories;
        c.found = c.few_categories || s_value > kLeastSurprise;
    }

    // The same for a cut in the order of the whole tree. Small nodes must not split what chance explains: such a split
    // sends thousands of categories to its sides, and nearly all of these splits would be pruned.
    void set_s_value_in_fixed_order(Candidate& c, double s_value) const {
        c.score = s_value;
        c.search_bits = -1;
        c.found = s_value > kLeastSurpriseInFixedOrder;
    }

    // Under gain ratio: the gain over the split information of the branches' weights.
    double ratio(double gain, const int64_t* branches, size_t n) const {
        int64_t fixed = criterion.term(node.weight);
        for (size_t i = 0; i < n; ++i) fixed -= criterion.term(branches[i]);
        const double information = split_bits(fixed) / static_cast<double>(node.weight);
        return information > kTie ? gain / information : 0.0;
    }

  private:
    static constexpr double kLeastSurprise = 0.05, kLeastSurpriseInFixedOrder = 2, kNoLongerNoise = 5;  // bits
    static constexpr double kAlike = 1 + 0x1p-44;
    static constexpr int64_t kTableRows = 4;  // rows per entry up to which tables pay

    // How many bits one unit of gain is, and how the classes are distributed.
    void enter_chance() {
        tie = Tie{kAlike, 0x1p-30};
        const double n = static_cast<double>(node.weight) * rules.rows_per_step;
        if constexpr (Entry::sums) {
            const double variance = std::max(node.variance, 1e-280);
            const double bits =
                rules.dispersion > 0 ? real(node.weight) / rules.dispersion : criterion.surprise(n, variance);
            chance.enter(2, rules.dispersion > 0 ? static_cast<double>(node.rows) : n, 0.0, bits / kChiSquare);
        } else {
            int present = 0;
            double sides[2] = {0, 0}, impurity = 1;
            for (int k = 0; k < n_classes; ++k) {
                const double share = static_cast<double>(node.counts[k]) / static_cast<double>(node.weight);
                present += node.counts[k] > 0;
                sides[sides[1] < sides[0]] += share;
                impurity -= share * share;
            }
            chance.enter(present, n, std::min(sides[0], sides[1]), n * criterion.bits_per_gain(impurity, present));
        }
    }

    Value tolerance() const {
        if constexpr (std::is_same_v<Criterion, Entropy>)
            return static_cast<Value>(kTie * static_cast<double>(node.weight) / criterion.bits(1));
        return Value{};
    }

    double split_bits(int64_t fixed) const {
        if constexpr (std::is_same_v<Criterion, Entropy>) return criterion.bits(fixed);
        return 0.0;
    }

    Sum sum_{};
    bool tables_made_ = false;
    Entropy::BothSides tables_;
    int64_t centred_ = 0;
    std::vector<int64_t> known_;
};

}  // namespace hornbeam
