// Sweeps over the nodes of a tree in level order, where children come after their parents.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace hornbeam::sweeping {

struct Shape {
    const int32_t* first_child;
    const int32_t* n_children;
    int64_t n_nodes;
};

// The least expected cost of each node and the class whose prediction has it, the first of equals.
// costs[j * K + a] is what predicting a costs where j is true; sums run over j in order, so that the same
// numbers come out on every machine and in the plain Python twin.
inline void least_costs(const double* belief, int64_t n, int64_t K, const double* costs, double* least,
                        int32_t* action) {
    for (int64_t i = 0; i < n; ++i) {
        const double* p = belief + i * K;
        double best = std::numeric_limits<double>::infinity();
        int32_t chosen = 0;
        for (int64_t a = 0; a < K; ++a) {
            double cost = 0.0;
            for (int64_t j = 0; j < K; ++j) cost += p[j] * costs[j * K + a];
            if (cost < best) best = cost, chosen = static_cast<int32_t>(a);
        }
        least[i] = best;
        action[i] = chosen;
    }
}

// The shape that is left when some nodes become leaves. Children are listed behind all that were listed before them,
// so what began in level order stays in it.
struct Rest {
    std::vector<int64_t> node;  // which node each one was
    std::vector<int32_t> parent, first_child, n_children;

    Rest(const Shape& tree, const bool* cut) {
        node.reserve(tree.n_nodes), parent.reserve(tree.n_nodes);
        first_child.reserve(tree.n_nodes), n_children.reserve(tree.n_nodes);
        node.push_back(0), parent.push_back(-1);
        for (size_t at = 0; at < node.size(); ++at) {
            const int64_t i = node[at];
            const int32_t born = cut[i] ? 0 : tree.n_children[i];
            n_children.push_back(born);
            first_child.push_back(born ? static_cast<int32_t>(node.size()) : -1);
            for (int32_t c = 0; c < born; ++c) {
                node.push_back(tree.first_child[i] + c);
                parent.push_back(static_cast<int32_t>(at));
            }
        }
    }
};

// Frontiers by height: all leaves first, then what stands on leaves alone, and so on up to the root.
// Returns where each frontier begins in `order`.
inline std::vector<int64_t> frontiers(const Shape& tree, int32_t* order) {
    std::vector<int32_t> height(tree.n_nodes, 0);
    std::vector<int64_t> begin(2, 0);
    for (int64_t i = tree.n_nodes - 1; i >= 0; --i) {
        int32_t below = -1;
        for (int32_t c = 0; c < tree.n_children[i]; ++c)
            below = std::max(below, height[tree.first_child[i] + c]);
        height[i] = below + 1;
        if (static_cast<size_t>(height[i]) + 2 > begin.size()) begin.push_back(0);
        ++begin[height[i] + 1];
    }
    for (size_t h = 1; h < begin.size(); ++h) begin[h] += begin[h - 1];
    std::vector<int64_t> next(begin.begin(), begin.end() - 1);
    for (int64_t i = 0; i < tree.n_nodes; ++i) order[next[height[i]]++] = static_cast<int32_t>(i);
    return begin;
}

// What a node costs as a leaf against what its subtree does, children's verdicts given.
struct Verdicts {
    Shape tree;
    const double* as_leaf;  // cost of each node if it were a leaf
    const double* staying;  // cost at an inner node of the rows that stop there, whatever is below
    double slack, relative;  // cut if as_leaf <= below + slack + relative * |below|
    double* value;  // out: cost of what is kept
    bool* cut;  // out

    // Nodes are settled in the order given: a node after its children.
    void settle(const int32_t* order, int64_t n) const {
        for (int64_t at = 0; at < n; ++at) {
            const int32_t i = order[at];
            if (tree.n_children[i] == 0) {
                value[i] = as_leaf[i];
                cut[i] = false;
                continue;
            }
            double below = staying[i];
            for (int32_t c = 0; c < tree.n_children[i]; ++c) below += value[tree.first_child[i] + c];
            cut[i] = as_leaf[i] <= below + slack + relative * (below < 0 ? -below : below);
            value[i] = cut[i] ? as_leaf[i] : below;
        }
    }
};

// For every inner node the price of a leaf (alpha) from which on it is a leaf in the cheapest pruned subtree.
//
// The cheapest subtree of a node costs, as a function of alpha, the lesser of as_leaf + alpha and the sum of its
// children's: concave, with a bend for every cut below. From the right, where every child is a leaf, bends are
// undone one by one, the last first, until the two functions cross before the next bend. Undone bends never
// happen: the node itself has been cut by then. The others and its own are what the node's parent sees. Each bend enters and
// leaves a mergeable (leftist) heap once, so n nodes cost n log n whatever the depth.
class WeakestLinks {
   public:
    // Three arrays of n_nodes to fill: when a node is cut; what cutting it adds to the cost of the tree then, and
    // how many leaves fewer it leaves.
    WeakestLinks(double* alpha, double* added, int64_t* fewer) : alpha_(alpha), added_(added), fewer_(fewer) {}

    // Returns whether the cut of each node ever happens before one of its ancestors'.
    void find(const Shape& tree, const double* as_leaf, const double* staying, bool* happens) {
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
