// Permutes the rows of a node in place so that the rows of each child are contiguous.
//
// The order within a child has no meaning: rows are only ever added up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "growing/entries.hpp"

namespace hornbeam {

template <class Code>
void swap_rows(const Rows<Code>& rows, int64_t a, int64_t b) {
    Code* x = rows.codes + a * rows.n_features;
    Code* y = rows.codes + b * rows.n_features;
    std::swap_ranges(x, x + rows.n_features, y);
    if (rows.label) std::swap(rows.label[a], rows.label[b]);
    if (rows.numerator) std::swap(rows.numerator[a], rows.numerator[b]);
    if (rows.weight) std::swap(rows.weight[a], rows.weight[b]);
}

// Two slots. Returns where slot 1 begins.
//
// Blocks of rows are inspected from both ends. The offsets of misplaced rows are listed without a branch (a
// row's side is unpredictable), then as many pairs as both ends have are swapped:
//
//      left block  0 1 0 1 1 0 . . .      offsets_left  = 1 3 4      rows that belong right
//      right block 0 0 1 0 . . .          offsets_right = 0 1 3      rows that belong left, counted from the end
//      swap (1, 0), (3, 1), (4, 3): both blocks are done, take the next two
template <class Code>
int64_t partition_two(const Rows<Code>& rows, int64_t begin, int64_t end, int feature, const int32_t* slot_of) {
    constexpr int kBlock = 128;
    uint8_t offsets_left[kBlock], offsets_right[kBlock];
    int n_left = 0, n_right = 0, start_left = 0, start_right = 0;
    int64_t first = begin, last = end;  // rows in [first, last) are not yet placed
    const int64_t stride = rows.n_features;
    while (last - first > 2 * kBlock) {
        if (n_left == 0) {
            start_left = 0;
            const Code* code = rows.codes + first * stride + feature;
            for (int i = 0; i < kBlock; ++i, code += stride) {
                offsets_left[n_left] = static_cast<uint8_t>(i);
                n_left += slot_of[*code] == 1;
            }
        }
        if (n_right == 0) {
            start_right = 0;
            const Code* code = rows.codes + (last - 1) * stride + feature;
            for (int i = 0; i < kBlock; ++i, code -= stride) {
                offsets_right[n_right] = static_cast<uint8_t>(i);
                n_right += slot_of[*code] == 0;
            }
        }
        const int n = std::min(n_left, n_right);
        for (int i = 0; i < n; ++i)
            swap_rows(rows, first + offsets_left[start_left + i], last - 1 - offsets_right[start_right + i]);
        n_left -= n;
        n_right -= n;
        start_left += n;
        start_right += n;
        if (n_left == 0) first += kBlock;
        if (n_right == 0) last -= kBlock;
    }
    const auto goes_right = [&](int64_t row) { return slot_of[rows.codes[row * stride + feature]] == 1; };
    for (;;) {
        while (first < last && !goes_right(first)) ++first;
        while (first < last && goes_right(last - 1)) --last;
        if (first >= last) return first;
        swap_rows(rows, first++, --last);
    }
}

// Any number of slots: swaps each misplaced row into its slot. `starts` gets n_slots + 1 bounds.
template <class Code>
void partition_many(const Rows<Code>& rows, int64_t begin, int64_t end, int feature, const int32_t* slot_of,
                    int n_slots, std::vector<int64_t>& starts) {
    const auto slot_at = [&](int64_t row) { return slot_of[rows.codes[row * rows.n_features + feature]]; };
    starts.assign(n_slots + 1, 0);
    for (int64_t row = begin; row < end; ++row) ++starts[slot_at(row) + 1];
    starts[0] = begin;
    for (int slot = 0; slot < n_slots; ++slot) starts[slot + 1] += starts[slot];
    std::vector<int64_t> next(starts.begin(), starts.end() - 1);
    for (int slot = 0; slot < n_slots; ++slot) {
        while (next[slot] < starts[slot + 1]) {
            const int target = slot_at(next[slot]);
            if (target == slot) ++next[slot];
            else swap_rows(rows, next[slot], next[target]++);
        }
    }
}

template <class Code>
void partition(const Rows<Code>& rows, int64_t begin, int64_t end, int feature, const int32_t* slot_of, int n_slots,
               std::vector<int64_t>& starts) {
    if (n_slots != 2) return partition_many(rows, begin, end, feature, slot_of, n_slots, starts);
    starts.assign({begin, partition_two(rows, begin, end, feature, slot_of), end});
}

}  // namespace hornbeam
