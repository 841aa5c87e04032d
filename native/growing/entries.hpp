// Entries: the rows of a node grouped by one feature, sorted by (code, class), each with its number of rows and its
// weight; for sums sorted by code, each with rows, the sum of numerators and the sum of denominators (the weight).
//
// Counting makes entries and scanning reads them; nothing else passes between the two. Big nodes read their entries
// from a histogram, small nodes count into a scratch histogram with a bitmap of occupied cells, tiny nodes compare all
// pairs of rows. Consecutive entries may have the same key.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "growing/split.hpp"
#include "math/compiler.hpp"

namespace hornbeam {

// A type as an argument.
template <class T>
struct Type {
    using type = T;
};

inline uint32_t make_key(uint32_t code, uint32_t label) { return code << 16 | label; }
inline uint32_t code_of(uint32_t key) { return key >> 16; }
inline uint32_t label_of(uint32_t key) { return key & 0xffff; }

// A sum that wraps around: cells come from the caller and may hold any number.
template <class Integer>
Integer wrapped(Integer a, Integer b) {
    using Bits = std::make_unsigned_t<Integer>;
    return static_cast<Integer>(static_cast<Bits>(a) + static_cast<Bits>(b));
}

// Evidence of a classification node: the weight of each class.
struct ClassEvidence {
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
    static void add_evidence(int64_t* evidence, const Entry& entry) {
        evidence[label_of(entry.key)] += entry.weight();
    }
    template <class R>
    static void add_evidence(int64_t* evidence, const R& rows, int64_t begin, int64_t end) {
        if (rows.weight) {
            for (int64_t row = begin; row < end; ++row) evidence[rows.label[row]] += rows.weight[row];
        } else {
            for (int64_t row = begin; row < end; ++row) ++evidence[rows.label[row]];
        }
    }
};

// Evidence of a node of sums: its weight and the sum of its numerators. There is one class, 0, and no label is read.
struct SumEvidence {
    static constexpr bool sums = true;
    static int channels(int) { return 2; }
    static int64_t weight_of(const int64_t* evidence, int) { return evidence[0]; }
    static const int64_t* counts_of(const int64_t* evidence) { return evidence + 1; }
    static bool mixed(const int64_t*, int) { return true; }  // the scan decides
    template <class R>
    static uint32_t label(const R&, int64_t) {
        return 0;
    }
    template <class Entry>
    static void add_evidence(int64_t* evidence, const Entry& entry) {
        evidence[0] += entry.weight();
        evidence[1] += entry.amount();
    }
    template <class R>
    static void add_evidence(int64_t* evidence, const R& rows, int64_t begin, int64_t end) {
        int64_t weight = rows.weight ? 0 : end - begin, sum = 0;
        if (rows.weight)
            for (int64_t row = begin; row < end; ++row) weight += rows.weight[row];
        for (int64_t row = begin; row < end; ++row) sum += rows.numerator[row];
        evidence[0] += weight;
        evidence[1] += sum;
    }
};

struct CountEntry : ClassEvidence {  // every row has weight 1
    using Cell = int32_t;
    uint32_t key;
    int32_t n;

    CountEntry() = default;
    CountEntry(uint32_t key_, Cell cell) : key(key_), n(cell) {}
    int64_t weight() const { return n; }
    int64_t amount() const { return n; }
    int64_t rows() const { return n; }
    Cell as_cell() const { return n; }
    void merge(const CountEntry& other) { n += other.n; }
    static bool occupied(Cell cell) { return cell != 0; }
    static void add(Cell& cell, Cell part) { cell = wrapped(cell, part); }
    static void subtract(Cell& cell, Cell part) { cell -= part; }
    template <class R>
    static Cell one(const R&, int64_t) {
        return 1;
    }
};

// Entries whose cells hold several sums, the number of rows last.
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
    const Cell& as_cell() const { return cell; }
    void merge(const CellEntry& other) { cell.add(other.cell); }
    static bool occupied(const Cell& cell) { return cell.rows != 0; }
    static void add(Cell& cell, const Cell& part) { cell.add(part); }
    static void subtract(Cell& cell, const Cell& part) { cell.subtract(part); }
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
    void subtract(const WeightCell& other) { total -= other.total, rows -= other.rows; }
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
    void subtract(const SumCell& other) { sum -= other.sum, rows -= other.rows; }
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
    void subtract(const RatioCell& other) { sum -= other.sum, total -= other.total, rows -= other.rows; }
    template <class R>
    static RatioCell of(const R& rows, int64_t row) {
        return {rows.numerator[row], rows.weight[row], 1};
    }
};

// Python's cells are arrays of int32 or int64, read as these structs.
template <class Cell, class Number>
constexpr bool is_array_of = std::is_standard_layout_v<Cell> && std::is_trivially_copyable_v<Cell> &&
                             sizeof(Cell) % sizeof(Number) == 0 && alignof(Cell) == alignof(Number);
static_assert(is_array_of<CountEntry::Cell, int32_t> && sizeof(CountEntry::Cell) == 1 * sizeof(int32_t));
static_assert(is_array_of<WeightCell, int64_t> && sizeof(WeightCell) == 2 * sizeof(int64_t));
static_assert(is_array_of<SumCell, int64_t> && sizeof(SumCell) == 2 * sizeof(int64_t));
static_assert(is_array_of<RatioCell, int64_t> && sizeof(RatioCell) == 3 * sizeof(int64_t));

using WeightEntry = CellEntry<ClassEvidence, WeightCell>;  // rows with fixed-point weights
using SumEntry = CellEntry<SumEvidence, SumCell>;          // rows with a numerator, weight 1
using RatioEntry = CellEntry<SumEvidence, RatioCell>;      // rows with a numerator and a denominator (the weight)

template <class Entry>
struct Span {
    const Entry* first;
    const Entry* last;
};

// Arrays of rows that partitioning permutes together: codes [n, F] row by row, class labels or numerators, and weights
// if there are any. With constant codes all arrays are constant.
template <class Code>
struct Rows {
    template <class T>
    using SameConst = std::conditional_t<std::is_const_v<Code>, const T, T>;

    Code* codes;
    SameConst<uint16_t>* label;     // nullptr: no classes
    SameConst<int64_t>* weight;     // nullptr: weight 1 each
    SameConst<int64_t>* numerator;  // nullptr: no sums
    int n_features;
};

template <class Code, class Entry>
class EntryReader {
    using Cell = typename Entry::Cell;

  public:
    EntryReader(const Features& features, int n_classes) : features_(features), n_classes_(n_classes) {}

    Span<Entry> from_rows(const Rows<Code>& rows, int64_t begin, int64_t end, int f) {
        return from_rows(rows, end - begin, f, [begin](int64_t i) { return begin + i; });
    }

    // The entries of n rows; `row_at(i)`: the i-th of them.
    template <class RowAt>
    Span<Entry> from_rows(const Rows<Code>& rows, int64_t n, int f, const RowAt& row_at) {
        if (entries_.size() < static_cast<size_t>(n)) entries_.resize(n);
        if (n <= kTiny) return rank(rows, n, f, row_at);
        if (static_cast<int64_t>(features_.n_codes[f] + 1) * n_classes_ > kSparse * n) return sort(rows, n, f, row_at);
        return count(rows, n, f, row_at);
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
    static constexpr int64_t kTiny = 24;    // up to this many rows comparing all pairs is fastest
    static constexpr int64_t kSparse = 64;  // cells per row beyond which reading the bitmap costs more than sorting

    Entry read(const Rows<Code>& rows, int64_t row, int f) const {
        const uint32_t key = make_key(rows.codes[row * rows.n_features + f], Entry::label(rows, row));
        return Entry(key, Entry::one(rows, row));
    }

    // Tiny nodes: the position of a row is the number of rows before it; no branch to mispredict.
    template <class RowAt>
    Span<Entry> rank(const Rows<Code>& rows, int64_t n_rows, int f, const RowAt& row_at) {
        const int n = static_cast<int>(n_rows);
        Entry unsorted[kTiny];
        uint32_t keys[kTiny];
        for (int i = 0; i < n; ++i) {
            unsorted[i] = read(rows, row_at(i), f);
            keys[i] = unsorted[i].key;
        }
        for (int i = 0; i < n; ++i) {
            int position = 0;
            for (int j = 0; j < i; ++j) position += keys[j] <= keys[i];
            for (int j = i + 1; j < n; ++j) position += keys[j] < keys[i];
            entries_[position] = unsorted[i];
        }
        return {entries_.data(), entries_.data() + n};
    }

    template <class RowAt>
    Span<Entry> sort(const Rows<Code>& rows, int64_t n, int f, const RowAt& row_at) {
        Entry* out = entries_.data();
        for (int64_t i = 0; i < n; ++i) *out++ = read(rows, row_at(i), f);
        std::sort(entries_.data(), out, [](const Entry& a, const Entry& b) { return a.key < b.key; });
        return {entries_.data(), out};
    }

    // Cells [code, class], and a bit per occupied cell: reading them back needs no sort and leaves them zero.
    template <class RowAt>
    Span<Entry> count(const Rows<Code>& rows, int64_t n, int f, const RowAt& row_at) {
        const int64_t cells = static_cast<int64_t>(features_.n_codes[f] + 1) * n_classes_;
        reserve(cells);
        Cell* cell = cells_.data();
        uint64_t* occupied = occupied_.data();
        const uint32_t k = n_classes_;
        for (int64_t i = 0; i < n; ++i) {
            const int64_t row = row_at(i);
            const uint32_t at = rows.codes[row * rows.n_features + f] * k + Entry::label(rows, row);
            Entry::add(cell[at], Entry::one(rows, row));
            occupied[at >> 6] |= 1ULL << (at & 63);
        }
        Entry* out = entries_.data();
        for (int64_t word = 0; word <= (cells - 1) / 64; ++word) {
            uint64_t bits = occupied[word];
            occupied[word] = 0;
            for (; bits; bits &= bits - 1) {
                const int64_t i = word * 64 + lowest_bit(bits);
                *out++ = Entry(key_of_cell_[i], cell[i]);
                cell[i] = Cell{};
            }
        }
        return {entries_.data(), out};
    }

    void reserve(int64_t cells) {
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
