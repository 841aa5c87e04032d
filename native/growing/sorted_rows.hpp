// The rows of a subtree in the order of each feature, sorted once: a split divides every order and keeps it.
//
// Below a node with few rows, sorting the rows of each node again would take most of the time. Here each feature of
// many codes has a list of rows in the order of (code, class); the lists of a child are parts of those of its parent.
// Two sides of memory take turns: a node reads its lists from one and writes those of its children to the other, at
// the same positions, so growing depth first never overwrites what is still needed. A feature of few codes has no
// list, because counting it is faster: its entries come from an EntryReader.
#pragma once

#include <cstdint>
#include <vector>

#include "growing/entries.hpp"
#include "growing/split.hpp"
#include "math/compiler.hpp"

namespace hornbeam {

template <class Code, class Entry>
class SortedRows {
  public:
    // A node's part of the lists, and the side of memory that has them.
    struct Part {
        int64_t begin = 0, end = 0;
        int side = 0;
        int64_t size() const { return end - begin; }
    };

    SortedRows(const Features& features, int n_classes)
        : features_(features), n_classes_(n_classes), list_of_(features.count, -1) {}

    // Whether lists are faster than sorting in each node, and small enough.
    bool suits(int64_t n) const { return n > kFew && n * features_.count <= kMostCells && any_list(n); }

    // Sorts rows [begin, end), which must not change from now on; returns the part of all of them.
    Part sort(const Rows<Code>& rows, int64_t begin, int64_t end) {
        rows_ = rows;
        first_ = begin;
        n_ = end - begin;
        n_lists_ = 0;
        for (int f = 0; f < features_.count; ++f) list_of_[f] = has_list(f, n_) ? n_lists_++ : -1;
        const size_t cells = static_cast<size_t>(n_lists_) * n_;
        if (keys_.size() < cells) {
            keys_.resize(cells);
            lists_[0].resize(cells);
            lists_[1].resize(cells);
        }
        if (slot_.size() < static_cast<size_t>(n_)) slot_.resize(n_), goes_right_.resize(n_), entries_.resize(n_);
        for (int f = 0; f < features_.count; ++f)
            if (list_of_[f] >= 0) sort_feature(f);
        return {0, n_, 0};
    }

    // The entries of a feature in a node; valid until the next call.
    Span<Entry> entries(const Part& part, int f, EntryReader<Code, Entry>& reader) {
        const int list = list_of_[f];
        if (list < 0) {
            const uint32_t* rows = list_begin(part.side, 0);
            return reader.from_rows(rows_, part.size(), f, [=](int64_t i) { return first_ + rows[part.begin + i]; });
        }
        const uint32_t *keys = keys_of(list), *rows = list_begin(part.side, list);
        Entry* out = entries_.data();
        if (part.size() <= cells_of(f)) {
            for (int64_t i = part.begin; i < part.end; ++i)
                *out++ = Entry(keys[rows[i]], Entry::one(rows_, first_ + rows[i]));
            return {entries_.data(), out};
        }
        // Rows of the same key are one entry: the scan takes longer than adding them up.
        for (int64_t i = part.begin; i < part.end; ++i) {
            const Entry entry(keys[rows[i]], Entry::one(rows_, first_ + rows[i]));
            if (i > part.begin && out[-1].key == entry.key) out[-1].merge(entry);
            else *out++ = entry;
        }
        return {entries_.data(), out};
    }

    // Calls `action` with each row of a node, as an index of the table.
    template <class Action>
    void each_row(const Part& part, Action&& action) const {
        const uint32_t* rows = list_begin(part.side, 0);
        for (int64_t i = part.begin; i < part.end; ++i) action(first_ + rows[i]);
    }

    // Finds the slot of each row of a node: adds up the rows and the evidence of each slot.
    void assign(const Part& part, const Split& split, int n_channels, std::vector<int64_t>& n_rows,
                std::vector<int64_t>& evidence) {
        n_rows.assign(split.n_slots, 0);
        evidence.assign(static_cast<size_t>(split.n_slots) * n_channels, 0);
        const uint32_t *rows = list_begin(part.side, 0), *keys = keys_of(0);
        const Code* codes = rows_.codes + first_ * features_.count + split.feature;
        const int32_t* slot_of = split.slot_of.data();
        for (int64_t i = part.begin; i < part.end; ++i) {
            const uint32_t row = rows[i];
            const int32_t slot = slot_of[codes[static_cast<int64_t>(row) * features_.count]];
            slot_[row] = slot;
            goes_right_[row] = static_cast<uint8_t>(slot);
            ++n_rows[slot];
            Entry::add_evidence(evidence.data() + static_cast<int64_t>(slot) * n_channels,
                                Entry(keys[row], Entry::one(rows_, first_ + row)));
        }
    }

    // Divides the lists of a node by the slots that `assign` found; `starts` gets where each slot begins, and the end.
    void divide(const Part& part, const std::vector<int64_t>& n_rows, std::vector<int64_t>& starts) {
        const auto n_slots = static_cast<int>(n_rows.size());
        starts.assign(n_slots + 1, part.begin);
        for (int slot = 0; slot < n_slots; ++slot) starts[slot + 1] = starts[slot] + n_rows[slot];
        for (int list = 0; list < n_lists_; ++list) {
            const uint32_t* rows = list_begin(part.side, list);
            uint32_t* out = list_begin(1 - part.side, list);
            if (n_slots == 2) {
                int64_t left = starts[0], right = starts[1];
                for (int64_t i = part.begin; i < part.end; ++i) {
                    // A side is unpredictable: no branch.
                    const uint32_t row = rows[i];
                    const int64_t goes_right = goes_right_[row];
                    out[left + ((right - left) & -goes_right)] = row;
                    right += goes_right;
                    left += 1 - goes_right;
                }
            } else {
                next_.assign(starts.begin(), starts.end() - 1);
                for (int64_t i = part.begin; i < part.end; ++i) out[next_[slot_[rows[i]]]++] = rows[i];
            }
        }
    }

  private:
    static constexpr int64_t kFew = 4;              // rows that are not worth a list
    static constexpr int64_t kMostCells = 1 << 22;  // of all lists: 48 MB
    static constexpr int64_t kDense = 8;            // rows per cell from which on counting is faster
    static constexpr int64_t kSparse = 64;  // cells per row beyond which reading the bitmap costs more than sorting

    int64_t cells_of(int f) const { return static_cast<int64_t>(features_.n_codes[f] + 1) * n_classes_; }
    bool has_list(int f, int64_t n) const { return cells_of(f) * kDense > n; }
    bool any_list(int64_t n) const {
        for (int f = 0; f < features_.count; ++f)
            if (has_list(f, n)) return true;
        return false;
    }

    uint32_t* keys_of(int list) { return keys_.data() + list * n_; }
    uint32_t* list_begin(int side, int list) { return lists_[side].data() + list * n_; }
    const uint32_t* list_begin(int side, int list) const { return lists_[side].data() + list * n_; }

    void sort_feature(int f) {
        uint32_t* keys = keys_of(list_of_[f]);
        uint32_t* rows = list_begin(0, list_of_[f]);
        const Code* code = rows_.codes + first_ * features_.count + f;
        for (int64_t i = 0; i < n_; ++i, code += features_.count)
            keys[i] = make_key(*code, Entry::label(rows_, first_ + i));
        const int64_t cells = cells_of(f);
        if (cells > kSparse * n_) {
            pairs_.resize(n_);
            for (int64_t i = 0; i < n_; ++i) pairs_[i] = static_cast<uint64_t>(keys[i]) << 32 | i;
            std::sort(pairs_.begin(), pairs_.end());
            for (int64_t i = 0; i < n_; ++i) rows[i] = static_cast<uint32_t>(pairs_[i]);
            return;
        }
        // Counts per cell, and a bit per occupied cell: then each cell knows where its rows begin.
        if (place_.size() < static_cast<size_t>(cells)) {
            place_.resize(cells, 0);
            occupied_.resize((cells + 63) / 64, 0);
        }
        const auto k = static_cast<uint32_t>(n_classes_);
        const auto cell_of = [k](uint32_t key) { return code_of(key) * k + label_of(key); };
        for (int64_t i = 0; i < n_; ++i) {
            const uint32_t cell = cell_of(keys[i]);
            ++place_[cell];
            occupied_[cell >> 6] |= 1ULL << (cell & 63);
        }
        uint32_t begin = 0;
        for (int64_t word = 0; word <= (cells - 1) / 64; ++word)
            for (uint64_t bits = occupied_[word]; bits; bits &= bits - 1) {
                uint32_t& place = place_[word * 64 + lowest_bit(bits)];
                const uint32_t n = place;
                place = begin;
                begin += n;
            }
        for (int64_t i = 0; i < n_; ++i) rows[place_[cell_of(keys[i])]++] = static_cast<uint32_t>(i);
        for (int64_t word = 0; word <= (cells - 1) / 64; ++word) {
            for (uint64_t bits = occupied_[word]; bits; bits &= bits - 1) place_[word * 64 + lowest_bit(bits)] = 0;
            occupied_[word] = 0;
        }
    }

    const Features& features_;
    const int n_classes_;
    Rows<Code> rows_{};
    int64_t first_ = 0, n_ = 0;
    int n_lists_ = 0;
    std::vector<int> list_of_;         // of each feature; -1: none
    std::vector<uint32_t> keys_;       // [list, row]
    std::vector<uint32_t> lists_[2];   // [list, position]: rows of each node in order
    std::vector<int32_t> slot_;        // of each row, in the split being made
    std::vector<uint8_t> goes_right_;  // the same where there are two slots
    std::vector<int64_t> next_;
    std::vector<Entry> entries_;
    std::vector<uint64_t> pairs_, occupied_;
    std::vector<uint32_t> place_;  // of each cell; all 0 between two sorts
};

}  // namespace hornbeam
