// The features that may split a node, given the features that split its ancestors.
//
// Two kinds of lists of features decide: groups, of which one must contain all features of a path, and for each feature
// those that may not be used below it. The order of the features on a path does not matter.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace hornbeam {

// The features that may split a node, and the groups that contain all features of the path to it.
struct AllowedFeatures {
    std::vector<uint8_t> feature, group;
};

class PathRules {
  public:
    using Lists = std::vector<std::vector<int32_t>>;
    using Allowed = std::shared_ptr<const AllowedFeatures>;

    PathRules(int n_features, Lists groups, Lists below)
        : groups_(std::move(groups)), below_(std::move(below)), n_features_(n_features) {}

    int n_features() const { return n_features_; }
    const Lists& groups() const { return groups_; }
    const Lists& below() const { return below_; }

    Allowed root() const {
        AllowedFeatures all{std::vector<uint8_t>(n_features_, 1), std::vector<uint8_t>(groups_.size(), 1)};
        keep_groups(all);
        return std::make_shared<const AllowedFeatures>(std::move(all));
    }

    // What is allowed below a split on f.
    Allowed after(const Allowed& above, int32_t f) const {
        AllowedFeatures left = *above;
        for (size_t g = 0; g < groups_.size(); ++g)
            if (left.group[g] && !contains(groups_[g], f)) left.group[g] = 0;
        keep_groups(left);
        for (const int32_t other : below_[f]) left.feature[other] = 0;
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

    Lists groups_, below_;
    int n_features_;
};

}  // namespace hornbeam
