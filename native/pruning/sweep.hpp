// Sweeps over the nodes of a tree in level order, where children come after their parents.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace hornbeam::sweeping {

struct Shape {
    const int32_t* first_child;
    const int32_t* n_children;
    int64_t n_nodes;
};

// The least expected cost under a belief, and the class whose prediction has it, the first of equals.
// costs[j * K + a] is what predicting a costs where j is true; sums run over j in order, so that the same
// numbers come out on every machine and in the plain Python twin.
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

// The shape that is left when some nodes become leaves, with room for as many nodes as there are.
struct Rest {
    int64_t* node;  // which node each one was
    int32_t *parent, *first_child, *n_children;

    // Children are listed behind all that were listed before them, so what began in level order stays in it.
    // Returns how many nodes are left, or -1 if there is no room: some are children of several.
    int64_t list(const Shape& tree, const bool* cut) const {
        int64_t end = 1;
        node[0] = 0;
        parent[0] = -1;
        for (int64_t at = 0; at < end; ++at) {
            const int64_t i = node[at];
            const int32_t born = cut[i] ? 0 : tree.n_children[i];
            if (end + born > tree.n_nodes) return -1;
            n_children[at] = born;
            first_child[at] = born ? static_cast<int32_t>(end) : -1;
            for (int32_t c = 0; c < born; ++c, ++end) {
                node[end] = tree.first_child[i] + c;
                parent[end] = static_cast<int32_t>(at);
            }
        }
        return end;
    }
};

// Frontiers by height: all leaves first, then what stands on leaves alone, and so on up to the root.
// Returns where each frontier begins in `order`.
inline std::vector<int64_t> frontiers(const Shape& tree, int32_t* order) {
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

// What a node costs as a leaf, and what those of its rows cost that stop there, whatever is below.
struct Cost {
    double as_leaf, staying;
};

struct Given {
    const double *as_leaf, *staying;

    Cost operator()(const Shape&, int64_t i) const { return {as_leaf[i], staying[i]}; }
};

// What rows are expected to cost if they get the answer that is cheapest under their node's belief.
struct Expected {
    const int64_t* evidence;  // rows of each class, in steps of unit
    double unit;
    const double *belief, *costs;
    int64_t K;

    Cost operator()(const Shape& tree, int64_t i) const {
        const double least = least_cost(belief + i * K, K, costs).first;
        const uint64_t all = sum(evidence + i * K, K);
        // Siblings sit together, so the rows of all children are one run.
        const uint64_t below = tree.n_children[i] ? sum(evidence + tree.first_child[i] * K, tree.n_children[i] * K) : 0;
        const auto rows = [&](uint64_t steps) { return static_cast<double>(static_cast<int64_t>(steps)) * unit; };
        return {rows(all) * least, rows(all - below) * least};
    }

    // In unsigned numbers, whose sums are defined whatever they are.
    static uint64_t sum(const int64_t* begin, int64_t n) { return std::accumulate(begin, begin + n, uint64_t{0}); }
};

// What a node costs as a leaf against what its subtree does, children's verdicts given.
struct Verdicts {
    Shape tree;
    double slack, relative;  // cut if as_leaf <= below + slack + relative * |below|
    double* value;           // out: cost of what is kept
    bool* cut;               // out

    void settle(int64_t i, const Cost& cost) const {
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

    // Nodes are settled in the order given: a node after its children.
    template <class Costs>
    void settle(const Costs& costs, const int32_t* order, int64_t n) const {
        for (int64_t at = 0; at < n; ++at) settle(order[at], costs(tree, order[at]));
    }

    // Level order, backwards.
    template <class Costs>
    void settle_all(const Costs& costs) const {
        for (int64_t i = tree.n_nodes - 1; i >= 0; --i) settle(i, costs(tree, i));
    }
};

// For every inner node the price of a leaf (alpha) from which on it is a leaf in the cheapest pruned subtree.
//
// The cheapest subtree of a node costs, as a function of alpha, the lesser of as_leaf + alpha and the sum of its
// children's: concave, with a bend for every cut below. From the right, where every child is a leaf, bends are
// undone one by one, the last first, until the two functions cross before the next bend. Undone bends never
// happen: the node itself has been cut by then. The others and its own are what the node's parent sees. Each bend
// enters and leaves a mergeable (leftist) heap once, so n nodes cost n log n whatever the depth.
class WeakestLinks {
  public:
    // Three arrays of n_nodes to fill: when a node is cut; what cutting it adds to the cost of the tree then, and
    // how many leaves fewer it leaves.
    WeakestLinks(double* alpha, double* added, int64_t* fewer) : alpha_(alpha), added_(added), fewer_(fewer) {}

    // Returns whether the cut of each node ever happens before one of its ancestors'.
    void find(const Shape& tree, const double* as_leaf, const double* staying, uint8_t* happens) {
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
    // The heap with the later of two last bends on top; right spines are short, so the recursion is, too.
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

}  // namespace hornbeam::sweeping
