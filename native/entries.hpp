// A node's rows seen through one feature: (code, class) pairs in order, each with how many rows and how much weight.
//
// This is the one currency between counting and scanning. Big nodes read their entries off a histogram, small ones
// count into a scratch histogram whose occupied cells are remembered in a bitmap, tiny ones sort.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "split.hpp"

namespace hornbeam {

inline uint32_t make_key(uint32_t code, uint32_t label) { return code << 16 | label; }
inline uint32_t code_of(uint32_t key) { return key >> 16; }
inline uint32_t label_of(uint32_t key) { return key & 0xffff; }

struct CountEntry {  // every row counts 1
    using Cell = int32_t;
    uint32_t key;
    int32_t n;

    int64_t weight() const { return n; }
    int64_t rows() const { return n; }
    static CountEntry make(uint32_t key, Cell cell) { return {key, cell}; }
    static bool occupied(Cell cell) { return cell != 0; }
    static void add(Cell& cell, const int64_t*, int64_t) { ++cell; }
    static Cell one(const int64_t*, int64_t) { return 1; }
    static void merge(Cell& into, Cell from) { into += from; }
    static void take(Cell& from, Cell part) { from -= part; }
};

struct WeightCell {
    int64_t weight;
    int64_t rows;
};

struct WeightEntry {  // rows carry fixed-point weights
    using Cell = WeightCell;
    uint32_t key;
    WeightCell cell;

    int64_t weight() const { return cell.weight; }
    int64_t rows() const { return cell.rows; }
    static WeightEntry make(uint32_t key, Cell cell) { return {key, cell}; }
    static bool occupied(const Cell& cell) { return cell.rows != 0; }
    static void add(Cell& cell, const int64_t* weight, int64_t row) {
        cell.weight += weight[row];
        ++cell.rows;
    }
    static Cell one(const int64_t* weight, int64_t row) { return {weight[row], 1}; }
    static void merge(Cell& into, const Cell& from) {
        into.weight += from.weight;
        into.rows += from.rows;
    }
    static void take(Cell& from, const Cell& part) {
        from.weight -= part.weight;
        from.rows -= part.rows;
    }
};

template <class Entry>
struct Span {
    const Entry* first;
    const Entry* last;
};

// Rows that move together as nodes split: codes [n, F] row by row, class labels, and weights if there are any.
template <class Code>
struct Rows {
    Code* codes;
    uint16_t* label;
    int64_t* weight;  // nullptr: every row counts 1
    int n_features;
};

template <class Code, class Entry>
class EntryReader {
    using Cell = typename Entry::Cell;

  public:
    EntryReader(const Features& features, int n_classes) : features_(features), n_classes_(n_classes) {}

    Span<Entry> from_rows(const Rows<Code>& rows, int64_t begin, int64_t end, int f) {
        const int64_t n = end - begin;
        const int64_t cells = static_cast<int64_t>(features_.n_codes[f] + 1) * n_classes_;
        if (entries_.size() < static_cast<size_t>(n)) entries_.resize(n);
        if (n <= kTiny || cells > kSparse * n) return sort(rows, begin, end, f);
        return count(rows, begin, end, f, cells);
    }

    Span<Entry> from_histogram(const Cell* histogram, int f) {
        const int64_t first = features_.offset[f] * n_classes_, last = features_.offset[f + 1] * n_classes_;
        if (entries_.size() < static_cast<size_t>(last - first)) entries_.resize(last - first);
        Entry* out = entries_.data();
        const Cell* cell = histogram + first;
        for (int32_t code = 0; code <= features_.n_codes[f]; ++code)
            for (int k = 0; k < n_classes_; ++k, ++cell)
                if (Entry::occupied(*cell)) *out++ = Entry::make(make_key(code, k), *cell);
        return {entries_.data(), out};
    }

  private:
    static constexpr int64_t kTiny = 12;    // up to this many rows insertion sort wins
    static constexpr int64_t kSparse = 64;  // cells a row: beyond, walking the bitmap costs more than sorting

    Span<Entry> sort(const Rows<Code>& rows, int64_t begin, int64_t end, int f) {
        Entry* entry = entries_.data();
        const Code* code = rows.codes + begin * rows.n_features + f;
        if (end - begin <= kTiny) {
            for (int64_t row = begin; row < end; ++row, code += rows.n_features) {
                const Entry fresh = Entry::make(make_key(*code, rows.label[row]), Entry::one(rows.weight, row));
                Entry* hole = entry + (row - begin);
                for (; hole > entry && hole[-1].key > fresh.key; --hole) *hole = hole[-1];
                *hole = fresh;
            }
        } else {
            for (int64_t row = begin; row < end; ++row, code += rows.n_features)
                *entry++ = Entry::make(make_key(*code, rows.label[row]), Entry::one(rows.weight, row));
            std::sort(entries_.data(), entry, [](const Entry& a, const Entry& b) { return a.key < b.key; });
        }
        return {entries_.data(), merge_equal(end - begin)};
    }

    const Entry* merge_equal(int64_t n) {
        Entry *out = entries_.data(), *last = out + n;
        for (Entry* next = out + 1; next < last; ++next) {
            if (next->key == out->key) {
                Cell sum = cell_of(*out);
                Entry::merge(sum, cell_of(*next));
                *out = Entry::make(out->key, sum);
            } else {
                *++out = *next;
            }
        }
        return n ? out + 1 : out;
    }

    static Cell cell_of(const CountEntry& entry) { return entry.n; }
    static Cell cell_of(const WeightEntry& entry) { return entry.cell; }

    Span<Entry> count(const Rows<Code>& rows, int64_t begin, int64_t end, int f, int64_t cells) {
        if (cells_.size() < static_cast<size_t>(cells)) {
            cells_.assign(cells, Cell{});
            occupied_.assign((cells + 63) / 64, 0);
        }
        const Code* code = rows.codes + begin * rows.n_features + f;
        Cell* cell = cells_.data();
        uint64_t* occupied = occupied_.data();
        const uint32_t k = n_classes_;
        for (int64_t row = begin; row < end; ++row, code += rows.n_features) {
            const uint32_t i = *code * k + rows.label[row];
            Entry::add(cell[i], rows.weight, row);
            occupied[i >> 6] |= 1ULL << (i & 63);
        }
        Entry* out = entries_.data();
        for (int64_t word = 0, n_words = (cells + 63) / 64; word < n_words; ++word) {
            uint64_t bits = occupied[word];
            if (!bits) continue;
            occupied[word] = 0;
            for (; bits; bits &= bits - 1) {
                const uint32_t i = static_cast<uint32_t>(word * 64 + __builtin_ctzll(bits));
                *out++ = Entry::make(make_key(i / k, i % k), cell[i]);
                cell[i] = Cell{};
            }
        }
        return {entries_.data(), out};
    }

    const Features& features_;
    int n_classes_;
    std::vector<Entry> entries_;
    std::vector<Cell> cells_;
    std::vector<uint64_t> occupied_;
};

}  // namespace hornbeam
