// Sweeps over the nodes of a tree in level order, where children come after their parents.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace hornbeam {

struct TreeShape {
    const int32_t* first_child;
    const int32_t* n_children;
    int64_t n_nodes;
};

// Nodes in level order, from another order that has parents before children: all roots (parent -1), then their
// children, and so on; `rank` is the place of each node among its siblings. Fails with a reason if a parent is not
// before its child, or siblings do not have the ranks 0, 1, ... once each.
inline std::vector<int64_t> level_order(const int32_t* parent, const int32_t* rank, int64_t n) {
    std::vector<int64_t> begin(n + 1, 0), order, child;
    for (int64_t i = 0; i < n; ++i) {
        if (parent[i] < -1 || parent[i] >= i)
            throw std::invalid_argument("parent[" + std::to_string(i) + "] is " + std::to_string(parent[i]) +
                                        ", expected an earlier node: emit parents first");
        if (parent[i] >= 0) ++begin[parent[i] + 1];
        else order.push_back(i);
    }
    for (int64_t i = 0; i < n; ++i) begin[i + 1] += begin[i];
    child.assign(begin[n], -1);
    for (int64_t i = 0; i < n; ++i) {
        if (parent[i] < 0) continue;
        const int64_t first = begin[parent[i]], last = begin[parent[i] + 1];
        if (rank[i] >= 0 && rank[i] < last - first) child[first + rank[i]] = i;
    }
    for (int64_t i = 0; i < n; ++i)
        for (int64_t at = begin[i]; at < begin[i + 1]; ++at)
            if (child[at] < 0)
                throw std::invalid_argument("no child of node " + std::to_string(i) + " has rank " +
                                            std::to_string(at - begin[i]) + "; expected the ranks 0 to " +
                                            std::to_string(begin[i + 1] - begin[i] - 1) +
                                            " once each: number siblings by their slot");
    order.reserve(n);
    for (size_t at = 0; at < order.size(); ++at)
        order.insert(order.end(), child.begin() + begin[order[at]], child.begin() + begin[order[at] + 1]);
    return order;
}

// A sum; of integers one that wraps around, because any number may come from the caller.
inline double plus(double a, double b) { return a + b; }
inline int64_t plus(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// Adds to the numbers of each node those of its children, which have theirs added before; `width` numbers per node. The
// children are added up in order, then to the node, so that every machine rounds the same way.
template <class Number>
void pull_up(const TreeShape& tree, Number* values, int64_t width) {
    for (int64_t i = tree.n_nodes - 1; i >= 0; --i) {
        if (tree.n_children[i] == 0) continue;
        const Number* first = values + tree.first_child[i] * width;
        for (int64_t k = 0; k < width; ++k) {
            Number below = first[k];
            for (int32_t c = 1; c < tree.n_children[i]; ++c) below = plus(below, first[c * width + k]);
            values[i * width + k] = plus(values[i * width + k], below);
        }
    }
}

// The least expected cost under class probabilities, and the class whose prediction has it, the first of equals.
// costs[j * K + a] is the cost of predicting a where j is true. Sums run over j in order, so that every machine and the
// Python reference give the same bits.
inline std::pair<double, int32_t> least_cost(const double* belief, int64_t K, const double* costs) {
    double least = std::numeric_limits<double>::infinity();
    int32_t action = 0;
    for (int64_t a = 0; a < K; ++a) {
        double cost = 0.0;
        for (int64_t j = 0; j < K; ++j) cost += belief[j] * costs[j * K + a];
        action = cost < least ? static_cast<int32_t>(a) : action;
        least = cost < least ? cost : least;
    }
    return {least, action};
}

// The shape of the pruned tree; arrays of the size of the whole tree.
struct PrunedShape {
    int64_t* node;  // out: the node in the whole tree
    int32_t *parent, *first_child, *n_children;

    // Breadth first, so that level order stays level order; the first nodes are the roots of one tree or several.
    // Returns the number of nodes, or -1 if there is no room, because a node is the child of several.
    int64_t fill(const TreeShape& tree, const bool* cut, int64_t n_roots) const {
        int64_t end = 0;
        for (; end < n_roots; ++end) {
            node[end] = end;
            parent[end] = -1;
        }
        for (int64_t at = 0; at < end; ++at) {
            const int64_t i = node[at];
            const int32_t n = cut[i] ? 0 : tree.n_children[i];
            if (end + n > tree.n_nodes) return -1;
            n_children[at] = n;
            first_child[at] = n ? static_cast<int32_t>(end) : -1;
            for (int32_t c = 0; c < n; ++c, ++end) {
                node[end] = tree.first_child[i] + c;
                parent[end] = static_cast<int32_t>(at);
            }
        }
        return end;
    }
};

// Nodes by height: leaves first, then nodes whose children are all leaves, up to the root. Returns where each frontier
// begins in `order`.
inline std::vector<int64_t> order_by_height(const TreeShape& tree, int32_t* order) {
    std::vector<int32_t> height(tree.n_nodes, 0);
    std::vector<int64_t> begin(2, 0);
    for (int64_t i = tree.n_nodes - 1; i >= 0; --i) {
        int32_t below = -1;
        for (int32_t c = 0; c < tree.n_children[i]; ++c) below = std::max(below, height[tree.first_child[i] + c]);
        height[i] = below + 1;
        if (static_cast<size_t>(height[i]) + 2 > begin.size()) begin.push_back(0);
        ++begin[height[i] + 1];
    }
    for (size_t h = 1; h < begin.size(); ++h) begin[h] += begin[h - 1];
    std::vector<int64_t> next(begin.begin(), begin.end() - 1);
    for (int64_t i = 0; i < tree.n_nodes; ++i) order[next[height[i]]++] = static_cast<int32_t>(i);
    return begin;
}

// The cost of a node as a leaf, and the cost of the rows that stop at the node if it is split.
struct Cost {
    double as_leaf, staying;
};

struct GivenCosts {
    const double *as_leaf, *staying;

    Cost operator()(const TreeShape&, int64_t i) const { return {as_leaf[i], staying[i]}; }
};

// Expected costs if each node predicts the class with the least expected cost.
struct ExpectedCosts {
    const int64_t* evidence;  // rows of each class, in steps of unit
    double unit;
    const double *belief, *costs;
    int64_t K;

    Cost operator()(const TreeShape& tree, int64_t i) const {
        const double least = least_cost(belief + i * K, K, costs).first;
        const uint64_t all = sum(evidence + i * K, K);
        // Siblings are adjacent, so the evidence of all children is one run.
        const uint64_t below = tree.n_children[i] ? sum(evidence + tree.first_child[i] * K, tree.n_children[i] * K) : 0;
        const auto rows = [&](uint64_t steps) { return static_cast<double>(static_cast<int64_t>(steps)) * unit; };
        return {rows(all) * least, rows(all - below) * least};
    }

    // Unsigned, because a sum may overflow.
    static uint64_t sum(const int64_t* begin, int64_t n) {
        uint64_t total = 0;
        for (int64_t i = 0; i < n; ++i) total += static_cast<uint64_t>(begin[i]);
        return total;
    }
};

// Decides for each node whether it becomes a leaf: if its cost as a leaf is at most that of its pruned subtree.
struct PruneSweep {
    TreeShape tree;
    double slack, relative;  // cut if as_leaf <= below + slack + relative * |below|
    double* value;           // out: cost of the pruned subtree
    bool* cut;               // out

    void decide(int64_t i, const Cost& cost) const {
        if (tree.n_children[i] == 0) {
            value[i] = cost.as_leaf;
            cut[i] = false;
            return;
        }
        double below = cost.staying;
        for (int32_t c = 0; c < tree.n_children[i]; ++c) below += value[tree.first_child[i] + c];
        cut[i] = cost.as_leaf <= below + slack + relative * (below < 0 ? -below : below);
        value[i] = cut[i] ? cost.as_leaf : below;
    }

    // Nodes begin .. end, from the last to the first: children before their parents.
    template <class Costs>
    void decide(const Costs& costs, int64_t begin, int64_t end) const {
        for (int64_t i = end - 1; i >= begin; --i) decide(i, costs(tree, i));
    }
};

// For every inner node the penalty per leaf (alpha) from which on it is a leaf in the cheapest pruned tree.
//
// As a function of alpha, the cheapest subtree of a node costs the lesser of as_leaf + alpha and the sum over its
// children: a concave function with a bend for every cut below. For large alpha every child is a leaf. From there bends
// are removed, the largest alpha first, until the two functions cross before the next bend. Removed bends never happen,
// because the node itself is cut earlier. The others and the crossing are the bends of the node's own function. Each
// bend enters and leaves a mergeable (leftist) heap once, so n nodes cost n log n at any depth.
class WeakestLinks {
  public:
    // Arrays of n_nodes to fill: the alpha at which a node is cut, and what the cut then adds to the cost of the tree
    // and removes of its leaves.
    WeakestLinks(double* alpha, double* added, int64_t* fewer) : alpha_(alpha), added_(added), fewer_(fewer) {}

    // `happens`: whether a node is cut before any of its ancestors.
    void find(const TreeShape& tree, const double* as_leaf, const double* staying, uint8_t* happens) {
        const int64_t n = tree.n_nodes;
        left_.assign(n, -1), right_.assign(n, -1), rank_.assign(n, 1);
        std::vector<int32_t> heap(n, -1);
        for (int64_t i = n - 1; i >= 0; --i) {
            happens[i] = tree.n_children[i] > 0;
            alpha_[i] = std::numeric_limits<double>::infinity();
            added_[i] = 0.0;
            fewer_[i] = 0;
            if (!happens[i]) continue;
            double cost = staying[i];
            int64_t leaves = tree.n_children[i];
            int32_t bends = -1;
            for (int32_t c = 0; c < tree.n_children[i]; ++c) {
                cost += as_leaf[tree.first_child[i] + c];
                bends = merge(bends, heap[tree.first_child[i] + c]);
            }
            double crossing = (as_leaf[i] - cost) / static_cast<double>(leaves - 1);
            while (bends >= 0 && alpha_[bends] >= crossing) {
                happens[bends] = false;
                cost -= added_[bends];
                leaves += fewer_[bends];
                bends = merge(left_[bends], right_[bends]);
                crossing = (as_leaf[i] - cost) / static_cast<double>(leaves - 1);
            }
            alpha_[i] = crossing;
            added_[i] = as_leaf[i] - cost;
            fewer_[i] = leaves - 1;
            heap[i] = merge(bends, static_cast<int32_t>(i));
        }
    }

  private:
    // Merges two heaps, the larger alpha on top. Right spines are short, so the recursion is shallow.
    int32_t merge(int32_t a, int32_t b) {
        if (a < 0) return b;
        if (b < 0) return a;
        if (alpha_[a] < alpha_[b]) std::swap(a, b);
        right_[a] = merge(right_[a], b);
        if (left_[a] < 0 || rank_[left_[a]] < rank_[right_[a]]) std::swap(left_[a], right_[a]);
        rank_[a] = right_[a] < 0 ? 1 : rank_[right_[a]] + 1;
        return a;
    }

    double* alpha_;
    double* added_;
    int64_t* fewer_;
    std::vector<int32_t> left_, right_, rank_;
};

}  // namespace hornbeam
