// Counting values by the leading bits of their keys: what binning needs to know of the rows, in exact integers.
#pragma once

#include <memory>
#include <utility>

#include "encode.hpp"

namespace hornbeam {

// Cells of the first count share their 22 leading bits: sign, exponent (together the octave) and 10 bits of mantissa.
constexpr int kOctaveShift = 52;
constexpr int kCellShift = 42;
constexpr std::size_t kOctaves = std::size_t{1} << (64 - kOctaveShift);
constexpr std::size_t kCellsPerOctave = std::size_t{1} << (kOctaveShift - kCellShift);
constexpr int kMostDigits = 16;

using Counted = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // keys in order, each with its rows

inline int bit_length(std::uint64_t bits) {
    int length = 0;
    for (int half = 32; half; half /= 2)
        if (bits >> half) {
            bits >>= half;
            length += half;
        }
    return length + static_cast<int>(bits);
}

// Keys with their counts, open addressing, at most half full.
class CountedSet {
   public:
    std::size_t size() const { return size_; }

    void add(std::uint64_t key, std::uint64_t count) {
        Entry* entry = &entries_[place(key)];
        if (entry->key != key) {
            if (2 * ++size_ > entries_.size()) {
                grow();
                entry = &entries_[place(key)];
            }
            entry->key = key;
        }
        entry->count += count;
    }

    Counted sorted() const {
        Counted found;
        found.reserve(size_);
        for (const Entry& entry : entries_)
            if (entry.key) found.emplace_back(entry.key, entry.count);
        std::sort(found.begin(), found.end());
        return found;
    }

   private:
    struct Entry {
        std::uint64_t key = 0, count = 0;
    };

    std::size_t place(std::uint64_t key) const {
        std::size_t at = (key * 0x9E3779B97F4A7C15u) >> shift_;
        while (entries_[at].key != key && entries_[at].key != 0) at = (at + 1) % entries_.size();
        return at;
    }

    void grow() {
        std::vector<Entry> old(2 * entries_.size());
        old.swap(entries_);
        --shift_;
        for (const Entry& entry : old)
            if (entry.key) entries_[place(entry.key)] = entry;
    }

    std::vector<Entry> entries_{64};
    std::size_t size_ = 0;
    int shift_ = 64 - 6;
};

// Rows per cell. Octaves without a row take no memory.
class CellCounts {
   public:
    void add(std::uint64_t key, std::uint64_t count) {
        auto& octave = octaves_[key >> kOctaveShift];
        if (!octave) octave.reset(new std::uint64_t[kCellsPerOctave]());
        octave[(key >> kCellShift) % kCellsPerOctave] += count;
    }

    // The first keys of the cells that are not empty.
    Counted sorted() const {
        Counted found;
        for (std::uint64_t octave = 0; octave < octaves_.size(); ++octave)
            for (std::uint64_t cell = 0; octaves_[octave] && cell < kCellsPerOctave; ++cell)
                if (octaves_[octave][cell])
                    found.emplace_back(octave << kOctaveShift | cell << kCellShift, octaves_[octave][cell]);
        return found;
    }

   private:
    std::vector<std::unique_ptr<std::uint64_t[]>> octaves_{kOctaves};
};

// The first count of one feature: its distinct values while they are few, else its cells.
class FeatureCensus {
   public:
    std::uint64_t missing = 0;
    std::uint64_t ones = ~std::uint64_t{0};  // bits set in every key
    std::uint64_t any = 0;                   // bits set in some key

    bool full() const { return cells_ != nullptr; }

    void add(const std::uint64_t* keys, std::size_t n, std::size_t limit) {
        std::uint64_t block_ones = ones, block_any = any;
        for (std::size_t i = 0; i < n; ++i) {
            block_ones &= keys[i];
            block_any |= keys[i];
        }
        ones = block_ones;
        any = block_any;
        std::size_t i = 0;
        for (; i < n && !full(); ++i) add(keys[i], std::uint64_t{1}, limit);
        for (; i < n; ++i) cells_->add(keys[i], 1);
    }

    // Some rows of one value or, if full, of one cell.
    void add(std::uint64_t key, std::uint64_t count, std::size_t limit) {
        if (full()) return cells_->add(key, count);
        values_.add(key, count);
        if (values_.size() > limit) fill();
    }

    void absorb(const FeatureCensus& other, std::size_t limit) {
        missing += other.missing;
        ones &= other.ones;
        any |= other.any;
        if (other.full() && !full()) fill();
        for (const auto& [key, count] : other.sorted()) add(key, count, limit);
    }

    // From now on count cells.
    void fill() {
        cells_ = std::make_unique<CellCounts>();
        for (const auto& [key, count] : values_.sorted()) cells_->add(key, count);
        values_ = {};
    }

    Counted sorted() const { return full() ? cells_->sorted() : values_.sorted(); }

   private:
    CountedSet values_;
    std::unique_ptr<CellCounts> cells_;
};

// The first count of several features.
struct Census {
    std::size_t limit;
    std::vector<FeatureCensus> features;

    Census(std::size_t n_features, std::size_t limit) : limit(limit), features(n_features) {}
    Census(const Census&) = delete;

    void add(const std::vector<Column<double>>& columns) {
        std::uint64_t keys[kBlock];
        const std::ptrdiff_t n_rows = columns.empty() ? 0 : columns[0].size;
        for (std::ptrdiff_t begin = 0; begin < n_rows; begin += kBlock) {
            const std::ptrdiff_t end = std::min(begin + kBlock, n_rows);
            for (std::size_t f = 0; f < features.size(); ++f) {
                const std::size_t n = gather_keys(columns[f], begin, end, keys);
                features[f].missing += static_cast<std::size_t>(end - begin) - n;
                features[f].add(keys, n, limit);
            }
        }
    }

    void absorb(const Census& other) {
        for (std::size_t f = 0; f < features.size(); ++f) features[f].absorb(other.features[f], limit);
    }
};

// A cell to be divided: keys low..high, which differ in their lowest bits only, by `bits` digits above `shift`.
struct Parent {
    std::uint64_t low, high, ones, any;
    std::int64_t offset;
    int shift;
    std::uint64_t mask;
};

// How many keys of a block fall into each part of each parent. The parents of an octave are those from first[octave] up
// to first[octave + 1].
inline void tally_block(const std::uint64_t* keys, std::size_t n, const std::uint32_t* first, Parent* parents,
                        std::int64_t* counts) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t key = keys[i];
        const std::size_t octave = key >> kOctaveShift;
        std::uint32_t at = first[octave], end = first[octave + 1];
        if (at == end) continue;
        while (end - at > 1) {
            const std::uint32_t middle = at + (end - at) / 2;
            (parents[middle].low <= key ? at : end) = middle;
        }
        Parent& parent = parents[at];
        if (key < parent.low || key > parent.high) continue;
        parent.ones &= key;
        parent.any |= key;
        ++counts[parent.offset + static_cast<std::int64_t>((key >> parent.shift) & parent.mask)];
    }
}

// Cuts an ordered run of counts into at most `max_bins` bins of nearly equal sums; returns the last index of every bin
// but the last. An entry above the mean bin starts and ends a bin; the others share what bins remain. Greedy, in
// integers: a bin is closed where its sum is nearest to an equal share of what was left when it was opened.
inline std::vector<std::int64_t> share(const std::int64_t* counts, std::size_t n, std::int64_t max_bins) {
    std::int64_t total = 0, light = 0, bins = max_bins;
    for (std::size_t i = 0; i < n; ++i) total += counts[i];
    const auto heavy = [&](std::size_t i) { return counts[i] > total / max_bins; };
    for (std::size_t i = 0; i < n; ++i) heavy(i) ? --bins : light += counts[i];

    std::vector<std::int64_t> ends;
    std::int64_t left = light, sum = 0;  // light rows not yet in a closed bin; light rows in the open one
    bool after_heavy = false;
    for (std::size_t i = 0; i < n; ++i) {
        const bool boundary = heavy(i)      ? i > 0
                              : after_heavy ? bins > 0
                                            : sum > 0 && bins > 1 && (2 * sum + counts[i]) * bins > 2 * left;
        if (boundary) {
            ends.push_back(static_cast<std::int64_t>(i) - 1);
            if (sum > 0) --bins;
            left -= sum;
            sum = 0;
        }
        after_heavy = heavy(i);
        if (!after_heavy) sum += counts[i];
    }
    return ends;
}

}  // namespace hornbeam
