// Columns of numbers, the order of their bits, and the search that turns a value into a code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace hornbeam {

// Rows handled together. A block of a few dozen features stays in the second-level cache, so a row-major matrix is
// read from memory once and not once per feature.
constexpr std::ptrdiff_t kBlock = 2048;

template <class T>
struct Column {
    const T* data;
    std::ptrdiff_t stride;
    std::ptrdiff_t size;
    T operator[](std::ptrdiff_t row) const { return data[row * stride]; }
};

constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
constexpr std::uint64_t kKeyOfLowest = 0x0010000000000000;  // of the most negative finite number

// Unsigned integers in the order of the numbers. -0.0 equals 0.0, and the lowest finite number equals -inf because
// no finite cut could part the two. Zero is the key of no number (it would be a NaN), so it can mark an empty place.
inline std::uint64_t key_of(double value) {
    value += 0.0;
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const std::uint64_t key = bits ^ ((std::uint64_t{0} - (bits >> 63)) | kTop);
    return key - (key == kKeyOfLowest);
}

// The keys of a block without its missing values; returns how many there are.
inline std::size_t gather_keys(const Column<double>& column, std::ptrdiff_t begin, std::ptrdiff_t end,
                               std::uint64_t* keys) {
    std::size_t n = 0;
    const double* value = column.data + begin * column.stride;
    for (std::ptrdiff_t row = begin; row < end; ++row, value += column.stride) {
        keys[n] = key_of(*value);
        n += *value == *value;
    }
    return n;
}

// The edges of one feature, padded with +inf to 2^steps - 1 entries so that every search takes the same steps.
struct Ladder {
    std::vector<double> edges;
    int steps = 0;

    Ladder(const double* begin, const double* end) {
        while ((std::ptrdiff_t{1} << steps) - 1 < end - begin) ++steps;
        edges.assign(begin, end);
        edges.resize(std::size_t{1} << steps, std::numeric_limits<double>::infinity());
    }
};

// code = number of edges below the value; a missing value gets code `missing`. Lanes of values climb together: the
// steps of one value wait for each other, those of different values do not.
template <int Steps, class Code>
void encode_block(const Ladder& ladder, const Column<double>& column, std::ptrdiff_t begin, std::ptrdiff_t end,
                  Code missing, Code* out, std::ptrdiff_t out_stride) {
    constexpr int kLanes = 8;
    const double* edges = ladder.edges.data();
    const double* value = column.data + begin * column.stride;
    std::ptrdiff_t row = begin;
    for (; row + kLanes <= end; row += kLanes) {
        double x[kLanes];
        std::uint32_t code[kLanes];
        for (int lane = 0; lane < kLanes; ++lane, value += column.stride) {
            x[lane] = *value;
            code[lane] = 0;
        }
        for (int step = Steps - 1; step >= 0; --step) {
            const std::uint32_t stride = std::uint32_t{1} << step;
            for (int lane = 0; lane < kLanes; ++lane)
                code[lane] += (edges[code[lane] + stride - 1] < x[lane]) * stride;
        }
        for (int lane = 0; lane < kLanes; ++lane, out += out_stride)
            *out = x[lane] == x[lane] ? static_cast<Code>(code[lane]) : missing;
    }
    for (; row < end; ++row, value += column.stride, out += out_stride) {
        std::uint32_t code = 0;
        for (int step = Steps - 1; step >= 0; --step)
            code += (edges[code + (std::uint32_t{1} << step) - 1] < *value) * (std::uint32_t{1} << step);
        *out = *value == *value ? static_cast<Code>(code) : missing;
    }
}

template <class Code>
using EncodeBlock = void (*)(const Ladder&, const Column<double>&, std::ptrdiff_t, std::ptrdiff_t, Code, Code*,
                             std::ptrdiff_t);

// The search made for a number of steps; up to 65,535 edges need 16.
template <class Code>
EncodeBlock<Code> encoder_of(int steps) {
    static constexpr EncodeBlock<Code> kEncoders[] = {
        encode_block<0, Code>,  encode_block<1, Code>,  encode_block<2, Code>,  encode_block<3, Code>,
        encode_block<4, Code>,  encode_block<5, Code>,  encode_block<6, Code>,  encode_block<7, Code>,
        encode_block<8, Code>,  encode_block<9, Code>,  encode_block<10, Code>, encode_block<11, Code>,
        encode_block<12, Code>, encode_block<13, Code>, encode_block<14, Code>, encode_block<15, Code>,
        encode_block<16, Code>};
    return kEncoders[steps];
}

// Category codes as they are, -1 becomes the missing code. Returns false if a code lies outside of [-1, missing).
template <class Code>
bool copy_block(const Column<std::int32_t>& column, std::ptrdiff_t begin, std::ptrdiff_t end, Code missing, Code* out,
                std::ptrdiff_t out_stride) {
    bool known = true;
    const std::int32_t* code = column.data + begin * column.stride;
    for (std::ptrdiff_t row = begin; row < end; ++row, code += column.stride, out += out_stride) {
        known &= *code >= -1 && *code < static_cast<std::int32_t>(missing);
        *out = *code < 0 ? missing : static_cast<Code>(*code);
    }
    return known;
}

}  // namespace hornbeam
