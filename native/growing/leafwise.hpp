// Grows a tree of sums best first, from rows that stay in place: the tree of a boosting round.
//
// Rows that are not trained on (out of the sample, or held out) are partitioned along with the training rows, so that
// the node of every row is known at the end, without a descent.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "growing/constraints.hpp"
#include "growing/gradient_rows.hpp"
#include "growing/histogram.hpp"
#include "growing/nodes.hpp"
#include "growing/scan.hpp"
#include "growing/thread_team.hpp"

namespace hornbeam {

template <class Code>
class Leafwise {
    using Histogram = typename GradientRows<Code>::Histogram;
    using Entry = RatioEntry;
    using Totals = RatioCell;

  public:
    // `max_leaves` 0: no limit. `shift`: the low bits of a pair's second number that count rows.
    Leafwise(GradientRows<Code>& rows, const Features& features, const Rules& rules, int64_t max_leaves, int shift,
             ThreadTeam& team)
        : rows_(rows), features_(features), rules_(rules), max_leaves_(max_leaves), shift_(shift), team_(team),
          nodes_(2), scanners_{{{rows, features, rules, shift}, {rows, features, rules, shift}}},
          pool_(features.cells()) {}

    Nodes grow(uint64_t key) {
        Leaf root;
        root.training = rows_.training_rows();
        root.others = rows_.other_rows();
        root.key = key;
        root.bounds = {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
        if (rows_.few(root.training)) {
            root.totals = unpacked(rows_.total(root.training), shift_);
        } else {
            root.cells = pool_.acquire();
            rows_.count(root.cells, root.training);
            root.totals = totals_of(root.cells);
        }
        add_node(root, -1, 0);
        if (may_split(root)) root.split = scanners_[0].best(root);
        push(std::move(root));
        while (!open_.empty() && (max_leaves_ == 0 || n_leaves_ < max_leaves_)) split(pop());
        for (const Leaf& leaf : open_) set_node(leaf);
        return std::move(nodes_);
    }

  private:
    static Totals unpacked(const Pair& pair, int shift) {
        return {pair[0], pair[1] >> shift, pair[1] & ((int64_t{1} << shift) - 1)};
    }

    struct Leaf {
        Range training, others;
        int64_t depth = 0;
        Bounds bounds;
        uint64_t key = 0;
        int32_t id = -1;
        Totals totals{};
        Histogram cells;  // empty for few rows
        Split split;
        double total_gain() const { return split.gain * static_cast<double>(totals.total); }
    };

    // Finds the best split of a leaf from its cells; one per thread.
    class CellScanner {
      public:
        CellScanner(const GradientRows<Code>& rows, const Features& features, const Rules& rules, int shift)
            : rows_(rows), features_(features), shift_(shift), scanner_(features, rules, 1),
              entries_(features.widest() + 2), few_(features.widest() + 1) {}
        Split best(const Leaf& leaf) {
            const NodeFacts facts{&leaf.totals.sum, leaf.totals.total, leaf.totals.rows, leaf.bounds, leaf.key};
            return scanner_.best(facts, [&](int f) {
                Entry* out = entries_.data();
                if (leaf.cells.empty()) {
                    rows_.each_code(leaf.training, f, few_, [&](int32_t code, const Pair& cell) {
                        if (cell[1]) *out++ = Entry(make_key(code, 0), unpacked(cell, shift_));
                    });
                    return Span<Entry>{entries_.data(), out};
                }
                // Whether a cell has rows is unpredictable, so there is no branch on it.
                const Pair* cell = leaf.cells.data() + features_.offset[f];
                for (int32_t code = 0; code <= features_.n_codes[f]; ++code, ++cell) {
                    *out = Entry(make_key(code, 0), unpacked(*cell, shift_));
                    out += (*cell)[1] != 0;
                }
                return Span<Entry>{entries_.data(), out};
            });
        }

      private:
        const GradientRows<Code>& rows_;
        const Features& features_;
        int shift_;
        Scanner<Squares, Entry> scanner_;
        std::vector<Entry> entries_;
        typename GradientRows<Code>::FewCells few_;
    };

    // The cells of the first feature contain every row.
    Totals totals_of(const Histogram& cells) const {
        Pair sum{};
        for (int32_t code = 0; code <= features_.n_codes[0]; ++code) sum += cells[code];
        return unpacked(sum, shift_);
    }

    bool may_split(const Leaf& leaf) const {
        return hornbeam::may_split(rules_, leaf.totals.rows, leaf.totals.total, leaf.depth);
    }

    // ---- the leaves that may be split, best first ----------------------------------------------------------------

    static bool later(const Leaf& a, const Leaf& b) {
        return a.total_gain() != b.total_gain() ? a.total_gain() < b.total_gain() : a.id > b.id;
    }

    // Without a limit of leaves any order gives the same tree, and a stack needs the fewest histograms.
    void push(Leaf leaf) {
        if (!leaf.split.found()) {
            set_node(leaf);
            return pool_.release(std::move(leaf.cells));
        }
        open_.push_back(std::move(leaf));
        if (max_leaves_) std::push_heap(open_.begin(), open_.end(), later);
    }

    Leaf pop() {
        if (max_leaves_) std::pop_heap(open_.begin(), open_.end(), later);
        Leaf leaf = std::move(open_.back());
        open_.pop_back();
        return leaf;
    }

    void set_node(const Leaf& leaf) {
        rows_.set_node(leaf.training, leaf.id);
        rows_.set_node(leaf.others, leaf.id);
    }

    void add_node(Leaf& leaf, int32_t parent, int slot) {
        const int64_t evidence[] = {leaf.totals.total, leaf.totals.sum};
        leaf.id = nodes_.add(parent, slot, leaf.totals.rows, evidence);
    }

    // ---- one split -----------------------------------------------------------------------------------------------

    void split(Leaf leaf) {
        const Split& split = leaf.split;
        nodes_.set_split(leaf.id, split, features_.nominal[split.feature]);
        slot_of_ = split.slot_of;
        if (!features_.nominal[split.feature]) fill_gaps(split);

        Leaf children[2];
        std::tie(children[0].training, children[1].training) =
            rows_.partition(leaf.training, split.feature, slot_of_, leaf.id);
        std::tie(children[0].others, children[1].others) =
            rows_.partition(leaf.others, split.feature, slot_of_, leaf.id);
        split_totals(leaf, children);
        const auto rate = [&](int slot) {
            const Totals& totals = children[slot].totals;
            return static_cast<double>(totals.sum) / (static_cast<double>(totals.total) + rules_.ridge / rules_.unit);
        };
        for (int slot = 0; slot < 2; ++slot) {
            children[slot].depth = leaf.depth + 1;
            children[slot].key = child_key(leaf.key, slot);
            children[slot].bounds = child_bounds(leaf.bounds, features_, split, slot, rate);
            add_node(children[slot], leaf.id, slot);
        }
        ++n_leaves_;
        const bool last = max_leaves_ && n_leaves_ >= max_leaves_;
        const bool open[] = {!last && may_split(children[0]), !last && may_split(children[1])};
        if (open[0] || open[1]) {
            split_histogram(leaf, children);
            const auto scan = [&](int slot) {
                if (slot < 2 && open[slot]) children[slot].split = scanners_[slot].best(children[slot]);
            };
            if (team_.size() > 1 && open[0] && open[1]) {
                team_.run(scan);
            } else {
                scan(0);
                scan(1);
            }
        } else {
            pool_.release(std::move(leaf.cells));
        }
        for (Leaf& child : children) push(std::move(child));
    }

    // Other rows may have a code that no training row of the node has. It goes to the side of the threshold, which lies
    // midway between the codes of the cut.
    void fill_gaps(const Split& split) {
        const int missing_code = features_.n_codes[split.feature];
        const int middle = split.right < missing_code ? (split.left + split.right - 1) / 2 : missing_code - 1;
        for (int code = 0; code < missing_code; ++code) slot_of_[code] = code <= middle ? 0 : 1;
    }

    void split_totals(const Leaf& leaf, Leaf* children) {
        Pair left{};
        if (leaf.cells.empty()) {
            left = rows_.total(children[0].training);
        } else {
            const Pair* cell = leaf.cells.data() + features_.offset[leaf.split.feature];
            for (size_t code = 0; code < slot_of_.size(); ++code)
                if (slot_of_[code] == 0) left += cell[code];
        }
        children[0].totals = unpacked(left, shift_);
        children[1].totals = leaf.totals;
        children[1].totals.subtract(children[0].totals);
    }

    // The smaller child is counted, the larger is the parent minus the smaller. Children of few rows need no histogram.
    void split_histogram(Leaf& leaf, Leaf* children) {
        const int small = children[1].training.size() < children[0].training.size();
        Leaf &smaller = children[small], &larger = children[1 - small];
        if (rows_.few(larger.training)) return pool_.release(std::move(leaf.cells));
        if (rows_.few(smaller.training)) {
            rows_.subtract(leaf.cells, smaller.training);
            larger.cells = std::move(leaf.cells);
            return;
        }
        smaller.cells = pool_.acquire();
        rows_.count(smaller.cells, smaller.training);
        larger.cells = std::move(leaf.cells);
        Pair* cells = larger.cells.data();
        const Pair* counted = smaller.cells.data();
        for (size_t i = 0; i < larger.cells.size(); ++i) cells[i] -= counted[i];
    }

    GradientRows<Code>& rows_;
    const Features& features_;
    const Rules& rules_;
    const int64_t max_leaves_;
    const int shift_;
    ThreadTeam& team_;
    Nodes nodes_;
    std::array<CellScanner, 2> scanners_;
    std::vector<Leaf> open_;
    int64_t n_leaves_ = 1;
    HistogramPool<Pair> pool_;
    std::vector<int32_t> slot_of_;  // of the split being made
};

}  // namespace hornbeam
