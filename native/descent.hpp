// Rows down a tree whose tests are on codes: how the level phase finds each row's open node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "arrays.hpp"
#include "entries.hpp"
#include "split.hpp"

namespace hornbeam {

// Arrays as NumPy holds them, one entry a node. Codes up to `left` go to the first child, others to the second; at a
// nominal test (left -1) map[map_start + code] is the slot, -1: stop. A missing value goes to missing_slot, -1: stop.
struct TestArrays {
    In<int32_t> feature, first_child, left, missing_slot;
    In<int64_t> map_start;
    In<int32_t> map;
};

class CodeTree {
  public:
    CodeTree(const TestArrays& arrays, const Features& features) : map_(arrays.map.data()) {
        const size_t n = arrays.feature.shape(0);
        bool good = n > 0 && arrays.first_child.shape(0) == n && arrays.left.shape(0) == n &&
                    arrays.missing_slot.shape(0) == n && arrays.map_start.shape(0) == n;
        tests_.resize(n);
        std::vector<int> depth(n, 0);
        for (size_t i = 0; good && i < n; ++i) good = read(arrays, features, static_cast<int64_t>(i), depth);
        expect(good, "a tree over these codes expected");
    }

    int64_t size() const { return static_cast<int64_t>(tests_.size()); }

    // Every row makes as many steps as the deepest: a node without a test leads to itself. Rows do not wait for each
    // other, so the next row's loads overlap with this one's.
    template <class Code>
    void walk(const Rows<const Code>& rows, int64_t begin, int64_t end, int32_t* node) const {
        const Test* tests = tests_.data();
        std::fill(node, node + (end - begin), 0);
        for (int step = 0; step < n_steps_; ++step) {
            const Code* codes = rows.codes + begin * rows.n_features;
            for (int64_t i = 0; i < end - begin; ++i, codes += rows.n_features) {
                const Test& test = tests[node[i]];
                const uint32_t code = codes[test.feature];
                int32_t next = test.first_child + (code > test.left);
                if (test.map >= 0) next = mapped(test, std::min<uint32_t>(code, test.missing_code), node[i]);
                node[i] = code >= test.missing_code ? test.missing : next;
            }
        }
    }

  private:
    struct Test {
        uint16_t feature, left, missing_code, unused;
        int32_t first_child, missing;  // nodes
        int64_t map;                   // -1: the test is ordered
    };

    int32_t mapped(const Test& test, uint32_t code, int32_t node) const {
        const int32_t slot = code < test.missing_code ? map_[test.map + code] : -1;
        return slot < 0 ? node : test.first_child + slot;
    }

    // Everything a walk will trust. Children come after their parents.
    bool read(const TestArrays& arrays, const Features& features, int64_t i, std::vector<int>& depth) {
        const int64_t n = size(), f = arrays.feature.data()[i], first = arrays.first_child.data()[i];
        const auto self = static_cast<int32_t>(i);
        if (f < 0) {
            tests_[i] = {0, 65535, 65535, 0, self, self, -1};
            return features.count > 0 || n == 1;
        }
        const int64_t left = arrays.left.data()[i], missing = arrays.missing_slot.data()[i];
        if (f >= features.count || first <= i || first >= n || missing < -1 || first + missing >= n) return false;
        const int64_t n_codes = features.n_codes[f], map = features.nominal[f] ? arrays.map_start.data()[i] : -1;
        int64_t last_slot = 1;
        if (features.nominal[f]) {
            if (map < 0 || map + n_codes > static_cast<int64_t>(arrays.map.shape(0))) return false;
            last_slot = 0;
            for (int64_t code = 0; code < n_codes; ++code) last_slot = std::max<int64_t>(last_slot, map_[map + code]);
        } else if (left < 0 || left >= n_codes) {
            return false;
        }
        last_slot = std::max(last_slot, missing);
        if (first + last_slot >= n) return false;
        for (int64_t child = first; child <= first + last_slot; ++child) depth[child] = depth[i] + 1;
        n_steps_ = std::max(n_steps_, depth[i] + 1);
        tests_[i] = {static_cast<uint16_t>(f),
                     static_cast<uint16_t>(features.nominal[f] ? 0 : left),
                     static_cast<uint16_t>(n_codes),
                     0,
                     static_cast<int32_t>(first),
                     static_cast<int32_t>(missing < 0 ? i : first + missing),
                     map};
        return true;
    }

    std::vector<Test> tests_;
    const int32_t* map_;
    int n_steps_ = 0;
};

}  // namespace hornbeam
