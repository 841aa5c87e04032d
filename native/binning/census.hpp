// The census: the distinct values of each feature, or the rows per cell where there are many.
//
// Everything is a sum of counts or an and/or of bits, so the order of the rows and their grouping cannot change a
// result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "binning/keys.hpp"

namespace hornbeam {

using Counted = std::vector<std::pair<uint64_t, uint64_t>>;  // keys in order, each with its rows

inline int bit_length(uint64_t bits) {
    int length = 0;
    for (int half = 32; half; half /= 2)
        if (bits >> half) {
            bits >>= half;
            length += half;
        }
    return length + static_cast<int>(bits);
}

// Radix sort by key; bytes that do not vary are skipped.
inline void sort_by_key(Counted& items) {
    if (items.size() < 512) return std::sort(items.begin(), items.end());
    uint64_t varying = 0;
    for (const auto& item : items) varying |= item.first ^ items[0].first;
    Counted sorted(items.size());
    for (int shift = 0; shift < 64; shift += 8) {
        if (!(varying >> shift & 255)) continue;
        size_t start[257] = {};
        for (const auto& item : items) ++start[(item.first >> shift & 255) + 1];
        for (int byte = 0; byte < 256; ++byte) start[byte + 1] += start[byte];
        for (const auto& item : items) sorted[start[item.first >> shift & 255]++] = item;
        items.swap(sorted);
    }
}

// A hash table of keys with their counts: open addressing, at most half full.
class CountedSet {
  public:
    size_t size() const { return size_; }

    void add(uint64_t key, uint64_t count) {
        Entry* entry = &entries_[index_of(key)];
        if (entry->key != key) {
            if (2 * ++size_ > entries_.size()) {
                grow();
                entry = &entries_[index_of(key)];
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
        sort_by_key(found);
        return found;
    }

  private:
    struct Entry {
        uint64_t key = 0, count = 0;
    };

    size_t index_of(uint64_t key) const {
        size_t at = (key * 0x9E3779B97F4A7C15u) >> shift_;
        while (entries_[at].key != key && entries_[at].key != 0) at = (at + 1) & (entries_.size() - 1);
        return at;
    }

    void grow() {
        std::vector<Entry> old(std::max(kSparse, 2 * entries_.size()));
        old.swap(entries_);
        shift_ = 65 - bit_length(entries_.size());
        for (const Entry& entry : old)
            if (entry.key) entries_[index_of(entry.key)] = entry;
    }

    // Sparse while there are few values, so that searches seldom collide. Tiny before the second value, because a table
    // may have many columns.
    static constexpr size_t kSparse = 1024;
    std::vector<Entry> entries_{2};
    size_t size_ = 0;
    int shift_ = 64 - 1;
};

// Rows per cell. Octaves without a row take no memory. Counts have 32 bits, to stay in the cache, and a map has the
// carry.
class CellCounts {
  public:
    void add(uint64_t key, uint64_t count) {
        uint32_t& cell = cell_of(octaves_.data(), key);
        const uint64_t sum = cell + count;
        cell = static_cast<uint32_t>(sum);
        if (sum >> 32) carried_[key >> kCellShift] += sum >> 32;
    }

    void add_each(const uint64_t* keys, size_t n) {
        auto* octaves = octaves_.data();
        for (size_t i = 0; i < n; ++i)
            if (++cell_of(octaves, keys[i]) == 0) ++carried_[keys[i] >> kCellShift];
    }

    void merge(const CellCounts& other) {
        for (uint64_t octave = 0; octave < kOctaves; ++octave) {
            if (!other.octaves_[octave]) continue;
            for (uint64_t cell = 0; cell < kCellsPerOctave; ++cell)
                add((octave << (kOctaveShift - kCellShift) | cell) << kCellShift, other.octaves_[octave][cell]);
        }
        for (const auto& [number, carry] : other.carried_) carried_[number] += carry;
    }

    // The first keys of the cells that are not empty, with their counts.
    Counted sorted() const {
        Counted found;
        for (uint64_t octave = 0; octave < octaves_.size(); ++octave)
            if (octaves_[octave]) append(octave, found);
        return found;
    }

  private:
    using Octave = std::unique_ptr<uint32_t[]>;

    static uint32_t& cell_of(Octave* octaves, uint64_t key) {
        Octave& octave = octaves[key >> kOctaveShift];
        if (!octave) octave.reset(new uint32_t[kCellsPerOctave]());
        return octave[(key >> kCellShift) % kCellsPerOctave];
    }

    // Without a branch on the counts: about half of the cells are empty.
    void append(uint64_t octave, Counted& found) const {
        size_t n = found.size();
        found.resize(n + kCellsPerOctave);
        for (uint64_t cell = 0; cell < kCellsPerOctave; ++cell) {
            const uint64_t number = octave << (kOctaveShift - kCellShift) | cell;
            uint64_t count = octaves_[octave][cell];
            if (!carried_.empty() && carried_.count(number)) count += carried_.at(number) << 32;
            found[n] = {number << kCellShift, count};
            n += count != 0;
        }
        found.resize(n);
    }

    std::vector<Octave> octaves_{kOctaves};
    std::map<uint64_t, uint64_t> carried_;  // in units of 2^32
};

// The census of one feature: its distinct values while there are few, else its cells.
class FeatureCensus {
  public:
    uint64_t missing = 0;
    uint64_t zeros = 0;            // counted apart, because it is often the most frequent value
    uint64_t ones = ~uint64_t{0};  // bits set in every key
    uint64_t any = 0;              // bits set in some key

    bool full() const { return cells_ != nullptr; }

    void add(const uint64_t* keys, size_t n, size_t limit) {
        uint64_t block_ones = ones, block_any = any, block_zeros = 0;
        for (size_t i = 0; i < n; ++i) {
            block_ones &= keys[i];
            block_any |= keys[i];
            block_zeros += keys[i] == kZero;
        }
        ones = block_ones;
        any = block_any;
        zeros += block_zeros;
        size_t i = 0;
        for (; i < n && !full(); ++i) add(keys[i], uint64_t{1}, limit);
        if (full()) cells_->add_each(keys + i, n - i);
    }

    // Adds rows of one value or, if full, of one cell.
    void add(uint64_t key, uint64_t count, size_t limit) {
        if (full()) return cells_->add(key, count);
        values_.add(key, count);
        if (values_.size() > limit) fill();
    }

    void merge(const FeatureCensus& other, size_t limit) {
        missing += other.missing;
        zeros += other.zeros;
        ones &= other.ones;
        any |= other.any;
        if (other.full()) {
            if (!full()) fill();
            return cells_->merge(*other.cells_);
        }
        for (const auto& [key, count] : other.values_.sorted()) add(key, count, limit);
    }

    // Counts cells from now on.
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

// The census of several features.
struct Census {
    size_t limit;
    std::vector<FeatureCensus> features;

    std::mutex in_use;  // one thread at a time

    Census(size_t n_features, size_t limit) : limit(limit), features(n_features) {}
    Census(const Census&) = delete;

    void add(const std::vector<Column<double>>& columns) {
        uint64_t keys[kBlock];
        const int64_t n_rows = columns.empty() ? 0 : columns[0].size;
        for (int64_t begin = 0; begin < n_rows; begin += kBlock) {
            const int64_t end = std::min(begin + kBlock, n_rows);
            for (size_t f = 0; f < features.size(); ++f) {
                const size_t n = gather_keys(columns[f], begin, end, keys);
                features[f].missing += static_cast<size_t>(end - begin) - n;
                features[f].add(keys, n, limit);
            }
        }
    }

    void merge(const Census& other) {
        for (size_t f = 0; f < features.size(); ++f) features[f].merge(other.features[f], limit);
    }
};

}  // namespace hornbeam
