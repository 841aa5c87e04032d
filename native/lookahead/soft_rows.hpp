// Encoded rows with shares of several targets instead of one class: what a student tree is grown on.
//
// A channel is a class, or the mean of a numeric target. The share of a row in a channel is its weight times the
// probability, or times the mean. Weights, shares and values are integers, so that sums do not depend on the order of
// the rows.
#pragma once

#include <array>
#include <cstdint>

namespace hornbeam::lookahead {

constexpr int kMostCodes = 256;  // of a feature, with that of a missing value
constexpr int kUnitValue = 256;  // value of an indicator, and largest absolute value of a numeric feature

struct SoftRows {
    int n_features;
    int n_channels;
    const uint8_t* codes;    // per row and feature
    const int32_t* weight;   // per row
    const int32_t* counted;  // per row: the part of its weight that counts towards the minimum of a branch
    const int32_t* share;    // per row and channel
    const int64_t* squared;  // per row: sum over channels of share^2 / weight
    const int32_t* n_codes;  // per feature; the code of a missing value
    const bool* nominal;     // per feature
    const int64_t* start;    // per feature: its first cell; at the end, the number of cells
    const int16_t* value;    // per cell of a numeric feature; 0 where it is missing

    const uint8_t* row(int row) const { return codes + static_cast<int64_t>(row) * n_features; }
    const int32_t* shares(int row) const { return share + static_cast<int64_t>(row) * n_channels; }
    int64_t cell(int feature, int code) const { return start[feature] + code; }
    int64_t n_cells() const { return start[n_features]; }
};

// Rows of a node.
struct RowSpan {
    int* first;
    int* last;
    int* begin() const { return first; }
    int* end() const { return last; }
    int64_t size() const { return last - first; }
};

// A set of codes.
class CodeSet {
  public:
    bool contains(int code) const { return words_[code >> 6] >> (code & 63) & 1; }
    void add(int code) { words_[code >> 6] |= uint64_t{1} << (code & 63); }

  private:
    std::array<uint64_t, kMostCodes / 64> words_{};
};

// A split into two branches; feature -1: none.
struct SoftSplit {
    int feature = -1;
    CodeSet left;
    double gain = 0.0;
};

}  // namespace hornbeam::lookahead
