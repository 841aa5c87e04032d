// Checks the arrays of a tree and packs them into nodes.
#include "prediction/router.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace hornbeam {

[[noreturn]] static void fail(int64_t node, const std::string& found, const std::string& expected) {
    throw std::invalid_argument("node " + std::to_string(node) + ": " + found + ", expected " + expected);
}

// Checks everything that a step relies on: then no walk leaves the arrays and every walk ends.
void Router::check(const SkeletonArrays& tree, int64_t node) const {
    const auto text = [](int64_t number) { return std::to_string(number); };
    const int64_t n_children = tree.n_children[node], begin = tree.slot_start[node], end = tree.slot_start[node + 1];
    if (n_children < 0) fail(node, text(n_children) + " children", "0 or more");
    if (begin < 0 || begin > end || end > tree.n_slots)
        fail(node, "a run of slots " + text(begin) + " to " + text(end), "a run within " + text(tree.n_slots));
    if (n_children == 0) {
        if (begin != end) fail(node, "a leaf with a nominal test", "an empty run of slots");
        return;
    }
    if (tree.feature[node] < 0) fail(node, "feature " + text(tree.feature[node]), "0 or more on an inner node");
    if (tree.missing_slot[node] < kEveryChild || tree.missing_slot[node] >= n_children)
        fail(node, "missing_slot " + text(tree.missing_slot[node]), "-2, -1 or a slot below " + text(n_children));
    if (begin == end) {
        if (n_children < 2) fail(node, "a numeric test with one child", "two or more");
        if (std::isnan(tree.threshold[node])) fail(node, "a numeric test with threshold NaN", "a number");
    }
    for (int64_t i = begin; i < end; ++i)
        if (tree.slot_of[i] < -1 || tree.slot_of[i] >= n_children)
            fail(node, "slot_of " + text(tree.slot_of[i]), "-1 or a slot below " + text(n_children));
}

void Router::add_feature(int64_t node, int32_t feature, bool nominal, std::unordered_map<int32_t, bool>& kinds) {
    const auto [found, is_new] = kinds.emplace(feature, nominal);
    if (!is_new && found->second != nominal)
        fail(node, "feature " + std::to_string(feature) + " tested both as a number and as a category", "one kind");
    if (!is_new) return;
    used_.emplace_back(feature, nominal);
    n_features_ = std::max(n_features_, int64_t{feature} + 1);
}

Router::Router(const SkeletonArrays& tree) {
    if (tree.n_nodes < 1) throw std::invalid_argument("0 nodes, expected a root at least");
    if (tree.n_nodes > std::numeric_limits<int32_t>::max())
        throw std::invalid_argument(std::to_string(tree.n_nodes) + " nodes, expected fewer than 2**31");
    std::unordered_map<int32_t, bool> kinds;
    if (tree.n_roots < 1 || tree.n_roots > tree.n_nodes)
        throw std::invalid_argument(std::to_string(tree.n_roots) +
                                    " roots, expected at least one, and a node for each");
    int64_t next_child = tree.n_roots;
    for (int64_t node = 0; node < tree.n_nodes; ++node) {
        check(tree, node);
        if (tree.n_children[node] == 0) continue;
        // Level order: the children of consecutive nodes are consecutive, after their parents.
        if (tree.first_child[node] != next_child || next_child <= node)
            fail(node, "first_child " + std::to_string(tree.first_child[node]), std::to_string(next_child));
        next_child += tree.n_children[node];
        if (next_child > tree.n_nodes) fail(node, "children beyond the last node", "all within the arrays");
        const bool nominal = tree.slot_start[node] != tree.slot_start[node + 1];
        add_feature(node, tree.feature[node], nominal, kinds);
        nominal_ |= nominal;
        fractional_ |= tree.missing_slot[node] == kEveryChild;
    }
    if (next_child != tree.n_nodes)
        throw std::invalid_argument(std::to_string(tree.n_nodes - next_child) + " nodes have no parent, expected none");
    pack(tree);
}

void Router::pack(const SkeletonArrays& tree) {
    const int64_t n = tree.n_nodes;
    nodes_.resize(n);
    missing_next_.resize(n);
    if (nominal_) {
        slot_start_.assign(tree.slot_start, tree.slot_start + n + 1);
        slot_child_.resize(tree.n_slots);
    }
    if (fractional_) {
        fractional_at_.assign(n, 0);
        n_children_.assign(tree.n_children, tree.n_children + n);
    }
    // A leaf repeats its parent's split, whose value is in the cache; a leaf that is a root, that of any other node.
    if (!used_.empty()) {
        const auto [feature, nominal] = used_.front();
        for (int64_t root = 0; root < tree.n_roots; ++root) nodes_[root].feature = nominal ? ~feature : feature;
    }
    std::vector<int32_t> level(n, 0);
    for (int64_t node = 0; node < n; ++node) {
        const uint32_t self = static_cast<uint32_t>(node);
        missing_next_[node] = self;
        if (tree.n_children[node] == 0) {
            nodes_[node].threshold = std::numeric_limits<double>::infinity();
            nodes_[node].first_child = self;
            continue;
        }
        const uint32_t first = static_cast<uint32_t>(tree.first_child[node]);
        const int64_t begin = tree.slot_start[node], end = tree.slot_start[node + 1];
        const int32_t feature = begin == end ? tree.feature[node] : ~tree.feature[node];
        nodes_[node] = {tree.threshold[node], feature, first};
        if (tree.missing_slot[node] >= 0) missing_next_[node] = first + static_cast<uint32_t>(tree.missing_slot[node]);
        if (tree.missing_slot[node] == kEveryChild) fractional_at_[node] = 1;
        for (int64_t i = begin; i < end; ++i)
            slot_child_[i] = tree.slot_of[i] < 0 ? self : first + static_cast<uint32_t>(tree.slot_of[i]);
        for (int32_t s = 0; s < tree.n_children[node]; ++s) {
            level[first + s] = level[node] + 1;
            nodes_[first + s].feature = feature;
        }
        depth_ = std::max(depth_, level[node] + 1);
    }
}

}  // namespace hornbeam
