// Columns of numbers, the order of their bits, and the search that turns a value into a code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace hornbeam {

// Rows handled together. A block of a few dozen features stays in the cache, so a row-major matrix is read from memory
// once and not once per feature.
constexpr std::ptrdiff_t kBlock = 1024;

template <class T>
struct Column {
    const T* data;
    std::ptrdiff_t stride;
    std::ptrdiff_t size;
    T operator[](std::ptrdiff_t row) const { return data[row * stride]; }
};

constexpr std::uint64_t kZero = std::uint64_t{1} << 63;  // the key of 0.0
constexpr std::uint64_t kLowest = 0x0010000000000001;    // the key of the most negative finite number

// Unsigned integers in the order of the numbers: the bits of a number without its sign, counted up or down from kZero,
// so -0.0 equals 0.0. The lowest finite number is given the key of -inf because no finite cut could part the two. No
// number has the key 0, which can mark an empty place.
inline std::uint64_t key_of(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const std::uint64_t negative = std::uint64_t{0} - (bits >> 63);
    const std::uint64_t key = kZero + (((bits & ~kZero) ^ negative) - negative);
    return key - (key == kLowest);
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

// code = number of edges below the value, found by halving. Searches start at a rung that a look-up table gives for the
// value's place between the lowest and the highest edge: where edges lie evenly, one or two steps remain. Any monotone
// map to rungs is right, as edges with a lower rung are below the value and those with a higher one are not.
class Ladder {
  public:
    Ladder(const double* begin, const double* end, std::ptrdiff_t n_rows) : edges_(begin, end) {
        steps_ = steps_for(edges_.size());
        if (n_rows >= kRungs && edges_.size() > 2) build();  // fewer rows would not pay for the table
        // A search may look at up to 2^steps - 1 edges after the last one.
        edges_.resize(edges_.size() + (std::size_t{1} << steps_), std::numeric_limits<double>::infinity());
    }

    // A missing value gets code `missing`.
    template <class Code>
    void encode(const Column<double>& column, std::ptrdiff_t begin, std::ptrdiff_t end, Code missing, Code* out,
                std::ptrdiff_t out_stride) const {
        (this->*searches<Code>[steps_])(column, begin, end, missing, out, out_stride);
    }

  private:
    static constexpr int kRungs = 4096;

    static int steps_for(std::size_t n_edges) {
        int steps = 0;
        while ((std::size_t{1} << steps) - 1 < n_edges) ++steps;
        return steps;
    }

    int rung_of(double value) const {
        double inside = value > lowest_ ? value : lowest_;  // NaN too
        inside = inside < highest_ ? inside : highest_;
        return static_cast<int>((inside - lowest_) * scale_);
    }

    void build() {
        const double scale = (kRungs - 1) / (edges_.back() - edges_.front());
        if (!(scale > 0 && scale <= std::numeric_limits<double>::max())) return;  // too far or too close together
        lowest_ = edges_.front();
        highest_ = edges_.back();
        scale_ = scale;
        start_.resize(kRungs);
        std::size_t edge = 0, most = 0;
        for (int rung = 0; rung < kRungs; ++rung) {
            start_[rung] = static_cast<std::uint16_t>(edge);
            while (edge < edges_.size() && rung_of(edges_[edge]) == rung) ++edge;
            most = std::max(most, edge - start_[rung]);
        }
        steps_ = steps_for(most);
    }

    // Without a branch, so that the processor works on several rows at a time.
    template <int Steps, class Code>
    void search(const Column<double>& column, std::ptrdiff_t begin, std::ptrdiff_t end, Code missing, Code* out,
                std::ptrdiff_t out_stride) const {
        const double* edges = edges_.data();
        const double* value = column.data + begin * column.stride;
        for (std::ptrdiff_t row = begin; row < end; ++row, value += column.stride, out += out_stride) {
            const double x = *value;
            std::uint32_t code = start_[rung_of(x)];
            for (int step = Steps - 1; step >= 0; --step)
                code += static_cast<std::uint32_t>(edges[code + (1u << step) - 1] < x) << step;
            // No edge is below NaN, so the code is 0 and the missing one can be laid over it.
            *out = static_cast<Code>(code | (missing & (0u - static_cast<std::uint32_t>(x != x))));
        }
    }

    template <class Code>
    using Search = void (Ladder::*)(const Column<double>&, std::ptrdiff_t, std::ptrdiff_t, Code, Code*,
                                    std::ptrdiff_t) const;

    // One search for each number of steps; up to 65,535 edges need 16.
    template <class Code>
    static constexpr Search<Code> searches[] = {
        &Ladder::search<0, Code>,  &Ladder::search<1, Code>,  &Ladder::search<2, Code>,  &Ladder::search<3, Code>,
        &Ladder::search<4, Code>,  &Ladder::search<5, Code>,  &Ladder::search<6, Code>,  &Ladder::search<7, Code>,
        &Ladder::search<8, Code>,  &Ladder::search<9, Code>,  &Ladder::search<10, Code>, &Ladder::search<11, Code>,
        &Ladder::search<12, Code>, &Ladder::search<13, Code>, &Ladder::search<14, Code>, &Ladder::search<15, Code>,
        &Ladder::search<16, Code>};

    std::vector<double> edges_;
    int steps_ = 0;
    double lowest_ = 0, highest_ = 0, scale_ = 0;
    std::vector<std::uint16_t> start_ = std::vector<std::uint16_t>(1);
};

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
