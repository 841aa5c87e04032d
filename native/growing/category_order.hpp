// Categories in the order of the classes they lean to.
//
// With two classes the best subset of categories is a cut in the order of their shares of the second class (exact).
// With more they are ordered along the first principal direction of their class shares. Of sums the order is that of
// the means, which is exact too (Fisher).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "growing/entries.hpp"

namespace hornbeam {

template <class Entry>
class Affinity {
  public:
    explicit Affinity(int n_classes) : n_classes_(n_classes) {}

    // Entries with each category's code replaced by its rank; ties by code. Valid until the next call.
    Span<Entry> order(Span<Entry> span) {
        // Equal pairs become one entry: whether rows were counted or listed must not show in a floating-point sum.
        merged_.clear();
        for (const Entry* entry = span.first; entry < span.last; ++entry) {
            if (!merged_.empty() && merged_.back().key == entry->key) merged_.back().absorb(*entry);
            else merged_.push_back(*entry);
        }
        groups_.clear();
        const Entry* last = merged_.data() + merged_.size();
        for (const Entry* entry = merged_.data(); entry < last;) {
            const Entry* first = entry;
            double weight = 0;
            for (; entry < last && code_of(entry->key) == code_of(first->key); ++entry)
                weight += static_cast<double>(entry->weight());
            groups_.push_back({first, entry, weight, 0.0});
        }
        project();
        std::stable_sort(groups_.begin(), groups_.end(),
                         [](const Group& a, const Group& b) { return a.place < b.place; });
        return relabel();
    }

    // The same with some categories in front: bit i of the subset is the one at rank i.
    Span<Entry> move_first(uint32_t subset) {
        for (size_t rank = 0; rank < groups_.size(); ++rank) groups_[rank].place = subset >> rank & 1 ? 0 : 1;
        std::stable_sort(groups_.begin(), groups_.end(),
                         [](const Group& a, const Group& b) { return a.place < b.place; });
        return relabel();
    }

    // The category at each rank.
    const std::vector<uint32_t>& codes() const { return code_at_rank_; }

    struct Group {
        const Entry *first, *last;
        double weight, place;
    };

    // The categories by rank.
    const std::vector<Group>& groups() const { return groups_; }

  private:
    static constexpr int kPowerSteps = 24;

    Span<Entry> relabel() {
        relabelled_.clear();
        code_at_rank_.clear();
        for (const Group& group : groups_) {
            const uint32_t rank = static_cast<uint32_t>(code_at_rank_.size());
            code_at_rank_.push_back(code_of(group.first->key));
            for (const Entry* entry = group.first; entry < group.last; ++entry) {
                relabelled_.push_back(*entry);
                relabelled_.back().key = make_key(rank, label_of(entry->key));
            }
        }
        return {relabelled_.data(), relabelled_.data() + relabelled_.size()};
    }

    // Two classes: the share of the second. More: the first principal component of the class shares, weighted by the
    // categories' weights, by power iteration from the class whose share varies most (one that does not vary at all
    // would lead nowhere).
    void project() {
        if constexpr (Entry::sums) {
            for (Group& group : groups_) group.place = static_cast<double>(group.first->amount()) / group.weight;
            return;  // equal codes are one entry by now
        }
        direction_.assign(n_classes_, 0.0);
        if (n_classes_ == 2) direction_[1] = 1.0;
        else find_direction();
        for (Group& group : groups_) {
            group.place = along(group);
            if (n_classes_ > 2) group.place = std::nearbyint(group.place * 0x1p40);  // rounding is no order
        }
    }

    void find_direction() {
        direction_[most_varied()] = 1.0;
        for (int step = 0; step < kPowerSteps; ++step) {
            double centre = 0;
            for (int k = 0; k < n_classes_; ++k) centre += mean_[k] * direction_[k];
            next_.assign(n_classes_, 0.0);
            for (Group& group : groups_) {
                group.place = along(group) - centre;
                for (const Entry* e = group.first; e < group.last; ++e)
                    next_[label_of(e->key)] += group.place * static_cast<double>(e->weight());
            }
            double largest = 0;
            for (double x : next_) largest = std::max(largest, std::fabs(x));
            if (largest == 0) break;
            for (int k = 0; k < n_classes_; ++k) direction_[k] = next_[k] / largest;
        }
    }

    // Fills `mean_` with the classes' shares on the way. Of classes that vary alike (but for rounding) the first.
    int most_varied() {
        double total = 0;
        mean_.assign(n_classes_, 0.0);
        next_.assign(n_classes_, 0.0);
        for (const Group& group : groups_) {
            total += group.weight;
            for (const Entry* e = group.first; e < group.last; ++e) {
                const double weight = static_cast<double>(e->weight());
                mean_[label_of(e->key)] += weight;
                next_[label_of(e->key)] += weight * (weight / group.weight);
            }
        }
        int most = 0;
        for (int k = 0; k < n_classes_; ++k) {
            mean_[k] /= total;
            next_[k] -= mean_[k] * mean_[k] * total;
            if (next_[k] > next_[most] + 1e-9 * total) most = k;
        }
        return most;
    }

    // Equal shares are equal quotients, so categories alike in every class tie exactly.
    double along(const Group& group) const {
        double place = 0;
        for (const Entry* e = group.first; e < group.last; ++e)
            place += static_cast<double>(e->weight()) / group.weight * direction_[label_of(e->key)];
        return place;
    }

    int n_classes_;
    std::vector<Group> groups_;
    std::vector<Entry> merged_, relabelled_;
    std::vector<uint32_t> code_at_rank_;
    std::vector<double> direction_, mean_, next_;
};

}  // namespace hornbeam
