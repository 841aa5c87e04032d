// The features that may split a node, and their prices there, given the features that split its ancestors.
//
// Two kinds of lists of features decide: groups, of which one must contain all features of a path, and for each feature
// those that may not be used below it. An item has a price and the features that need it: a path pays it once, at its
// first split on one of them. The order of the features on a path does not matter.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace hornbeam {

// The features that may split a node, the groups that contain all features of the path to it, the items that the path
// has not paid, and what it has still to pay for each feature; without items the last is empty.
struct AllowedFeatures {
    std::vector<uint8_t> feature, group, unpaid;
    std::vector<double> price;

    const double* prices() const { return price.empty() ? nullptr : price.data(); }
};

struct PricedItem {
    double price;
    std::vector<int32_t> features;
};

class PathRules {
  public:
    using Lists = std::vector<std::vector<int32_t>>;
    using Items = std::vector<PricedItem>;
    using Allowed = std::shared_ptr<const AllowedFeatures>;

    PathRules(int n_features, Lists groups, Lists below, Items items)
        : groups_(std::move(groups)), below_(std::move(below)), items_(std::move(items)), n_features_(n_features) {}

    int n_features() const { return n_features_; }
    const Lists& groups() const { return groups_; }
    const Lists& below() const { return below_; }
    const Items& items() const { return items_; }

    Allowed root() const {
        AllowedFeatures all{std::vector<uint8_t>(n_features_, 1),
                            std::vector<uint8_t>(groups_.size(), 1),
                            std::vector<uint8_t>(items_.size(), 1),
                            {}};
        keep_groups(all);
        add_prices(all);
        return std::make_shared<const AllowedFeatures>(std::move(all));
    }

    // What is allowed below a split on f.
    Allowed after(const Allowed& above, int32_t f) const {
        AllowedFeatures left = *above;
        for (size_t g = 0; g < groups_.size(); ++g)
            if (left.group[g] && !contains(groups_[g], f)) left.group[g] = 0;
        keep_groups(left);
        for (const int32_t other : below_[f]) left.feature[other] = 0;
        for (size_t i = 0; i < items_.size(); ++i)
            if (left.unpaid[i] && contains(items_[i].features, f)) left.unpaid[i] = 0;
        add_prices(left);
        return std::make_shared<const AllowedFeatures>(std::move(left));
    }

    Allowed after_path(const std::vector<int32_t>& path) const {
        Allowed allowed = root();
        for (const int32_t f : path) allowed = after(allowed, f);
        return allowed;
    }

  private:
    static bool contains(const std::vector<int32_t>& group, int32_t f) {
        for (const int32_t member : group)
            if (member == f) return true;
        return false;
    }

    // Features outside the groups that are left are not allowed.
    void keep_groups(AllowedFeatures& allowed) const {
        std::vector<uint8_t> member(n_features_, 0);
        for (size_t g = 0; g < groups_.size(); ++g)
            if (allowed.group[g])
                for (const int32_t f : groups_[g]) member[f] = 1;
        for (int f = 0; f < n_features_; ++f) allowed.feature[f] &= member[f];
    }

    // Prices are added in the order of the items: the same bits wherever a node is searched.
    void add_prices(AllowedFeatures& allowed) const {
        if (items_.empty()) return;
        allowed.price.assign(n_features_, 0.0);
        for (size_t i = 0; i < items_.size(); ++i)
            if (allowed.unpaid[i])
                for (const int32_t f : items_[i].features) allowed.price[f] += items_[i].price;
    }

    Lists groups_, below_;
    Items items_;
    int n_features_;
};

}  // namespace hornbeam
