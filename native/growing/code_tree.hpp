// A tree whose splits are on codes: the level phase sends rows down it to find their open nodes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"
#include "growing/entries.hpp"
#include "growing/split.hpp"

namespace hornbeam {

// NumPy arrays with one entry per node. Codes up to `left` go to the first child, others to the second; at a nominal
// split (left -1) map[map_start + code] is the slot, -1: stop. A missing value goes to missing_slot, -1: stop.
struct CodeTreeArrays {
    In<int32_t> feature, first_child, left, missing_slot;
    In<int64_t> map_start;
    In<int32_t> map;
};

class CodeTree {
  public:
    CodeTree(const CodeTreeArrays& arrays, const Features& features)
        : map_(arrays.map.data()), map_start_(arrays.map_start.data()) {
        const size_t n = arrays.feature.shape(0);
        bool good = n > 0 && arrays.first_child.shape(0) == n && arrays.left.shape(0) == n &&
                    arrays.missing_slot.shape(0) == n && arrays.map_start.shape(0) == n;
        splits_.resize(n);
        height_.assign(n, 0);
        for (auto i = static_cast<int64_t>(n) - 1; good && i >= 0; --i) good = read(arrays, features, i);
        expect(good, "a tree over these codes expected");
    }

    // The longest walk from a node that was a leaf when the tree had `seen` nodes.
    int steps_from(int64_t seen) const {
        int steps = 0;
        for (int64_t i = 0; i < seen; ++i)
            if (splits_[i].first_child >= seen) steps = std::max(steps, height_[i]);
        return steps;
    }

    int64_t size() const { return static_cast<int64_t>(splits_.size()); }

    // Moves each row from its node to where it stops.
    template <class Code>
    void walk(const Rows<const Code>& rows, int64_t begin, int64_t end, int steps, int32_t* node) const {
        plain_ ? walk<true>(rows, begin, end, steps, node) : walk<false>(rows, begin, end, steps, node);
    }

  private:
    struct CodeSplit {
        int32_t feature;  // ~feature if a map gives the slots
        uint16_t left, missing_code;
        int32_t first_child, missing;  // nodes
    };

    // Several rows step together, so that their loads overlap, and each makes as many steps as the longest walk: a leaf
    // leads to itself.
    template <bool plain, class Code>
    void walk(const Rows<const Code>& rows, int64_t begin, int64_t end, int steps, int32_t* node) const {
        constexpr int kLanes = 8;
        const int64_t stride = rows.n_features;
        int64_t row = begin;
        for (; row + kLanes <= end; row += kLanes, node += kLanes) {
            const Code* codes = rows.codes + row * stride;
            int32_t at[kLanes];
            std::copy(node, node + kLanes, at);
            for (int step = 0; step < steps; ++step)
                for (int i = 0; i < kLanes; ++i) at[i] = next<plain>(at[i], codes + i * stride);
            std::copy(at, at + kLanes, node);
        }
        for (; row < end; ++row, ++node)
            for (int step = 0; step < steps; ++step) *node = next<plain>(*node, rows.codes + row * stride);
    }

    // `plain`: no split has a map, and missing values, whose code is the highest, go to the second child.
    template <bool plain, class Code>
    int32_t next(int32_t at, const Code* codes) const {
        const CodeSplit& split = splits_[at];
        const bool mapped = !plain && split.feature < 0;
        const uint32_t code = codes[mapped ? ~split.feature : split.feature];
        int32_t child = split.first_child + (code > split.left);
        if (plain) return child;
        if (mapped && code < split.missing_code) {
            const int32_t slot = map_[map_start_[at] + code];
            child = slot < 0 ? at : split.first_child + slot;
        }
        return code >= split.missing_code ? split.missing : child;
    }

    // Checks everything that a walk relies on, from the last node to the first: children come after their parents.
    bool read(const CodeTreeArrays& arrays, const Features& features, int64_t i) {
        const int64_t n = size(), f = arrays.feature.data()[i], first = arrays.first_child.data()[i];
        const auto self = static_cast<int32_t>(i);
        if (f < 0) {
            splits_[i] = {0, 65535, 65535, self, self};
            return features.count > 0 || n == 1;
        }
        const int64_t left = arrays.left.data()[i], missing = arrays.missing_slot.data()[i];
        if (f >= features.count || first <= i || first >= n || missing < -1 || first + missing >= n) return false;
        const int64_t n_codes = features.n_codes[f], map = features.nominal[f] ? arrays.map_start.data()[i] : -1;
        int64_t last_slot = 1;
        if (features.nominal[f]) {
            if (map < 0 || map > static_cast<int64_t>(arrays.map.size()) - n_codes) return false;
            last_slot = 0;
            for (int64_t code = 0; code < n_codes; ++code) last_slot = std::max<int64_t>(last_slot, map_[map + code]);
        } else if (left < 0 || left >= n_codes) {
            return false;
        }
        last_slot = std::max(last_slot, missing);
        if (first + last_slot >= n) return false;
        height_[i] = 1 + *std::max_element(height_.begin() + first, height_.begin() + first + last_slot + 1);
        plain_ = plain_ && !features.nominal[f] && missing == 1;
        splits_[i] = {static_cast<int32_t>(features.nominal[f] ? ~f : f),
                      static_cast<uint16_t>(features.nominal[f] ? 0 : left), static_cast<uint16_t>(n_codes),
                      static_cast<int32_t>(first), static_cast<int32_t>(missing < 0 ? i : first + missing)};
        return true;
    }

    std::vector<CodeSplit> splits_;
    std::vector<int> height_;  // steps to the deepest leaf below
    const int32_t* map_;
    const int64_t* map_start_;
    bool plain_ = true;
};

}  // namespace hornbeam
