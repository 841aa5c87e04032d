// Rows with gradients, which stay in place: a list of row numbers is partitioned instead, by a team of threads.
//
// Each row has a pair of 64-bit numbers that are added in one step of 16 bytes: its numerator (the negative gradient);
// and its denominator (the hessian) with the number of times that the row counts in the low bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "growing/histogram.hpp"
#include "growing/split.hpp"
#include "growing/thread_team.hpp"
#include "math/compiler.hpp"

namespace hornbeam {

using Pair = PairOfSums;  // numerator; denominator << shift | times

// Gradients and hessians as floats, and how they are rounded to fixed point.
struct Gradients {
    const double* numerator;
    const double* denominator;  // nullptr: 1 each
    const int32_t* times;       // nullptr: every row counts once
    double numerator_scale, denominator_scale;
    int shift;

    // The pair of a row. Computed in unsigned integers, because a row may overflow; `fit` finds out afterwards.
    Pair operator[](int64_t row) const {
        const uint64_t n = times ? static_cast<uint64_t>(times[row]) : 1;
        const auto steps = [](double x) { return static_cast<uint64_t>(std::llrint(x)); };
        const uint64_t weight = denominator ? steps(denominator[row] * denominator_scale) : 1;
        return Pair{static_cast<int64_t>(steps(numerator[row] * numerator_scale) * n),
                    static_cast<int64_t>((weight * n) << shift | n)};
    }

    // Sums of absolute values over rows; `least` is negative if a denominator or a number of times is.
    struct Sizes {
        double numerator = 0, denominator = 0, times = 0, least = 0;

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

    // Whether the sums fit their bits. Rounding at most doubles a sum: one bit is kept free for it.
    bool fit(const Sizes& all) const {
        return all.numerator <= 0x1p61 && all.denominator <= std::ldexp(1.0, 62 - shift) &&
               all.times < std::ldexp(1.0, shift) && all.least >= 0;
    }
};

// The list of rows that a tree is grown on.
struct RowList {
    int32_t* order;  // row numbers: first the training rows, then rows that are only routed to their node; nullptr: all
    int64_t n_train, n_all;
    int32_t* node;  // out, by row: the node where it ends
};

struct Range {  // of positions in the list
    int64_t begin = 0, end = 0;
    int64_t size() const { return end - begin; }
};

// The rows of all trees of a fit, which use the same memory one after the other.
template <class Code>
class GradientRows {
  public:
    using Histogram = HistogramPool<Pair>::Histogram;  // a cell per code of each feature

    // `codes`: [n, F] row by row, which must not change from now on.
    GradientRows(const Code* codes, int64_t n_rows, const Features& features)
        : codes_(codes), n_rows_(n_rows), features_(features), columns_(n_rows * features.count), pairs_(n_rows),
          all_(n_rows), second_(n_rows) {
        const int n_features = features.count;
        for (int64_t begin = 0; begin < n_rows; begin += kBlock)
            for (int f = 0; f < n_features; ++f)
                for (int64_t row = begin; row < std::min(n_rows, begin + kBlock); ++row)
                    columns_[f * n_rows + row] = codes[row * n_features + f];
    }

    // Begins a tree.
    void begin(const RowList& rows, const Gradients& gradients, ThreadTeam& team) {
        rows_ = rows;
        team_ = &team;
        partial_.resize(team.size());
        if (!rows_.order) {
            std::iota(all_.begin(), all_.end(), 0);
            rows_.order = all_.data();
        }
        pack(gradients, training_rows());
    }

    int64_t size() const { return n_rows_; }

    Range training_rows() const { return {0, rows_.n_train}; }
    Range other_rows() const { return {rows_.n_train, rows_.n_all}; }

    // Sets the node of the rows of a range.
    void set_node(Range range, int32_t id) {
        for (int64_t i = range.begin; i < range.end; ++i) rows_.node[rows_.order[i]] = id;
    }

    // Adds the rows of a range to a histogram.
    void count(Histogram& cells, Range range) {
        run(range, [&](int member) {
            const Range mine = part_of(range, member);
            if (member == 0) return add_rows(cells.data(), mine);
            partial_[member].assign(cells.size(), Pair{});
            add_rows(partial_[member].data(), mine);
        });
        if (range.size() < kShared) return;
        for (int member = 1; member < team_->size(); ++member) {
            const Pair* part = partial_[member].data();
            Pair* all = cells.data();
            for (size_t i = 0; i < cells.size(); ++i) all[i] += part[i];
        }
    }

    // Whether the rows of a range are so few that no histogram is needed: their cells are found for each feature.
    bool few(Range range) const { return 2 * range.size() * features_.count <= features_.cells(); }

    // The sum of the rows of a range.
    Pair total(Range range) const {
        Pair sum{};
        for (int64_t i = range.begin; i < range.end; ++i) sum += pairs_[rows_.order[i]];
        return sum;
    }

    // Subtracts few rows from a histogram.
    void subtract(Histogram& cells, Range range) const {
        for (int64_t i = range.begin; i < range.end; ++i) {
            const Pair one = pairs_[rows_.order[i]];
            add_row(cells.data(), codes_ + int64_t{rows_.order[i]} * features_.count, features_.offset.data(),
                    features_.count, 1, [one](Pair& cell) { cell -= one; });
        }
    }

    // Cells of one feature, all zero between two calls, and a bit for each that is occupied.
    struct FewCells {
        std::vector<Pair> cells;
        std::vector<uint64_t> occupied;
        explicit FewCells(int64_t n) : cells(n, Pair{}), occupied(n / 64 + 1, 0) {}
    };

    // Calls `found` with each code that few rows have, in order, and the sum of its rows.
    template <class Found>
    void each_code(Range range, int feature, FewCells& few, Found&& found) const {
        for (int64_t i = range.begin; i < range.end; ++i) {
            const int64_t row = rows_.order[i];
            const Code code = codes_[row * features_.count + feature];
            few.cells[code] += pairs_[row];
            few.occupied[code >> 6] |= 1ULL << (code & 63);
        }
        for (int word = 0; word <= features_.n_codes[feature] >> 6; ++word) {
            for (uint64_t bits = std::exchange(few.occupied[word], 0); bits; bits &= bits - 1) {
                const int code = word * 64 + lowest_bit(bits);
                found(code, std::exchange(few.cells[code], Pair{}));
            }
        }
    }

    // Row numbers stay sorted within each child, so that memory is read forwards. Each member of the team moves row
    // numbers of the first child to the front of its part and copies those of the second to an array; then the parts
    // are joined:
    //
    //      order   0 1 0 | 1 0 0          order   0 0 . | 0 0 .         joined  0 0 0 0 1 1
    //                                     second  1 . . | 1 . .
    //
    // A row whose code has no slot (no training row of this node has the category, or a missing value) ends at this
    // node.
    std::pair<Range, Range> partition(Range range, int feature, const std::vector<int32_t>& slot_of, int32_t id) {
        const int n = team_->size();
        std::vector<std::pair<int64_t, int64_t>> found(n);
        run(range,
            [&](int member) { found[member] = partition_part(part_of(range, member), feature, slot_of.data(), id); });
        int64_t to = range.begin;
        for (int member = 0; member < n; ++member) {
            const Range mine = part_of(range, member);
            if (to != mine.begin) std::copy_n(rows_.order + mine.begin, found[member].first, rows_.order + to);
            to += found[member].first;
        }
        const Range left{range.begin, to};
        for (int member = 0; member < n; ++member) {
            const Range mine = part_of(range, member);
            to = std::copy_n(second_.data() + mine.begin, found[member].second, rows_.order + to) - rows_.order;
        }
        return {left, {left.end, to}};
    }

  private:
    // The part of a range that a member of the team handles; a small range is handled by member 0 alone.
    Range part_of(Range range, int member) const {
        const int64_t size = range.size(), n = size < kShared ? 1 : team_->size();
        if (member >= n) return {range.end, range.end};
        return {range.begin + size * member / n, range.begin + size * (member + 1) / n};
    }
    template <class Task>
    void run(Range range, const Task& task) {
        if (range.size() < kShared) task(0);
        else team_->run(task);
    }

    void pack(const Gradients& gradients, Range range) {
        std::vector<Gradients::Sizes> sizes(team_->size());
        run(range, [&](int member) {
            const Range mine = part_of(range, member);
            Gradients::Sizes all;
            for (int64_t i = mine.begin; i < mine.end; ++i) {
                pairs_[rows_.order[i]] = gradients[rows_.order[i]];
                all.add(gradients.sizes(rows_.order[i]));
            }
            sizes[member] = all;
        });
        Gradients::Sizes all;
        for (const Gradients::Sizes& part : sizes) all.add(part);
        if (!gradients.fit(all))
            throw std::invalid_argument(
                "finite numerators, denominators and times of 0 or more, and sums that fit their bits, expected");
    }

    void add_rows(Pair* cells, Range range) const {
        const int n_features = features_.count;
        const int64_t* offset = features_.offset.data();
        const int32_t* order = rows_.order;
        for (int64_t i = range.begin; i < range.end; ++i) {
            if (i + kAhead < range.end) {
                const int64_t ahead = order[i + kAhead];
                prefetch(codes_ + ahead * n_features);
                prefetch(pairs_.data() + ahead);
            }
            const int64_t row = order[i];
            const Pair one = pairs_[row];
            add_row(cells, codes_ + row * n_features, offset, n_features, 1, [one](Pair& cell) { cell += one; });
        }
    }

    // Returns how many rows go to the first and to the second child.
    std::pair<int64_t, int64_t> partition_part(Range range, int feature, const int32_t* slot_of, int32_t id) {
        int32_t* order = rows_.order;
        int32_t *left = order + range.begin, *right = second_.data() + range.begin;
        const Code* codes = columns_.data() + feature * n_rows_;
        for (int64_t i = range.begin; i < range.end; ++i) {
            const int32_t row = order[i], slot = slot_of[codes[row]];
            if (slot < 0) rows_.node[row] = id;
            *left = row;
            *right = row;
            left += slot == 0;
            right += slot == 1;
        }
        return {left - (order + range.begin), right - (second_.data() + range.begin)};
    }

    static constexpr int64_t kShared = 4096;  // rows that cost about as much as waking the team
    static constexpr int64_t kAhead = 16;     // rows between prefetching and reading
    static constexpr int64_t kBlock = 256;    // rows of codes in the first cache

    const Code* codes_;
    const int64_t n_rows_;
    const Features& features_;
    RowList rows_{};
    ThreadTeam* team_ = nullptr;
    std::vector<Code> columns_;       // the codes, feature by feature: partitioning reads one
    std::vector<Histogram> partial_;  // of each member
    std::vector<Pair> pairs_;         // by row
    std::vector<int32_t> all_;        // row numbers of a tree of all rows
    std::vector<int32_t> second_;     // row numbers of the second child while a range is partitioned
};

}  // namespace hornbeam
