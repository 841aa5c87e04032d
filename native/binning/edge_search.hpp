// The binary search that turns a value into a code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "binning/keys.hpp"

namespace hornbeam {

// code = number of edges below the value, found by binary search. A look-up table over equal intervals (slots) between
// the lowest and the highest edge gives the start: where edges are spaced evenly, one or two steps remain. Any monotone
// map to slots is correct, because edges of a lower slot are below the value and edges of a higher slot are not.
class EdgeSearch {
  public:
    EdgeSearch(const double* begin, const double* end, int64_t n_rows) : edges_(begin, end) {
        steps_ = steps_for(edges_.size());
        if (n_rows >= kSlots && edges_.size() > 2) build();  // with fewer rows the table costs more than it saves
        // A search may look at up to 2^steps - 1 edges after the last one.
        edges_.resize(edges_.size() + (size_t{1} << steps_), std::numeric_limits<double>::infinity());
    }

    // A missing value gets code `missing`.
    template <class Code>
    void encode(const Column<double>& column, int64_t begin, int64_t end, Code missing, Code* out,
                int64_t out_stride) const {
        (this->*searches<Code>[steps_])(column, begin, end, missing, out, out_stride);
    }

  private:
    static constexpr int kSlots = 4096;

    static int steps_for(size_t n_edges) {
        int steps = 0;
        while ((size_t{1} << steps) - 1 < n_edges) ++steps;
        return steps;
    }

    int slot_of(double value) const {
        double inside = value > lowest_ ? value : lowest_;  // NaN too
        inside = inside < highest_ ? inside : highest_;
        return static_cast<int>((inside - lowest_) * scale_);
    }

    void build() {
        const double scale = (kSlots - 1) / (edges_.back() - edges_.front());
        if (!(scale > 0 && scale <= std::numeric_limits<double>::max())) return;  // too far or too close together
        lowest_ = edges_.front();
        highest_ = edges_.back();
        scale_ = scale;
        start_.resize(kSlots);
        size_t edge = 0, most = 0;
        for (int slot = 0; slot < kSlots; ++slot) {
            start_[slot] = static_cast<uint16_t>(edge);
            while (edge < edges_.size() && slot_of(edges_[edge]) == slot) ++edge;
            most = std::max(most, edge - start_[slot]);
        }
        steps_ = steps_for(most);
    }

    // Without a branch, so that the processor overlaps several rows.
    template <int Steps, class Code>
    void search(const Column<double>& column, int64_t begin, int64_t end, Code missing, Code* out,
                int64_t out_stride) const {
        const double* edges = edges_.data();
        const double* value = column.data + begin * column.stride;
        for (int64_t row = begin; row < end; ++row, value += column.stride, out += out_stride) {
            const double x = *value;
            uint32_t code = start_[slot_of(x)];
            for (int step = Steps - 1; step >= 0; --step)
                code += static_cast<uint32_t>(edges[code + (1u << step) - 1] < x) << step;
            // No edge is below NaN, so its code is 0, and OR sets the missing code.
            *out = static_cast<Code>(code | (missing & (0u - static_cast<uint32_t>(x != x))));
        }
    }

    template <class Code>
    using Search = void (EdgeSearch::*)(const Column<double>&, int64_t, int64_t, Code, Code*, int64_t) const;

    // One search for each number of steps; up to 65,535 edges need 16.
    template <class Code>
    static constexpr Search<Code> searches[] = {
        &EdgeSearch::search<0, Code>,  &EdgeSearch::search<1, Code>,  &EdgeSearch::search<2, Code>,
        &EdgeSearch::search<3, Code>,  &EdgeSearch::search<4, Code>,  &EdgeSearch::search<5, Code>,
        &EdgeSearch::search<6, Code>,  &EdgeSearch::search<7, Code>,  &EdgeSearch::search<8, Code>,
        &EdgeSearch::search<9, Code>,  &EdgeSearch::search<10, Code>, &EdgeSearch::search<11, Code>,
        &EdgeSearch::search<12, Code>, &EdgeSearch::search<13, Code>, &EdgeSearch::search<14, Code>,
        &EdgeSearch::search<15, Code>, &EdgeSearch::search<16, Code>};

    std::vector<double> edges_;
    int steps_ = 0;
    double lowest_ = 0, highest_ = 0, scale_ = 0;
    std::vector<uint16_t> start_ = std::vector<uint16_t>(1);
};

// Copies category codes; -1 becomes the missing code. Returns false if a code is outside [-1, missing).
template <class Code>
bool copy_codes(const Column<int32_t>& column, int64_t begin, int64_t end, Code missing, Code* out,
                int64_t out_stride) {
    bool known = true;
    const int32_t* code = column.data + begin * column.stride;
    for (int64_t row = begin; row < end; ++row, code += column.stride, out += out_stride) {
        known &= *code >= -1 && *code < static_cast<int32_t>(missing);
        *out = *code < 0 ? missing : static_cast<Code>(*code);
    }
    return known;
}

}  // namespace hornbeam
