// A tree of sums grown best first, from rows that stay where they are: what boosting grows a hundred times over.
//
// A list of row numbers is partitioned instead of the rows. Rows that only look on (out of the sample, held out) are
// partitioned along with those that are added up, so that each row's node is known at the end and nobody is sent down
// the tree again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "growing/gradient_rows.hpp"
#include "growing/scan.hpp"
#include "growing/subtree.hpp"
#include "growing/thread_team.hpp"

namespace hornbeam {

struct Budget {
    int64_t max_leaves = 0;  // 0: no limit
    int shift = 0;           // bits of a pair's second number that count rows
};

template <class Code>
class Leafwise {
    using Cells = typename PairedRows<Code>::Cells;
    using Entry = RatioEntry;

  public:
    Leafwise(const RowList<Code>& rows, const Features& features, const Rules& rules, Budget budget, Team& team)
        : rows_(rows, features, team), features_(features), rules_(rules), budget_(budget), team_(team), nodes_(2) {
        scanners_.reserve(2);
        for (int slot = 0; slot < 2; ++slot) scanners_.emplace_back(features, rules, budget.shift);
    }

    Nodes grow(uint64_t key) {
        Leaf root;
        root.added = rows_.added();
        root.others = rows_.others();
        root.key = key;
        root.bounds = {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
        root.cells = fresh();
        rows_.count(root.cells, root.added);
        root.total = total_of(root.cells);
        add_node(root, -1, 0);
        if (may_split(root)) root.split = scanners_[0].best(root);
        put(std::move(root));
        while (!open_.empty() && (budget_.max_leaves == 0 || n_leaves_ < budget_.max_leaves)) split(take());
        for (const Leaf& leaf : open_) settle(leaf);
        return std::move(nodes_);
    }

  private:
    using Total = RatioCell;

    static Total unpacked(const Pair& pair, int shift) {
        return {pair[0], pair[1] >> shift, pair[1] & ((int64_t{1} << shift) - 1)};
    }

    struct Leaf {
        Range added, others;
        int64_t depth = 0;
        Bounds bounds;
        uint64_t key = 0;
        int32_t id = -1;
        Total total{};
        Cells cells;
        Split split;
        double worth() const { return split.gain * static_cast<double>(total.total); }
    };

    // One thread's way from cells to the best split.
    class CellScanner {
      public:
        CellScanner(const Features& features, const Rules& rules, int shift)
            : features_(features), shift_(shift), scanner_(features, rules, 1), entries_(features.widest() + 1) {}
        Split best(const Leaf& leaf) {
            const Node facts{&leaf.total.sum, leaf.total.total, leaf.total.rows, leaf.bounds, leaf.key};
            return scanner_.best(facts, [&](int f) {
                Entry* out = entries_.data();
                const Pair* cell = leaf.cells.data() + features_.offset[f];
                for (int32_t code = 0; code <= features_.n_codes[f]; ++code, ++cell)
                    if ((*cell)[1]) *out++ = Entry(make_key(code, 0), unpacked(*cell, shift_));
                return Span<Entry>{entries_.data(), out};
            });
        }

      private:
        const Features& features_;
        int shift_;
        Scanner<Squares, Entry> scanner_;
        std::vector<Entry> entries_;
    };

    // Every row has a code of the first feature: its cells hold them all.
    Total total_of(const Cells& cells) const {
        Pair sum{};
        for (int32_t code = 0; code <= features_.n_codes[0]; ++code) sum += cells[code];
        return unpacked(sum, budget_.shift);
    }

    bool may_split(const Leaf& leaf) const {
        return leaf.total.rows >= std::max(rules_.min_rows_split, 2 * rules_.min_rows_leaf) &&
               leaf.total.total >= 2 * rules_.min_weight_leaf && leaf.depth < rules_.max_depth;
    }

    // ---- the leaves that may be split, best first ----------------------------------------------------------------

    static bool later(const Leaf& a, const Leaf& b) {
        return a.worth() != b.worth() ? a.worth() < b.worth() : a.id > b.id;
    }

    // Without a budget any order makes the same tree, and the last in, first out, keeps the fewest cells.
    void put(Leaf leaf) {
        if (!leaf.split.found()) return finish(std::move(leaf));
        open_.push_back(std::move(leaf));
        if (budget_.max_leaves) std::push_heap(open_.begin(), open_.end(), later);
    }

    Leaf take() {
        if (budget_.max_leaves) std::pop_heap(open_.begin(), open_.end(), later);
        Leaf leaf = std::move(open_.back());
        open_.pop_back();
        return leaf;
    }

    void finish(Leaf leaf) {
        settle(leaf);
        keep(std::move(leaf.cells));
    }

    void settle(const Leaf& leaf) {
        rows_.settle(leaf.added, leaf.id);
        rows_.settle(leaf.others, leaf.id);
    }

    void add_node(Leaf& leaf, int32_t parent, int slot) {
        const int64_t evidence[] = {leaf.total.total, leaf.total.sum};
        leaf.id = nodes_.add(parent, slot, leaf.total.rows, evidence);
    }

    // ---- one split -----------------------------------------------------------------------------------------------

    void split(Leaf leaf) {
        const Split& split = leaf.split;
        nodes_.test(leaf.id, split, features_.nominal[split.feature]);
        slot_of_ = split.slot_of;
        if (!features_.nominal[split.feature]) fill_gaps(split);

        Leaf children[2];
        std::tie(children[0].added, children[1].added) = rows_.part(leaf.added, split.feature, slot_of_, leaf.id);
        std::tie(children[0].others, children[1].others) = rows_.part(leaf.others, split.feature, slot_of_, leaf.id);
        share_totals(leaf, children);
        for (int slot = 0; slot < 2; ++slot) {
            children[slot].depth = leaf.depth + 1;
            children[slot].key = child_key(leaf.key, slot);
            children[slot].bounds = leaf.bounds;
            add_node(children[slot], leaf.id, slot);
        }
        bind(leaf, children);
        ++n_leaves_;
        const bool last = budget_.max_leaves && n_leaves_ >= budget_.max_leaves;
        const bool open[] = {!last && may_split(children[0]), !last && may_split(children[1])};
        if (open[0] || open[1]) {
            share_cells(leaf, children);
            const auto look = [&](int slot) {
                if (slot < 2 && open[slot]) children[slot].split = scanners_[slot].best(children[slot]);
            };
            if (team_.size() > 1 && open[0] && open[1]) {
                team_.run(look);
            } else {
                look(0);
                look(1);
            }
        } else {
            keep(std::move(leaf.cells));
        }
        for (Leaf& child : children) put(std::move(child));
    }

    // Rows that look on may have a code nobody here has: it goes where the threshold will send it, midway.
    void fill_gaps(const Split& split) {
        const int missing_code = features_.n_codes[split.feature];
        const int middle = split.right < missing_code ? (split.left + split.right - 1) / 2 : missing_code - 1;
        for (int code = 0; code < missing_code; ++code) slot_of_[code] = code <= middle ? 0 : 1;
    }

    void share_totals(const Leaf& leaf, Leaf* children) {
        Pair left{};
        const Pair* cell = leaf.cells.data() + features_.offset[leaf.split.feature];
        for (size_t code = 0; code < slot_of_.size(); ++code)
            if (slot_of_[code] == 0) left += cell[code];
        children[0].total = unpacked(left, budget_.shift);
        children[1].total = {leaf.total.sum - children[0].total.sum, leaf.total.total - children[0].total.total,
                             leaf.total.rows - children[0].total.rows};
    }

    // Below a cut of a monotone feature the two sides stay on their sides of the middle.
    void bind(const Leaf& leaf, Leaf* children) const {
        const int f = leaf.split.feature, sign = features_.monotone ? features_.monotone[f] : 0;
        if (sign == 0 || features_.nominal[f] || leaf.split.right >= features_.n_codes[f]) return;
        const auto rate = [&](const Total& total) {
            return static_cast<double>(total.sum) / (static_cast<double>(total.total) + rules_.ridge / rules_.unit);
        };
        const double middle = (rate(children[0].total) + rate(children[1].total)) / 2;
        (sign > 0 ? children[0].bounds.upper : children[0].bounds.lower) = middle;
        (sign > 0 ? children[1].bounds.lower : children[1].bounds.upper) = middle;
    }

    // The smaller child is counted, the larger is what remains.
    void share_cells(Leaf& leaf, Leaf* children) {
        const int small = children[1].added.size() < children[0].added.size();
        Leaf &less = children[small], &more = children[1 - small];
        less.cells = fresh();
        rows_.count(less.cells, less.added);
        more.cells = std::move(leaf.cells);
        Pair* rest = more.cells.data();
        const Pair* counted = less.cells.data();
        for (size_t i = 0; i < more.cells.size(); ++i) rest[i] -= counted[i];
    }

    // ---- cells, used again ---------------------------------------------------------------------------------------

    Cells fresh() {
        if (spare_.empty()) return Cells(features_.cells(), Pair{});
        Cells cells = std::move(spare_.back());
        spare_.pop_back();
        std::fill(cells.begin(), cells.end(), Pair{});
        return cells;
    }
    void keep(Cells cells) {
        if (!cells.empty()) spare_.push_back(std::move(cells));
    }

    PairedRows<Code> rows_;
    const Features& features_;
    const Rules& rules_;
    const Budget budget_;
    Team& team_;
    Nodes nodes_;
    std::vector<CellScanner> scanners_;
    std::vector<Leaf> open_;
    int64_t n_leaves_ = 1;
    std::vector<Cells> spare_;
    std::vector<int32_t> slot_of_;  // of the split that is made
};

}  // namespace hornbeam
