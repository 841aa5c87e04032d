// A node's rows seen through one feature: (code, class) pairs in order, each with how many rows and how much weight; or
// codes, each with rows, a sum of numerators and one of denominators (the weight).
//
// This is the one currency between counting and scanning. Big nodes read their entries off a histogram, small ones
// count into a scratch histogram whose occupied cells are remembered in a bitmap, tiny ones compare all pairs. A pair
// may stand several times in a row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "growing/split.hpp"

namespace hornbeam {

inline uint32_t make_key(uint32_t code, uint32_t label) { return code << 16 | label; }
inline uint32_t code_of(uint32_t key) { return key >> 16; }
inline uint32_t label_of(uint32_t key) { return key & 0xffff; }

// A sum that is defined whatever it is added to: cells that rows are counted into are the caller's, and hold what they
// hold.
template <class Integer>
Integer wrapped(Integer a, Integer b) {
    using Bits = std::make_unsigned_t<Integer>;
    return static_cast<Integer>(static_cast<Bits>(a) + static_cast<Bits>(b));
}

// What a node of class counts keeps: the weight of each class.
struct OfClasses {
    static constexpr bool sums = false;
    static int channels(int n_classes) { return n_classes; }
    static int64_t weight_of(const int64_t* evidence, int n_classes) {
        int64_t weight = 0;
        for (int k = 0; k < n_classes; ++k) weight += evidence[k];
        return weight;
    }
    static const int64_t* counts_of(const int64_t* evidence) { return evidence; }
    static bool mixed(const int64_t* evidence, int n_classes) {
        int present = 0;
        for (int k = 0; k < n_classes; ++k) present += evidence[k] > 0;
        return present > 1;
    }
    template <class R>
    static uint32_t label(const R& rows, int64_t row) {
        return rows.label[row];
    }
    template <class Entry>
    static void gather(int64_t* evidence, const Entry& entry) {
        evidence[label_of(entry.key)] += entry.weight();
    }
    template <class R>
    static void gather(int64_t* evidence, const R& rows, int64_t begin, int64_t end) {
        if (rows.weight) {
            for (int64_t row = begin; row < end; ++row) evidence[rows.label[row]] += rows.weight[row];
        } else {
            for (int64_t row = begin; row < end; ++row) ++evidence[rows.label[row]];
        }
    }
};

// What a node of sums keeps: its weight, and the sum of its numerators. There is one "class", 0, and no label is read.
struct OfSums {
    static constexpr bool sums = true;
    static int channels(int) { return 2; }
    static int64_t weight_of(const int64_t* evidence, int) { return evidence[0]; }
    static const int64_t* counts_of(const int64_t* evidence) { return evidence + 1; }
    static bool mixed(const int64_t*, int) { return true; }  // the scan will tell: a split must be worth something
    template <class R>
    static uint32_t label(const R&, int64_t) {
        return 0;
    }
    template <class Entry>
    static void gather(int64_t* evidence, const Entry& entry) {
        evidence[0] += entry.weight();
        evidence[1] += entry.amount();
    }
    template <class R>
    static void gather(int64_t* evidence, const R& rows, int64_t begin, int64_t end) {
        int64_t weight = rows.weight ? 0 : end - begin, sum = 0;
        if (rows.weight)
            for (int64_t row = begin; row < end; ++row) weight += rows.weight[row];
        for (int64_t row = begin; row < end; ++row) sum += rows.numerator[row];
        evidence[0] += weight;
        evidence[1] += sum;
    }
};

struct CountEntry : OfClasses {  // every row counts 1
    using Cell = int32_t;
    uint32_t key;
    int32_t n;

    CountEntry() = default;
    CountEntry(uint32_t key_, Cell cell) : key(key_), n(cell) {}
    int64_t weight() const { return n; }
    int64_t amount() const { return n; }
    int64_t rows() const { return n; }
    void absorb(const CountEntry& other) { n += other.n; }
    static bool occupied(Cell cell) { return cell != 0; }
    static void add(Cell& cell, Cell part) { cell = wrapped(cell, part); }
    static void take(Cell& cell, Cell part) { cell -= part; }
    template <class R>
    static Cell one(const R&, int64_t) {
        return 1;
    }
};

// Entries whose cells are several sums, the rows last.
template <class Kind, class Parts>
struct CellEntry : Kind {
    using Cell = Parts;
    uint32_t key;
    Cell cell;

    CellEntry() = default;
    CellEntry(uint32_t key_, const Cell& cell_) : key(key_), cell(cell_) {}
    int64_t weight() const { return cell.weight(); }
    int64_t amount() const { return cell.amount(); }
    int64_t rows() const { return cell.rows; }
    void absorb(const CellEntry& other) { cell.add(other.cell); }
    static bool occupied(const Cell& cell) { return cell.rows != 0; }
    static void add(Cell& cell, const Cell& part) { cell.add(part); }
    static void take(Cell& cell, const Cell& part) { cell.take(part); }
    template <class R>
    static Cell one(const R& rows, int64_t row) {
        return Cell::of(rows, row);
    }
};

struct WeightCell {
    int64_t total, rows;

    int64_t weight() const { return total; }
    int64_t amount() const { return total; }
    void add(const WeightCell& other) { total = wrapped(total, other.total), rows = wrapped(rows, other.rows); }
    void take(const WeightCell& other) { total -= other.total, rows -= other.rows; }
    template <class R>
    static WeightCell of(const R& rows, int64_t row) {
        return {rows.weight[row], 1};
    }
};

struct SumCell {
    int64_t sum, rows;

    int64_t weight() const { return rows; }
    int64_t amount() const { return sum; }
    void add(const SumCell& other) { sum = wrapped(sum, other.sum), rows = wrapped(rows, other.rows); }
    void take(const SumCell& other) { sum -= other.sum, rows -= other.rows; }
    template <class R>
    static SumCell of(const R& rows, int64_t row) {
        return {rows.numerator[row], 1};
    }
};

struct RatioCell {
    int64_t sum, total, rows;

    int64_t weight() const { return total; }
    int64_t amount() const { return sum; }
    void add(const RatioCell& other) {
        sum = wrapped(sum, other.sum), total = wrapped(total, other.total), rows = wrapped(rows, other.rows);
    }
    void take(const RatioCell& other) { sum -= other.sum, total -= other.total, rows -= other.rows; }
    template <class R>
    static RatioCell of(const R& rows, int64_t row) {
        return {rows.numerator[row], rows.weight[row], 1};
    }
};

using WeightEntry = CellEntry<OfClasses, WeightCell>;  // rows carry fixed-point weights
using SumEntry = CellEntry<OfSums, SumCell>;           // rows carry a numerator, and each counts 1
using RatioEntry = CellEntry<OfSums, RatioCell>;       // rows carry a numerator and a denominator, their weight

template <class Entry>
struct Span {
    const Entry* first;
    const Entry* last;
};

// Rows that move together as nodes split: codes [n, F] row by row, class labels or numerators, and weights if there are
// any. Those with constant codes are constant altogether.
template <class Code>
struct Rows {
    template <class T>
    using Alike = std::conditional_t<std::is_const_v<Code>, const T, T>;

    Code* codes;
    Alike<uint16_t>* label;     // nullptr: no classes
    Alike<int64_t>* weight;     // nullptr: every row counts 1
    Alike<int64_t>* numerator;  // nullptr: no sums
    int n_features;
};

template <class Code, class Entry>
class EntryReader {
    using Cell = typename Entry::Cell;

  public:
    EntryReader(const Features& features, int n_classes) : features_(features), n_classes_(n_classes) {}

    Span<Entry> from_rows(const Rows<Code>& rows, int64_t begin, int64_t end, int f) {
        const int64_t n = end - begin;
        if (entries_.size() < static_cast<size_t>(n)) entries_.resize(n);
        if (n <= kTiny) return rank(rows, begin, end, f);
        if (static_cast<int64_t>(features_.n_codes[f] + 1) * n_classes_ > kSparse * n) return sort(rows, begin, end, f);
        return count(rows, begin, end, f);
    }

    Span<Entry> from_histogram(const Cell* histogram, int f) {
        const int64_t first = features_.offset[f] * n_classes_, last = features_.offset[f + 1] * n_classes_;
        if (entries_.size() < static_cast<size_t>(last - first)) entries_.resize(last - first);
        Entry* out = entries_.data();
        const Cell* cell = histogram + first;
        for (int32_t code = 0; code <= features_.n_codes[f]; ++code)
            for (int k = 0; k < n_classes_; ++k, ++cell)
                if (Entry::occupied(*cell)) *out++ = Entry(make_key(code, k), *cell);
        return {entries_.data(), out};
    }

  private:
    static constexpr int64_t kTiny = 24;    // up to this many rows comparing all pairs wins
    static constexpr int64_t kSparse = 64;  // cells a row: beyond, walking the bitmap costs more than sorting

    Entry read(const Rows<Code>& rows, int64_t row, int f) const {
        const uint32_t key = make_key(rows.codes[row * rows.n_features + f], Entry::label(rows, row));
        return Entry(key, Entry::one(rows, row));
    }

    // Tiny nodes: each row's place is the number of rows that go before it; no branch to mispredict.
    Span<Entry> rank(const Rows<Code>& rows, int64_t begin, int64_t end, int f) {
        const int n = static_cast<int>(end - begin);
        Entry fresh[kTiny];
        uint32_t keys[kTiny];
        for (int i = 0; i < n; ++i) {
            fresh[i] = read(rows, begin + i, f);
            keys[i] = fresh[i].key;
        }
        for (int i = 0; i < n; ++i) {
            int place = 0;
            for (int j = 0; j < i; ++j) place += keys[j] <= keys[i];
            for (int j = i + 1; j < n; ++j) place += keys[j] < keys[i];
            entries_[place] = fresh[i];
        }
        return {entries_.data(), entries_.data() + n};
    }

    Span<Entry> sort(const Rows<Code>& rows, int64_t begin, int64_t end, int f) {
        Entry* out = entries_.data();
        for (int64_t row = begin; row < end; ++row) *out++ = read(rows, row, f);
        std::sort(entries_.data(), out, [](const Entry& a, const Entry& b) { return a.key < b.key; });
        return {entries_.data(), out};
    }

    // Cells [code, class], and a bit for each that is occupied: reading them back needs no sort and leaves them zero.
    Span<Entry> count(const Rows<Code>& rows, int64_t begin, int64_t end, int f) {
        const int64_t cells = static_cast<int64_t>(features_.n_codes[f] + 1) * n_classes_;
        make_room(cells);
        const Code* code = rows.codes + begin * rows.n_features + f;
        Cell* cell = cells_.data();
        uint64_t* occupied = occupied_.data();
        const uint32_t k = n_classes_;
        for (int64_t row = begin; row < end; ++row, code += rows.n_features) {
            const uint32_t i = *code * k + Entry::label(rows, row);
            Entry::add(cell[i], Entry::one(rows, row));
            occupied[i >> 6] |= 1ULL << (i & 63);
        }
        Entry* out = entries_.data();
        for (int64_t word = 0; word <= (cells - 1) / 64; ++word) {
            uint64_t bits = occupied[word];
            occupied[word] = 0;
            for (; bits; bits &= bits - 1) {
                const int64_t i = word * 64 + __builtin_ctzll(bits);
                *out++ = Entry(key_of_cell_[i], cell[i]);
                cell[i] = Cell{};
            }
        }
        return {entries_.data(), out};
    }

    void make_room(int64_t cells) {
        if (cells_.size() >= static_cast<size_t>(cells)) return;
        cells_.assign(cells, Cell{});
        occupied_.assign((cells + 63) / 64, 0);
        key_of_cell_.resize(cells);
        for (int64_t i = 0; i < cells; ++i)
            key_of_cell_[i] = make_key(static_cast<uint32_t>(i / n_classes_), static_cast<uint32_t>(i % n_classes_));
    }

    const Features& features_;
    int n_classes_;
    std::vector<Entry> entries_;
    std::vector<Cell> cells_;
    std::vector<uint64_t> occupied_;
    std::vector<uint32_t> key_of_cell_;
};

}  // namespace hornbeam
