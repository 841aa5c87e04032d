// Categories sorted so that the best subset is, exactly or nearly, a cut of the order.
//
// Two classes: by the share of the second class, which is exact (Fisher). Sums: by the mean, which is exact too. More
// classes: along the first principal component of the class shares.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "growing/entries.hpp"

namespace hornbeam {

template <class Entry>
class CategoryOrder {
  public:
    explicit CategoryOrder(int n_classes) : n_classes_(n_classes) {}

    // Entries with each category's code replaced by its rank; ties by code. Valid until the next call.
    Span<Entry> sort(Span<Entry> span) {
        // Equal pairs become one entry, so that floating-point sums are the same from a histogram and from rows.
        merged_.clear();
        for (const Entry* entry = span.first; entry < span.last; ++entry) {
            if (!merged_.empty() && merged_.back().key == entry->key) merged_.back().merge(*entry);
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
                         [](const Group& a, const Group& b) { return a.position < b.position; });
        return relabel();
    }

    // The same with a subset of the categories first; bit i is the category at rank i.
    Span<Entry> move_first(uint32_t subset) {
        for (size_t rank = 0; rank < groups_.size(); ++rank) groups_[rank].position = subset >> rank & 1 ? 0 : 1;
        std::stable_sort(groups_.begin(), groups_.end(),
                         [](const Group& a, const Group& b) { return a.position < b.position; });
        return relabel();
    }

    // The category at each rank.
    const std::vector<uint32_t>& codes() const { return code_at_rank_; }

    struct Group {
        const Entry *first, *last;
        double weight, position;
    };

    // Categories by rank.
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

    // More than two classes: the first principal component of the class shares, weighted by the categories' weights.
    // The power iteration starts at the class whose share varies most, because one that does not vary would stay at 0.
    void project() {
        if constexpr (Entry::sums) {
            for (Group& group : groups_) group.position = static_cast<double>(group.first->amount()) / group.weight;
            return;  // sums: a category is one entry after the merge above
        }
        direction_.assign(n_classes_, 0.0);
        if (n_classes_ == 2) direction_[1] = 1.0;
        else find_direction();
        for (Group& group : groups_) {
            group.position = along(group);
            if (n_classes_ > 2)
                group.position = std::nearbyint(group.position * 0x1p40);  // rounding errors must not sort
        }
    }

    void find_direction() {
        direction_[most_varied()] = 1.0;
        for (int step = 0; step < kPowerSteps; ++step) {
            double centre = 0;
            for (int k = 0; k < n_classes_; ++k) centre += mean_[k] * direction_[k];
            next_.assign(n_classes_, 0.0);
            for (Group& group : groups_) {
                group.position = along(group) - centre;
                for (const Entry* e = group.first; e < group.last; ++e)
                    next_[label_of(e->key)] += group.position * static_cast<double>(e->weight());
            }
            double largest = 0;
            for (double x : next_) largest = std::max(largest, std::fabs(x));
            if (largest == 0) break;
            for (int k = 0; k < n_classes_; ++k) direction_[k] = next_[k] / largest;
        }
    }

    // The class whose share varies most, the first of equals up to rounding. Fills `mean_` with the classes' shares.
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

    // The projection of a category's class shares. Equal shares are equal quotients, so equal categories tie exactly.
    double along(const Group& group) const {
        double position = 0;
        for (const Entry* e = group.first; e < group.last; ++e)
            position += static_cast<double>(e->weight()) / group.weight * direction_[label_of(e->key)];
        return position;
    }

    int n_classes_;
    std::vector<Group> groups_;
    std::vector<Entry> merged_, relabelled_;
    std::vector<uint32_t> code_at_rank_;
    std::vector<double> direction_, mean_, next_;
};

}  // namespace hornbeam
