// Counting values by the leading bits of their keys: what binning needs to know of the rows, in exact integers.
#pragma once

#include <cstdlib>
#include <memory>
#include <utility>

#include "encode.hpp"

namespace hornbeam {

constexpr int kCellBits = 16;
constexpr std::size_t kCells = std::size_t{1} << kCellBits;

inline int bit_length(std::uint64_t bits) {
    int length = 0;
    for (int half = 32; half; half /= 2)
        if (bits >> half) {
            bits >>= half;
            length += half;
        }
    return length + static_cast<int>(bits);
}

// Keys with their counts, open addressing, never more than half full.
class CountedSet {
   public:
    std::size_t size() const { return size_; }

    void add(std::uint64_t key, std::uint64_t count) {
        if (2 * size_ >= entries_.size()) grow();
        Entry& entry = entries_[place(key)];
        size_ += entry.key == 0;
        entry.key = key;
        entry.count += count;
    }

    std::vector<std::pair<std::uint64_t, std::uint64_t>> sorted() const {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
        found.reserve(size_);
        for (const Entry& entry : entries_)
            if (entry.key) found.emplace_back(entry.key, entry.count);
        std::sort(found.begin(), found.end());
        return found;
    }

    void clear() {
        entries_ = {};
        size_ = 0;
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
        std::vector<Entry> old(std::max<std::size_t>(64, 2 * entries_.size()));
        old.swap(entries_);
        shift_ = 65 - bit_length(entries_.size());
        for (const Entry& entry : old)
            if (entry.key) entries_[place(entry.key)] = entry;
    }

    std::vector<Entry> entries_;
    std::size_t size_ = 0;
    int shift_ = 64;
};

// The first round for one feature: its distinct values while they are few, else counts of the 16 leading bits among
// those that vary. Which bits vary is known only at the end, so cells grow coarser as it turns out: the sums at the
// end are those of the final cells whatever the order of the rows.
class FeatureCensus {
   public:
    std::uint64_t missing = 0;
    std::uint64_t ones = ~std::uint64_t{0};  // bits set in every key
    std::uint64_t any = 0;                   // bits set in some key
    bool full = false;                       // more distinct values than the limit: cells instead of values

    void add(const std::uint64_t* keys, std::size_t n, std::size_t limit) {
        widen(keys, n);
        std::size_t i = 0;
        for (; i < n && !full; ++i) add_value(keys[i], 1, limit);
        std::uint64_t* cells = cells_.get();
        const int shift = shift_;
        for (; i < n; ++i) ++cells[(keys[i] >> shift) % kCells];
    }

    // One value or, when `full`, one cell by its first key. `ones` and `any` must know the key already.
    void add_value(std::uint64_t key, std::uint64_t count, std::size_t limit) {
        if (full) {
            cells_[(key >> shift_) % kCells] += count;
            return;
        }
        values_.add(key, count);
        if (values_.size() > limit) overflow();
    }

    void absorb(const FeatureCensus& other, std::size_t limit) {
        missing += other.missing;
        narrow_to(ones & other.ones, any | other.any);
        if (other.full && !full) overflow();
        for (const auto& [key, count] : other.entries()) add_value(key, count, limit);
    }

    void narrow_to(std::uint64_t new_ones, std::uint64_t new_any) {
        const std::uint64_t prefix = ones;
        ones = new_ones;
        any = new_any;
        if (!full) return;
        const int shift = shift_of_bits();
        if (shift > shift_) coarsen(prefix, shift);
    }

    void overflow() {
        full = true;
        shift_ = shift_of_bits();
        cells_.reset(static_cast<std::uint64_t*>(std::calloc(kCells, sizeof(std::uint64_t))));
        if (!cells_) throw std::bad_alloc();
        for (const auto& [key, count] : values_.sorted()) cells_[(key >> shift_) % kCells] += count;
        values_.clear();
    }

    // Distinct keys, or first keys of the cells that are not empty, in order, with counts.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> entries() const {
        if (!full) return values_.sorted();
        std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
        const std::uint64_t prefix = above(ones);
        for (std::size_t cell = 0; cell < kCells; ++cell)
            if (cells_[cell]) found.emplace_back(prefix | (std::uint64_t{cell} << shift_), cells_[cell]);
        return found;
    }

   private:
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };

    int shift_of_bits() const { return std::max(0, bit_length(ones ^ any) - kCellBits); }

    // The bits of `key` above those that number the cells: the same in every key.
    std::uint64_t above(std::uint64_t key) const {
        const int low = shift_ + kCellBits;
        return low == 64 ? 0 : key >> low << low;
    }

    void widen(const std::uint64_t* keys, std::size_t n) {
        std::uint64_t block_ones = ones, block_any = any;
        for (std::size_t i = 0; i < n; ++i) {
            block_ones &= keys[i];
            block_any |= keys[i];
        }
        narrow_to(block_ones, block_any);
    }

    void coarsen(std::uint64_t prefix, int shift) {
        const std::uint64_t top = above(prefix);
        // A cell's new place may lie on an old one not yet moved, hence the copy.
        const std::vector<std::uint64_t> old(cells_.get(), cells_.get() + kCells);
        std::fill_n(cells_.get(), kCells, 0);
        for (std::size_t cell = 0; cell < kCells; ++cell)
            if (old[cell]) cells_[((top | (std::uint64_t{cell} << shift_)) >> shift) % kCells] += old[cell];
        shift_ = shift;
    }

    CountedSet values_;
    std::unique_ptr<std::uint64_t[], Free> cells_;
    int shift_ = 0;
};

// The first round for several features.
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

// How many keys of a block fall into each part of each parent. `first` says for each of the 2^16 cells of the first
// round which parents lie in it: those from first[cell] up to first[cell + 1].
inline void tally_block(const std::uint64_t* keys, std::size_t n, int shift, const std::uint32_t* first, Parent* parents,
                        std::int64_t* counts) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t key = keys[i];
        const std::size_t cell = (key >> shift) % kCells;
        std::uint32_t at = first[cell], end = first[cell + 1];
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
