// Counting values by the leading bits of their keys: what binning needs to know of the rows, in exact integers.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "binning/encode.hpp"

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

// Into the order of their keys, byte by byte from the lowest; bytes that do not vary cost nothing.
inline void sort_by_key(Counted& items) {
    if (items.size() < 512) return std::sort(items.begin(), items.end());
    std::uint64_t varying = 0;
    for (const auto& item : items) varying |= item.first ^ items[0].first;
    Counted sorted(items.size());
    for (int shift = 0; shift < 64; shift += 8) {
        if (!(varying >> shift & 255)) continue;
        std::size_t place[257] = {};
        for (const auto& item : items) ++place[(item.first >> shift & 255) + 1];
        for (int byte = 0; byte < 256; ++byte) place[byte + 1] += place[byte];
        for (const auto& item : items) sorted[place[item.first >> shift & 255]++] = item;
        items.swap(sorted);
    }
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
        sort_by_key(found);
        return found;
    }

  private:
    struct Entry {
        std::uint64_t key = 0, count = 0;
    };

    std::size_t place(std::uint64_t key) const {
        std::size_t at = (key * 0x9E3779B97F4A7C15u) >> shift_;
        while (entries_[at].key != key && entries_[at].key != 0) at = (at + 1) & (entries_.size() - 1);
        return at;
    }

    void grow() {
        std::vector<Entry> old(std::max(kSparse, 2 * entries_.size()));
        old.swap(entries_);
        shift_ = 65 - bit_length(entries_.size());
        for (const Entry& entry : old)
            if (entry.key) entries_[place(entry.key)] = entry;
    }

    // Sparse while the values are few: searches seldom collide. Before the second value there is next to nothing, for
    // tables may have many columns.
    static constexpr std::size_t kSparse = 1024;
    std::vector<Entry> entries_{2};
    std::size_t size_ = 0;
    int shift_ = 64 - 1;
};

// Rows per cell. Octaves without a row take no memory; counts are narrow, to stay in the cache, and carry the rest.
class CellCounts {
  public:
    void add(std::uint64_t key, std::uint64_t count) {
        std::uint32_t& cell = cell_of(octaves_.data(), key);
        const std::uint64_t sum = cell + count;
        cell = static_cast<std::uint32_t>(sum);
        if (sum >> 32) carried_[key >> kCellShift] += sum >> 32;
    }

    void add_each(const std::uint64_t* keys, std::size_t n) {
        auto* octaves = octaves_.data();
        for (std::size_t i = 0; i < n; ++i)
            if (++cell_of(octaves, keys[i]) == 0) ++carried_[keys[i] >> kCellShift];
    }

    void absorb(const CellCounts& other) {
        for (std::uint64_t octave = 0; octave < kOctaves; ++octave) {
            if (!other.octaves_[octave]) continue;
            for (std::uint64_t cell = 0; cell < kCellsPerOctave; ++cell)
                add((octave << (kOctaveShift - kCellShift) | cell) << kCellShift, other.octaves_[octave][cell]);
        }
        for (const auto& [number, rest] : other.carried_) carried_[number] += rest;
    }

    // The first keys of the cells that are not empty.
    Counted sorted() const {
        Counted found;
        for (std::uint64_t octave = 0; octave < octaves_.size(); ++octave)
            if (octaves_[octave]) append(octave, found);
        return found;
    }

  private:
    using Octave = std::unique_ptr<std::uint32_t[]>;

    static std::uint32_t& cell_of(Octave* octaves, std::uint64_t key) {
        Octave& octave = octaves[key >> kOctaveShift];
        if (!octave) octave.reset(new std::uint32_t[kCellsPerOctave]());
        return octave[(key >> kCellShift) % kCellsPerOctave];
    }

    // Without a branch on the counts: about half of the cells are empty.
    void append(std::uint64_t octave, Counted& found) const {
        std::size_t n = found.size();
        found.resize(n + kCellsPerOctave);
        for (std::uint64_t cell = 0; cell < kCellsPerOctave; ++cell) {
            const std::uint64_t number = octave << (kOctaveShift - kCellShift) | cell;
            std::uint64_t count = octaves_[octave][cell];
            if (!carried_.empty() && carried_.count(number)) count += carried_.at(number) << 32;
            found[n] = {number << kCellShift, count};
            n += count != 0;
        }
        found.resize(n);
    }

    std::vector<Octave> octaves_{kOctaves};
    std::map<std::uint64_t, std::uint64_t> carried_;  // in units of 2^32
};

// The first count of one feature: its distinct values while they are few, else its cells.
class FeatureCensus {
  public:
    std::uint64_t missing = 0;
    std::uint64_t zeros = 0;                 // the value that repeats most often
    std::uint64_t ones = ~std::uint64_t{0};  // bits set in every key
    std::uint64_t any = 0;                   // bits set in some key

    bool full() const { return cells_ != nullptr; }

    void add(const std::uint64_t* keys, std::size_t n, std::size_t limit) {
        std::uint64_t block_ones = ones, block_any = any, block_zeros = 0;
        for (std::size_t i = 0; i < n; ++i) {
            block_ones &= keys[i];
            block_any |= keys[i];
            block_zeros += keys[i] == kZero;
        }
        ones = block_ones;
        any = block_any;
        zeros += block_zeros;
        std::size_t i = 0;
        for (; i < n && !full(); ++i) add(keys[i], std::uint64_t{1}, limit);
        if (full()) cells_->add_each(keys + i, n - i);
    }

    // Some rows of one value or, if full, of one cell.
    void add(std::uint64_t key, std::uint64_t count, std::size_t limit) {
        if (full()) return cells_->add(key, count);
        values_.add(key, count);
        if (values_.size() > limit) fill();
    }

    void absorb(const FeatureCensus& other, std::size_t limit) {
        missing += other.missing;
        zeros += other.zeros;
        ones &= other.ones;
        any |= other.any;
        if (other.full()) {
            if (!full()) fill();
            return cells_->absorb(*other.cells_);
        }
        for (const auto& [key, count] : other.values_.sorted()) add(key, count, limit);
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

    std::mutex in_use;  // one thread at a time

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

// A cell to be divided: keys from low to high, which differ in their lowest bits only. The bits above `shift` that pass
// `mask` number its parts, which begin at `offset`.
struct Parent {
    std::uint64_t low, high;
    std::size_t offset;
    int shift;
    std::uint64_t mask;
};

// The parents of one feature in order; those of an octave run from first[octave] up to first[octave + 1].
struct Parents {
    std::vector<Parent> cells;
    std::vector<std::uint32_t> first = std::vector<std::uint32_t>(kOctaves + 1);

    // Keeps, in place, the keys of a block that lie in a parent and says in which. Without branches on the keys:
    // whether one lies in a parent cannot be foretold.
    std::size_t select(std::uint64_t* keys, std::size_t n, std::uint32_t* parent) const {
        std::size_t near = 0, inside = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t octave = keys[i] >> kOctaveShift;
            const bool used = first[octave] != first[octave + 1];
            keys[near] = keys[i];
            near += used;
        }
        for (std::size_t i = 0; i < near; ++i) {
            const std::uint64_t key = keys[i];
            const std::size_t octave = key >> kOctaveShift;
            std::uint32_t at = first[octave], size = first[octave + 1] - at;
            while (size > 1) {
                const std::uint32_t half = size / 2;
                at += cells[at + half].low <= key ? half : 0;
                size -= half;
            }
            parent[inside] = at;
            keys[inside] = key;
            inside += static_cast<std::size_t>(cells[at].low <= key) & static_cast<std::size_t>(key <= cells[at].high);
        }
        return inside;
    }
};

// Rows of each part, and the bits that are set in every or in some key of it.
struct Parts {
    std::int64_t* counts;
    std::uint64_t* ones;
    std::uint64_t* any;

    void add(const Parents& parents, std::uint64_t* keys, std::size_t n) {
        std::uint32_t parent[kBlock];
        n = parents.select(keys, n, parent);
        for (std::size_t i = 0; i < n; ++i) {
            const Parent& cell = parents.cells[parent[i]];
            const std::size_t part = cell.offset + ((keys[i] >> cell.shift) & cell.mask);
            ++counts[part];
            ones[part] &= keys[i];
            any[part] |= keys[i];
        }
    }
};

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
        const bool boundary = heavy(i) ? i > 0
                              : after_heavy
                                  ? bins > 0
                                  : sum > 0 && bins > 1 && static_cast<__int128>(2 * sum + counts[i]) * bins > 2 * left;
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
