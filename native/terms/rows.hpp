// Rows with soft labels, sorted by the node of a tree where they end.
#pragma once

#include <cstdint>
#include <vector>

namespace hornbeam::terms {

struct Rows {
    int n_outputs;
    const double* label;   // per row and output
    const double* weight;  // per row; the sum is 1
    const double* offset;  // per row and output, a known part of the score; or null
    int n_nodes;
    const int32_t* parent;  // per node, -1 for the root; parents come first
    int n_ends;             // nodes where rows end
    const int32_t* node_of_end;
    const int64_t* start;  // per end: its first row; at the end, the number of rows

    int64_t n_rows() const { return start[n_ends]; }

    // Whether `node` is `above` or below it.
    bool is_below(int node, int above) const {
        while (node > above) node = parent[node];
        return node == above;
    }

    // The ends at a node and below it.
    std::vector<int> ends_below(int node) const {
        std::vector<int> found;
        for (int e = 0; e < n_ends; ++e)
            if (is_below(node_of_end[e], node)) found.push_back(e);
        return found;
    }
};

}  // namespace hornbeam::terms
