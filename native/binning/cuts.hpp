// Bin boundaries from counts: the parts of cells that need more precision, and bins of nearly equal counts.
#pragma once

#include <cstdint>
#include <vector>

#include "binning/keys.hpp"
#include "math/compiler.hpp"

namespace hornbeam {

// A cell to be divided: keys from low to high. `key >> shift & mask` is the number of the part within the cell; the
// parts of the cell begin at `offset`.
struct DividedCell {
    uint64_t low, high;
    size_t offset;
    int shift;
    uint64_t mask;
};

// The divided cells of one feature in order; those of an octave are from first[octave] up to first[octave + 1].
struct DividedCells {
    std::vector<DividedCell> cells;
    std::vector<uint32_t> first = std::vector<uint32_t>(kOctaves + 1);

    // Keeps, in place, the keys of a block that are in a divided cell, and the index of that cell. No branches on the
    // keys: whether a key is in a divided cell is unpredictable.
    size_t select(uint64_t* keys, size_t n, uint32_t* index) const {
        size_t near = 0, inside = 0;
        for (size_t i = 0; i < n; ++i) {
            const size_t octave = keys[i] >> kOctaveShift;
            const bool used = first[octave] != first[octave + 1];
            keys[near] = keys[i];
            near += used;
        }
        for (size_t i = 0; i < near; ++i) {
            const uint64_t key = keys[i];
            const size_t octave = key >> kOctaveShift;
            uint32_t at = first[octave], size = first[octave + 1] - at;
            while (size > 1) {
                const uint32_t half = size / 2;
                at += cells[at + half].low <= key ? half : 0;
                size -= half;
            }
            index[inside] = at;
            keys[inside] = key;
            inside += static_cast<size_t>(cells[at].low <= key) & static_cast<size_t>(key <= cells[at].high);
        }
        return inside;
    }
};

// Rows of each part, and the bits that are set in every or in some key of it.
struct PartCounts {
    int64_t* counts;
    uint64_t* ones;
    uint64_t* any;

    void add(const DividedCells& cells, uint64_t* keys, size_t n) {
        uint32_t index[kBlock];
        n = cells.select(keys, n, index);
        for (size_t i = 0; i < n; ++i) {
            const DividedCell& cell = cells.cells[index[i]];
            const size_t part = cell.offset + ((keys[i] >> cell.shift) & cell.mask);
            ++counts[part];
            ones[part] &= keys[i];
            any[part] |= keys[i];
        }
    }
};

// Cuts an ordered run of counts into at most `max_bins` bins of nearly equal sums; returns the last index of every bin
// but the last. An entry above the mean bin is a bin of its own; the other entries fill the remaining bins. Greedy, in
// integers: a bin is closed where its sum is nearest to an equal part of what was left when it was opened.
inline std::vector<int64_t> equal_bins(const int64_t* counts, size_t n, int64_t max_bins) {
    int64_t total = 0, light = 0, bins = max_bins;
    for (size_t i = 0; i < n; ++i) total += counts[i];
    const auto heavy = [&](size_t i) { return counts[i] > total / max_bins; };
    for (size_t i = 0; i < n; ++i) heavy(i) ? --bins : light += counts[i];

    std::vector<int64_t> ends;
    int64_t left = light, sum = 0;  // light rows not yet in a closed bin; light rows in the open one
    bool after_heavy = false;
    for (size_t i = 0; i < n; ++i) {
        const bool boundary = heavy(i) ? i > 0
                              : after_heavy
                                  ? bins > 0
                                  : sum > 0 && bins > 1 && static_cast<Wide>(2 * sum + counts[i]) * bins > 2 * left;
        if (boundary) {
            ends.push_back(static_cast<int64_t>(i) - 1);
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
