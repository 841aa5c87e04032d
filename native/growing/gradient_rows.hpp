// Rows that stay where they are, added up and parted through a list of their numbers, by a team.
//
// Each row carries a pair of 64-bit numbers, added in one step of 16 bytes: its numerator; and its denominator with the
// times it counts in the low bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "growing/split.hpp"
#include "growing/thread_team.hpp"

namespace hornbeam {

typedef int64_t Pair __attribute__((vector_size(16)));  // numerator; denominator << shift | times

// Numbers as they come, and how they are rounded to steps: what a row is added up as.
struct Pulls {
    const double* numerator;
    const double* denominator;  // nullptr: 1 each
    const int32_t* times;       // nullptr: every row counts once
    double numerator_scale, denominator_scale;
    int shift;

    // What a row is added up as. In unsigned numbers: whether all of them fit is known only when `sizes` are added up.
    Pair operator[](int64_t row) const {
        const uint64_t n = times ? static_cast<uint64_t>(times[row]) : 1;
        const auto steps = [](double x) { return static_cast<uint64_t>(std::llrint(x)); };
        const uint64_t weight = denominator ? steps(denominator[row] * denominator_scale) : 1;
        return Pair{static_cast<int64_t>(steps(numerator[row] * numerator_scale) * n),
                    static_cast<int64_t>((weight * n) << shift | n)};
    }

    struct Sizes {
        double numerator = 0, denominator = 0, times = 0, least = 0;  // least: below 0 if a number is that must not be

        void add(const Sizes& other) {
            numerator += other.numerator, denominator += other.denominator, times += other.times;
            least = std::min(least, other.least);
        }
    };

    Sizes sizes(int64_t row) const {
        const double n = times ? times[row] : 1;
        const double weight = denominator ? denominator[row] * denominator_scale : 1;
        return {std::abs(numerator[row] * numerator_scale) * n, weight * n, n, std::min(weight, n)};
    }

    // Rounding to whole steps no more than doubles a sum: one bit is left for it.
    bool fit(const Sizes& all) const {
        return all.numerator <= 0x1p61 && all.denominator <= std::ldexp(1.0, 62 - shift) &&
               all.times < std::ldexp(1.0, shift) && all.least >= 0;
    }
};

// Rows as they come, and the list of those that a tree is grown on.
template <class Code>
struct RowList {
    const Code* codes;  // [n, F] row by row
    Pulls pulls;
    int32_t* order;  // row numbers: first those that are added up, then those that look on
    int64_t n_added, n_all, n_rows;
    int32_t* node;  // out, by row: the node that answers for it
};

struct Range {  // of places in the list
    int64_t begin = 0, end = 0;
    int64_t size() const { return end - begin; }
};

template <class Code>
class PairedRows {
  public:
    using Cells = std::vector<Pair>;  // one for each code of each feature

    PairedRows(const RowList<Code>& rows, const Features& features, Team& team)
        : rows_(rows), features_(features), team_(team), parts_(team.size()), pairs_(rows.n_rows), rights_(rows.n_all) {
        pack(added());
    }

    Range added() const { return {0, rows_.n_added}; }
    Range others() const { return {rows_.n_added, rows_.n_all}; }

    // Says which node answers for the rows of a range.
    void settle(Range range, int32_t id) {
        for (int64_t i = range.begin; i < range.end; ++i) rows_.node[rows_.order[i]] = id;
    }

    // Adds the rows of a range to cells.
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

    // Row numbers stay in order within each side, so that memory is read forwards. Each member moves those of the first
    // child to the front of its share and those of the second to a place of their own; then the shares are joined:
    //
    //      order   0 1 0 | 1 0 0          fronts  0 0 . | 0 0 .         joined  0 0 0 0 1 1
    //                                     rights  1 . . | 1 . .
    //
    // A row whose code leads nowhere (a category or a missing value that nobody here has) stops at this node.
    std::pair<Range, Range> part(Range range, int feature, const std::vector<int32_t>& slot_of, int32_t id) {
        const int n = team_.size();
        std::vector<std::pair<int64_t, int64_t>> found(n);
        spread(range,
               [&](int member) { found[member] = part_share(share(range, member), feature, slot_of.data(), id); });
        int64_t to = range.begin;
        for (int member = 0; member < n; ++member) {
            const Range mine = share(range, member);
            if (to != mine.begin) std::copy_n(rows_.order + mine.begin, found[member].first, rows_.order + to);
            to += found[member].first;
        }
        const Range left{range.begin, to};
        for (int member = 0; member < n; ++member) {
            const Range mine = share(range, member);
            to = std::copy_n(rights_.data() + mine.begin, found[member].second, rows_.order + to) - rows_.order;
        }
        return {left, {left.end, to}};
    }

  private:
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
        std::vector<Pulls::Sizes> sizes(team_.size());
        spread(range, [&](int member) {
            const Range mine = share(range, member);
            Pulls::Sizes all;
            for (int64_t i = mine.begin; i < mine.end; ++i) {
                pairs_[rows_.order[i]] = rows_.pulls[rows_.order[i]];
                all.add(rows_.pulls.sizes(rows_.order[i]));
            }
            sizes[member] = all;
        });
        Pulls::Sizes all;
        for (const Pulls::Sizes& part : sizes) all.add(part);
        if (!rows_.pulls.fit(all))
            throw std::invalid_argument(
                "finite numerators, denominators and times of 0 or more, and sums that fit their bits, expected");
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
                const int64_t a = offset[f] + code[f], b = offset[f + 1] + code[f + 1], c = offset[f + 2] + code[f + 2],
                              d = offset[f + 3] + code[f + 3];
                cells[a] += one;
                cells[b] += one;
                cells[c] += one;
                cells[d] += one;
            }
            for (; f < n_features; ++f) cells[offset[f] + code[f]] += one;
        }
    }

    std::pair<int64_t, int64_t> part_share(Range range, int feature, const int32_t* slot_of, int32_t id) {
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

    static constexpr int64_t kShared = 4096;  // rows: waking the team costs about as much as counting so many
    static constexpr int64_t kAhead = 16;     // rows between asking for one and reading it

    const RowList<Code> rows_;
    const Features& features_;
    Team& team_;
    std::vector<Cells> parts_;
    std::vector<Pair> pairs_;  // by row
    std::vector<int32_t> rights_;
};

}  // namespace hornbeam
