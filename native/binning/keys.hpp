// Columns of numbers, and the keys that sort like their values.
//
// The key of a double is an unsigned integer in the order of the values. A census counts values by the leading bits of
// their keys, in exact integers:
//
//     63           52 51        42 41                                          0
//     +--------------+------------+---------------------------------------------+
//     |    octave    |    cell    |                remaining bits               |
//     +--------------+------------+---------------------------------------------+
//       sign and       10 bits of   of which up to kMostDigits at a time (digits) divide a
//       exponent       mantissa     cell into parts, where a bin boundary needs more precision
//
// Values of one octave differ by less than a factor of 2; the 1024 cells of an octave divide it evenly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace hornbeam {

// Rows handled together. A block of some dozens of features stays in the cache, so a row-major matrix is read from
// memory once and not once per feature.
constexpr int64_t kBlock = 1024;

template <class T>
struct Column {
    const T* data;
    int64_t stride;
    int64_t size;
    T operator[](int64_t row) const { return data[row * stride]; }
};

// Bits of a key below the octave, and below the cell.
constexpr int kOctaveShift = 52;
constexpr int kCellShift = 42;
constexpr size_t kOctaves = size_t{1} << (64 - kOctaveShift);
constexpr size_t kCellsPerOctave = size_t{1} << (kOctaveShift - kCellShift);
constexpr int kMostDigits = 16;

constexpr uint64_t kZero = uint64_t{1} << 63;     // the key of 0.0
constexpr uint64_t kLowest = 0x0010000000000001;  // the key of the most negative finite number

// The key of a value: its bits without the sign, added to or subtracted from kZero, so -0.0 equals 0.0. The lowest
// finite number has the key of -inf, because no finite cut separates the two. No value has the key 0, which marks an
// empty entry.
inline uint64_t key_of(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const uint64_t negative = uint64_t{0} - (bits >> 63);
    const uint64_t key = kZero + (((bits & ~kZero) ^ negative) - negative);
    return key - (key == kLowest);
}

// The keys of a block without its missing values; returns how many there are.
inline size_t gather_keys(const Column<double>& column, int64_t begin, int64_t end, uint64_t* keys) {
    size_t n = 0;
    const double* value = column.data + begin * column.stride;
    for (int64_t row = begin; row < end; ++row, value += column.stride) {
        keys[n] = key_of(*value);
        n += *value == *value;
    }
    return n;
}

}  // namespace hornbeam
