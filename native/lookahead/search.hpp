// The tree with the highest gain within a limit of leaves, by budgeted lookahead.
//
// The best cuts of a node are compared by what a whole tree below them explains: both branches are grown greedily to
// three times their budget, and a knapsack over the number of leaves cuts them back to the best subtrees and divides
// the budget between them. The best cut is kept, and its branches are searched in the same way. (Judging a split by
// greedy completions: LSID3, Esmeir and Markovitch 2004.)
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "growing/thread_team.hpp"
#include "lookahead/cut_scan.hpp"

namespace hornbeam::lookahead {

struct SearchRules {
    int max_depth;
    int n_candidates;        // cuts that are compared at a node; 0: no lookahead
    int per_feature;         // of these, at most this many of one feature
    double apart;            // their least distance, as a share of the weight
    int overgrowth;          // size of a greedy completion, as a multiple of the budget
    const PathRules* paths;  // nullptr: every feature may split every node

    PathRules::Allowed root() const { return paths ? paths->root() : nullptr; }
    PathRules::Allowed below(const PathRules::Allowed& above, const SoftSplit& split) const {
        return paths ? paths->after(above, split.feature) : nullptr;
    }
};

// Rows whose codes are in `split.left` first; the rest stay in order.
inline RowSpan partition(const SoftRows& rows, RowSpan node, const SoftSplit& split) {
    const auto goes_left = [&](int row) { return split.left.contains(rows.row(row)[split.feature]); };
    return {node.first, std::stable_partition(node.first, node.last, goes_left)};
}

// A tree grown greedily, best gain first, and its best subtrees of every size.
class Completion {
  public:
    Completion(const SoftRows& rows, CutScan& scan, const LeafRules& leaf, const SearchRules& rules,
               std::vector<int> members, int budget, int depth, PathRules::Allowed allowed) {
        grow(rows, scan, leaf, rules, members, most_leaves(budget, rules), depth, std::move(allowed));
        choose_subtrees(budget);
    }

    // Leaves what a completion of a smaller budget has: growing it ends sooner, and is the same until then.
    void limit(int budget, const SearchRules& rules) {
        const int n = 2 * most_leaves(budget, rules) - 1;
        if (static_cast<int>(nodes_.size()) > n) nodes_.resize(n);
        for (Node& node : nodes_)
            if (node.first_child >= n) node.first_child = -1;
        choose_subtrees(budget);
    }

    // What the best subtree of at most `leaves` leaves explains.
    double explained(int leaves) const { return best_[0][leaves]; }
    bool is_leaf(int leaves) const { return to_left_[0][leaves] == 0; }

    // Calls `visit(split)` for each inner node of that subtree and `visit(none)` for each leaf, in preorder.
    template <class Visit>
    void walk(int leaves, Visit visit, int node = 0) const {
        const int left = to_left_[node][leaves];
        visit(left == 0 ? SoftSplit() : nodes_[node].split);
        if (left == 0) return;
        walk(left, visit, nodes_[node].first_child);
        walk(leaves - left, visit, nodes_[node].first_child + 1);
    }

  private:
    struct Node {
        RowSpan rows;
        int depth;
        int first_child;
        double explained;
        SoftSplit split;
        PathRules::Allowed allowed;
    };

    static int most_leaves(int budget, const SearchRules& rules) { return std::max(2, rules.overgrowth * budget); }

    void grow(const SoftRows& rows, CutScan& scan, const LeafRules& leaf, const SearchRules& rules,
              std::vector<int>& members, int max_leaves, int depth, PathRules::Allowed allowed) {
        const auto add = [&](RowSpan span, int depth, PathRules::Allowed allowed, bool last = false) {
            const LeafModel model = scan.leaf(span);
            const bool open = !last && depth < rules.max_depth && model.weight >= 2 * leaf.min_weight;
            const SoftSplit split = open ? scan.best(span, allowed) : SoftSplit();
            nodes_.push_back({span, depth, -1, model.explained, split, std::move(allowed)});
        };
        add({members.data(), members.data() + members.size()}, depth, std::move(allowed));
        for (int leaves = 1; leaves < max_leaves; ++leaves) {
            int next = -1;
            double most = 0;
            for (size_t i = 0; i < nodes_.size(); ++i)
                if (nodes_[i].first_child < 0 && nodes_[i].split.feature >= 0 && nodes_[i].split.gain > most) {
                    most = nodes_[i].split.gain;
                    next = static_cast<int>(i);
                }
            if (next < 0) break;
            Node node = nodes_[next];
            nodes_[next].first_child = static_cast<int>(nodes_.size());
            const RowSpan left = partition(rows, node.rows, node.split);
            const PathRules::Allowed below = rules.below(node.allowed, node.split);
            const bool last = leaves + 1 == max_leaves;
            add(left, node.depth + 1, below, last);
            add({left.last, node.rows.last}, node.depth + 1, below, last);
        }
    }

    // Children stand after their parents.
    void choose_subtrees(int budget) {
        best_.assign(nodes_.size(), std::vector<double>(budget + 1, 0.0));
        to_left_.assign(nodes_.size(), std::vector<int>(budget + 1, 0));
        for (size_t i = nodes_.size(); i-- > 0;) {
            std::fill(best_[i].begin(), best_[i].end(), nodes_[i].explained);
            const int child = nodes_[i].first_child;
            if (child < 0) continue;
            for (int leaves = 2; leaves <= budget; ++leaves)
                for (int left = 1; left < leaves; ++left) {
                    const double sum = best_[child][left] + best_[child + 1][leaves - left];
                    if (sum > best_[i][leaves] * (1 + 1e-12)) {
                        best_[i][leaves] = sum;
                        to_left_[i][leaves] = left;
                    }
                }
        }
    }

    std::vector<Node> nodes_;
    std::vector<std::vector<double>> best_;
    std::vector<std::vector<int>> to_left_;
};

class Search {
  public:
    Search(const SoftRows& rows, const LeafRules& leaf, const SearchRules& rules, ThreadTeam& team)
        : rows_(rows), leaf_(leaf), rules_(rules), team_(team) {
        for (int member = 0; member < team.size(); ++member) scans_.push_back(std::make_unique<CutScan>(rows, leaf));
    }

    // The splits of the tree in preorder; a leaf is a split without a feature.
    std::vector<SoftSplit> run(std::vector<int> members, int budget) {
        const Completion greedy = complete(*scans_[0], members, budget, 0, rules_.root());
        return solve(greedy, members, budget, 0, rules_.root()).splits;
    }

  private:
    struct Solution {
        double explained;
        std::vector<SoftSplit> splits;
    };

    struct Division {
        double explained = -1;
        int to_left = 0;
        std::unique_ptr<Completion> below, beside;
    };

    Completion complete(CutScan& scan, std::vector<int> members, int budget, int depth,
                        PathRules::Allowed allowed) const {
        return Completion(rows_, scan, leaf_, rules_, std::move(members), budget, depth, std::move(allowed));
    }

    // `greedy`: the completion of the node.
    Solution solve(const Completion& greedy, std::vector<int>& members, int budget, int depth,
                   const PathRules::Allowed& allowed) {
        Solution solution{greedy.explained(budget), {}};
        greedy.walk(budget, [&](const SoftSplit& split) { solution.splits.push_back(split); });
        if (budget <= 2 || depth >= rules_.max_depth || rules_.n_candidates == 0) return solution;

        const RowSpan node{members.data(), members.data() + members.size()};
        scans_[0]->leaf(node);
        const std::vector<SoftSplit> candidates =
            scans_[0]->candidates(node, allowed, rules_.per_feature, rules_.apart, rules_.n_candidates);
        std::vector<Division> divisions = compare(candidates, members, budget, depth, allowed);
        size_t best = 0;
        for (size_t i = 1; i < divisions.size(); ++i)
            if (divisions[i].explained > divisions[best].explained) best = i;
        if (divisions.empty() || (greedy.is_leaf(budget) && divisions[best].explained <= solution.explained))
            return solution;

        auto [left, right] = divide(members, candidates[best]);
        const int to_left = divisions[best].to_left;
        const PathRules::Allowed allowed_below = rules_.below(allowed, candidates[best]);
        const auto solve_part = [&](Completion& part, std::vector<int>& rows, int leaves) {
            part.limit(leaves, rules_);
            return solve(part, rows, leaves, depth + 1, allowed_below);
        };
        const Solution below = solve_part(*divisions[best].below, left, to_left),
                       beside = solve_part(*divisions[best].beside, right, budget - to_left);
        if (below.explained + beside.explained <= solution.explained) return solution;
        solution = {below.explained + beside.explained, {candidates[best]}};
        for (const Solution* part : {&below, &beside})
            solution.splits.insert(solution.splits.end(), part->splits.begin(), part->splits.end());
        return solution;
    }

    // The best division of the budget below each candidate; the threads share the candidates.
    std::vector<Division> compare(const std::vector<SoftSplit>& candidates, const std::vector<int>& members, int budget,
                                  int depth, const PathRules::Allowed& allowed) {
        std::vector<Division> divisions(candidates.size());
        team_.run([&](int member) {
            for (size_t i = member; i < candidates.size(); i += team_.size()) {
                auto [left, right] = divide(members, candidates[i]);
                const PathRules::Allowed allowed_below = rules_.below(allowed, candidates[i]);
                const auto completed = [&](std::vector<int>& rows) {
                    return std::make_unique<Completion>(
                        complete(*scans_[member], std::move(rows), budget - 1, depth + 1, allowed_below));
                };
                Division& division = divisions[i];
                division.below = completed(left);
                division.beside = completed(right);
                for (int to_left = 1; to_left < budget; ++to_left) {
                    const double sum =
                        division.below->explained(to_left) + division.beside->explained(budget - to_left);
                    if (sum > division.explained) division.explained = sum, division.to_left = to_left;
                }
            }
        });
        return divisions;
    }

    std::pair<std::vector<int>, std::vector<int>> divide(const std::vector<int>& members,
                                                         const SoftSplit& split) const {
        std::pair<std::vector<int>, std::vector<int>> parts;
        for (const int row : members)
            (split.left.contains(rows_.row(row)[split.feature]) ? parts.first : parts.second).push_back(row);
        return parts;
    }

    const SoftRows& rows_;
    const LeafRules& leaf_;
    const SearchRules& rules_;
    ThreadTeam& team_;
    std::vector<std::unique_ptr<CutScan>> scans_;
};

}  // namespace hornbeam::lookahead
