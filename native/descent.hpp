// Rows down a tree whose tests are on codes: how the level phase finds each row's open node.
#pragma once

#include <cstdint>

#include "arrays.hpp"

namespace hornbeam {

// map[map_start[i] + code] is the slot of a code at inner node i; leaves have feature -1. Slots are never -1 here: the
// rows are those the tests were made from.
template <class Code>
void descend(const Matrix<Code>& codes, int64_t begin, int64_t end, const In<int32_t>& feature,
             const In<int32_t>& first_child, const In<int64_t>& map_start, const In<int32_t>& map,
             const InOut<int32_t>& node) {
    const int64_t n_nodes = static_cast<int64_t>(feature.shape(0)), n_features = static_cast<int64_t>(codes.shape(1));
    const int64_t n_map = static_cast<int64_t>(map.shape(0));
    expect(first_child.shape(0) == feature.shape(0) && map_start.shape(0) == feature.shape(0), "one entry a node expected");
    expect(0 <= begin && begin <= end && end <= static_cast<int64_t>(codes.shape(0)), "rows within the table expected");
    expect(static_cast<int64_t>(node.shape(0)) == end - begin, "one node a row expected");
    bool good = true;
    nb::gil_scoped_release release;
    for (int64_t row = begin; row < end && good; ++row) {
        const Code* code = codes.data() + row * n_features;
        int64_t at = node.data()[row - begin];
        while (good && at >= 0 && at < n_nodes && feature.data()[at] >= 0) {
            const int64_t f = feature.data()[at];
            if (!(good = f < n_features)) break;
            const int64_t place = map_start.data()[at] + code[f];
            if (!(good = 0 <= place && place < n_map)) break;
            const int64_t child = first_child.data()[at] + map.data()[place];
            good = child > at;
            at = child;
        }
        good = good && at >= 0 && at < n_nodes;
        node.data()[row - begin] = static_cast<int32_t>(at);
    }
    if (!good) {
        nb::gil_scoped_acquire acquire;
        expect(false, "a tree over these codes expected");
    }
}

}  // namespace hornbeam
