// A tree of sums grown best first, from rows that stay where they are: what boosting grows a hundred times over.
//
// Each row carries a pair of 64-bit numbers, added in one step of 16 bytes: its numerator; and its denominator with the
// times it counts in the low bits. A list of row numbers is partitioned instead of the rows. Rows that only look on
// (out of the sample, held out) are partitioned along with those that are added up, so that each row's node is known at
// the end and nobody is sent down the tree again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "scan.hpp"
#include "subtree.hpp"
#include "team.hpp"

namespace hornbeam {

typedef int64_t Pair __attribute__((vector_size(16)));  // numerator; denominator << shift | times

// Numbers as they come, and how they are rounded to steps: what a row is added up as.
struct Pulls {
    const double* numerator;
    const double* denominator;  // nullptr: 1 each
    const int32_t* times;       // nullptr: every row counts once
    double numerator_scale, denominator_scale;
    int shift;

    Pair operator[](int64_t row) const {
        const int64_t n = times ? times[row] : 1;
        const int64_t steps = denominator ? std::llrint(denominator[row] * denominator_scale) : 1;
        return Pair{std::llrint(numerator[row] * numerator_scale) * n, (steps * n) << shift | n};
    }
};

struct Budget {
    int64_t max_leaves = 0;  // 0: no limit
    int shift = 0;           // bits of a pair's second number that count rows
};

template <class Code>
struct PairedRows {
    const Code* codes;  // [n, F] row by row
    Pulls pulls;
    int32_t* order;     // row numbers: first those that are added up, then those that look on
    int64_t n_added, n_all, n_rows;
    int32_t* node;      // out, by row: the node that answers for it
};

template <class Code>
class Leafwise {
    using Cells = std::vector<Pair>;
    using Entry = RatioEntry;

  public:
    Leafwise(const PairedRows<Code>& rows, const Features& features, const Rules& rules, Budget budget, Team& team)
        : rows_(rows), features_(features), rules_(rules), budget_(budget), team_(team), nodes_(2),
          parts_(team.size()), pairs_(rows.n_rows), rights_(rows.n_all) {
        scanners_.reserve(2);
        for (int slot = 0; slot < 2; ++slot) scanners_.emplace_back(features, rules, budget.shift);
    }

    Nodes grow(uint64_t key) {
        Leaf root;
        root.added = {0, rows_.n_added};
        root.others = {rows_.n_added, rows_.n_all};
        root.key = key;
        root.bounds = {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
        root.cells = fresh();
        pack(root.added);
        count(root.cells, root.added);
        root.total = total_of(root.cells);
        add_node(root, -1, 0);
        if (may_split(root)) root.split = scanners_[0].best(root);
        put(std::move(root));
        while (!open_.empty() && (budget_.max_leaves == 0 || n_leaves_ < budget_.max_leaves)) split(take());
        for (const Leaf& leaf : open_) settle(leaf);
        return std::move(nodes_);
    }

  private:
    struct Range {
        int64_t begin = 0, end = 0;
        int64_t size() const { return end - begin; }
    };

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
        for (const Range range : {leaf.added, leaf.others})
            for (int64_t i = range.begin; i < range.end; ++i) rows_.node[rows_.order[i]] = leaf.id;
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
        part(leaf.added, split.feature, leaf.id, children[0].added, children[1].added);
        part(leaf.others, split.feature, leaf.id, children[0].others, children[1].others);
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
        count(less.cells, less.added);
        more.cells = std::move(leaf.cells);
        Pair* rest = more.cells.data();
        const Pair* counted = less.cells.data();
        for (size_t i = 0; i < more.cells.size(); ++i) rest[i] -= counted[i];
    }

    // ---- counting ------------------------------------------------------------------------------------------------

    // What each member of the team gets of a range: nothing, if it is too small to be worth waking anybody.
    Range share(Range range, int member) const {
        const int64_t size = range.size(), n = size < kShared ? 1 : team_.size();
        if (member >= n) return {range.end, range.end};
        return {range.begin + size * member / n, range.begin + size * (member + 1) / n};
    }
    template <class Task>
    void spread(Range range, const Task& task) {
        if (range.size() < kShared) task(0);
        else team_.run(task);
    }

    void pack(Range range) {
        spread(range, [&](int member) {
            const Range mine = share(range, member);
            for (int64_t i = mine.begin; i < mine.end; ++i) pairs_[rows_.order[i]] = rows_.pulls[rows_.order[i]];
        });
    }

    void count(Cells& cells, Range range) {
        spread(range, [&](int member) {
            const Range mine = share(range, member);
            if (member == 0) return add_up(cells.data(), mine);
            parts_[member].assign(cells.size(), Pair{});
            add_up(parts_[member].data(), mine);
        });
        if (range.size() < kShared) return;
        for (int member = 1; member < team_.size(); ++member) {
            const Pair* part = parts_[member].data();
            Pair* all = cells.data();
            for (size_t i = 0; i < cells.size(); ++i) all[i] += part[i];
        }
    }

    // Four places are worked out before the first is added to: a code may alias anything, so the compiler would not.
    void add_up(Pair* cells, Range range) const {
        const int n_features = features_.count;
        const int64_t* offset = features_.offset.data();
        const int32_t* order = rows_.order;
        for (int64_t i = range.begin; i < range.end; ++i) {
            if (i + kAhead < range.end) {
                const int64_t ahead = order[i + kAhead];
                __builtin_prefetch(rows_.codes + ahead * n_features);
                __builtin_prefetch(pairs_.data() + ahead);
            }
            const int64_t row = order[i];
            const Pair one = pairs_[row];
            const Code* code = rows_.codes + row * n_features;
            int f = 0;
            for (; f + 4 <= n_features; f += 4) {
                const int64_t a = offset[f] + code[f], b = offset[f + 1] + code[f + 1],
                              c = offset[f + 2] + code[f + 2], d = offset[f + 3] + code[f + 3];
                cells[a] += one;
                cells[b] += one;
                cells[c] += one;
                cells[d] += one;
            }
            for (; f < n_features; ++f) cells[offset[f] + code[f]] += one;
        }
    }

    // ---- partitioning --------------------------------------------------------------------------------------------

    // Row numbers stay in order within each side, so that memory is read forwards. Each member moves those of the first
    // child to the front of its share and those of the second to a place of their own; then the shares are joined:
    //
    //      order   0 1 0 | 1 0 0          fronts  0 0 . | 0 0 .         joined  0 0 0 0 1 1
    //                                     rights  1 . . | 1 . .
    //
    // A row whose code leads nowhere (a category or a missing value that nobody here has) stops at this node.
    void part(Range range, int feature, int32_t id, Range& left, Range& right) {
        const int n = team_.size();
        std::vector<std::pair<int64_t, int64_t>> found(n);
        spread(range, [&](int member) {
            const Range mine = share(range, member);
            found[member] = part_share(mine, feature, id);
        });
        int64_t to = range.begin;
        for (int member = 0; member < n; ++member) {
            const Range mine = share(range, member);
            if (to != mine.begin) std::copy_n(rows_.order + mine.begin, found[member].first, rows_.order + to);
            to += found[member].first;
        }
        left = {range.begin, to};
        for (int member = 0; member < n; ++member) {
            const Range mine = share(range, member);
            to = std::copy_n(rights_.data() + mine.begin, found[member].second, rows_.order + to) - rows_.order;
        }
        right = {left.end, to};
    }

    std::pair<int64_t, int64_t> part_share(Range range, int feature, int32_t id) {
        const int32_t* slot_of = slot_of_.data();
        int32_t* order = rows_.order;
        int32_t *left = order + range.begin, *right = rights_.data() + range.begin;
        const Code* codes = rows_.codes + feature;
        const int64_t stride = features_.count;
        for (int64_t i = range.begin; i < range.end; ++i) {
            const int32_t row = order[i], slot = slot_of[codes[row * stride]];
            if (slot < 0) rows_.node[row] = id;
            *left = row;
            *right = row;
            left += slot == 0;
            right += slot == 1;
        }
        return {left - (order + range.begin), right - (rights_.data() + range.begin)};
    }

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

    static constexpr int64_t kShared = 4096;  // rows: waking the team costs about as much as counting so many
    static constexpr int64_t kAhead = 16;     // rows between asking for one and reading it

    const PairedRows<Code> rows_;
    const Features& features_;
    const Rules& rules_;
    const Budget budget_;
    Team& team_;
    Nodes nodes_;
    std::vector<CellScanner> scanners_;
    std::vector<Leaf> open_;
    int64_t n_leaves_ = 1;
    std::vector<Cells> parts_;
    std::vector<Pair> pairs_;  // by row
    std::vector<Cells> spare_;
    std::vector<int32_t> rights_, slot_of_;
};

}  // namespace hornbeam
