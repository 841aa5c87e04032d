// Routes rows to the node where they stop, and reads the prediction of that node.
//
// The arrays of the tree are checked once and packed into nodes of 16 bytes. A step never branches on the outcome of a
// comparison:
//
//     next = first_child + (value > threshold)
//
// A leaf leads to itself (threshold +inf, first_child = itself), so several rows can step together without checking
// which of them have arrived: the processor loads their nodes in parallel instead of one after the other. A row that
// stops at an inner node (missing value, unseen category) stays there in the same way.
#pragma once

#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "growing/split.hpp"
#include "math/compiler.hpp"

namespace hornbeam {

constexpr int32_t kMissingCode = -1;
constexpr int32_t kUnseenCode = -2;

// The arrays of a skeleton (see "The tree as data" in the design). The caller guarantees the sizes; contents are
// checked.
struct SkeletonArrays {
    int64_t n_nodes;
    const int32_t* first_child;
    const int32_t* n_children;
    const int32_t* feature;
    const double* threshold;
    const int32_t* slot_start;  // n_nodes + 1
    const int32_t* slot_of;
    int64_t n_slots;
    const int32_t* missing_slot;
    int64_t n_roots = 1;  // several: trees side by side, their roots first
};

// Sources of values. A lane is the fastest reference to a row.

// A matrix whose rows are contiguous: numeric splits only.
struct MatrixSource {
    using Lane = const double*;
    const double* data;
    int64_t row_step;
    int64_t n_rows;
    int64_t n_columns;

    Lane lane(int64_t row) const { return data + row * row_step; }
    double number(Lane lane, int32_t feature) const { return lane[feature]; }
    int32_t code(Lane, int32_t) const { return kUnseenCode; }

    // Splits read the columns of a row in an order that no hardware prefetcher predicts.
    void prefetch(int64_t row) const {
        constexpr int64_t kLine = 8, kWidest = 64;  // doubles
        if (n_columns > kWidest || row >= n_rows) return;
        for (int64_t column = 0; column < n_columns; column += kLine) hornbeam::prefetch(lane(row) + column);
    }
};

// Columns, each with its own address, stride and type: float64 for numeric splits, int32 codes for nominal ones.
struct ColumnSource {
    struct Column {
        const void* data;
        int64_t step;
    };
    using Lane = int64_t;
    const Column* columns;

    Lane lane(int64_t row) const { return row; }
    double number(Lane row, int32_t feature) const {
        return static_cast<const double*>(columns[feature].data)[row * columns[feature].step];
    }
    int32_t code(Lane row, int32_t feature) const {
        return static_cast<const int32_t*>(columns[feature].data)[row * columns[feature].step];
    }
    void prefetch(int64_t) const {}
};

class Router {
  public:
    explicit Router(const SkeletonArrays& tree);

    int64_t n_nodes() const { return static_cast<int64_t>(nodes_.size()); }
    int32_t depth() const { return depth_; }
    int64_t n_features() const { return n_features_; }
    bool nominal() const { return nominal_; }
    bool fractional() const { return fractional_; }
    const std::vector<std::pair<int32_t, bool>>& used() const { return used_; }  // (feature, is nominal)

    // The node where one row stops.
    template <class Source>
    int32_t stop(const Source& source, typename Source::Lane lane, int32_t start = 0) const {
        uint32_t node = static_cast<uint32_t>(start);
        for (int32_t level = 0; level < depth_; ++level) {
            const uint32_t next = step<Source, false>(source, lane, node);
            if (next == node) break;
            node = next;
        }
        return static_cast<int32_t>(node);
    }

    // The nodes where rows begin .. end stop.
    template <class Source>
    void stops(const Source& source, int64_t begin, int64_t end, int32_t* out) const {
        walk(source, end - begin, [=](int64_t i) { return begin + i; }, [](int64_t) { return 0; }, out);
    }

    // The nodes where some rows stop: row rows[i] from node start[i].
    template <class Source>
    void ends(const Source& source, const int64_t* rows, const int32_t* start, int64_t n, int32_t* out) const {
        walk(source, n, [=](int64_t i) { return rows[i < n ? i : n - 1]; }, [=](int64_t i) { return start[i]; }, out);
    }

    // The row of `belief` of the node where each of rows begin .. end stops; `weight`, the evidence of the nodes, is
    // read in fractional trees only.
    template <class Source>
    void predict(const Source& source, int64_t begin, int64_t end, const double* belief, int64_t n_classes,
                 const double* weight, double* out) const {
        constexpr int64_t kBlock = 256;
        int32_t stopped[kBlock];
        for (int64_t row = begin; row < end; row += kBlock) {
            const int64_t count = end - row < kBlock ? end - row : kBlock;
            stops(source, row, row + count, stopped);
            for (int64_t i = 0; i < count; ++i) {
                const double* found = belief + stopped[i] * n_classes;
                for (int64_t k = 0; k < n_classes; ++k) out[i * n_classes + k] = found[k];
            }
            for (int64_t i = 0; fractional_ && i < count; ++i)
                if (goes_to_every_child(source, source.lane(row + i), stopped[i]))
                    predict_fractional(source, source.lane(row + i), stopped[i], belief, n_classes, weight,
                                       out + i * n_classes);
            out += count * n_classes;
        }
    }

    // The prediction of one row.
    template <class Source>
    void predict_row(const Source& source, typename Source::Lane lane, const double* belief, int64_t n_classes,
                     const double* weight, double* out) const {
        predict_fractional(source, lane, 0, belief, n_classes, weight, out);
    }

  private:
    struct Node {
        double threshold;
        int32_t feature;  // ~feature at nominal splits
        uint32_t first_child;
    };
    static_assert(sizeof(Node) == 16, "four nodes a cache line");

    static constexpr int kLanes = 8;       // rows that step together: as many as fit in registers
    static constexpr int64_t kAhead = 32;  // rows between prefetching and stepping

    void check(const SkeletonArrays& tree, int64_t node) const;
    void pack(const SkeletonArrays& tree);
    void add_feature(int64_t node, int32_t feature, bool nominal, std::unordered_map<int32_t, bool>& kinds);

    template <class Source, bool all_numeric>
    uint32_t step(const Source& source, typename Source::Lane lane, uint32_t node) const {
        const Node& at = nodes_[node];
        if (!all_numeric && at.feature < 0) {
            const int32_t code = source.code(lane, ~at.feature);
            if (code == kMissingCode) return missing_next_[node];
            const int64_t run = slot_start_[node + 1] - slot_start_[node];
            return code >= 0 && code < run ? slot_child_[slot_start_[node] + code] : node;
        }
        const double value = source.number(lane, at.feature);
        if (std::isunordered(value, at.threshold)) return missing_next_[node];
        return at.first_child + static_cast<uint32_t>(std::isgreater(value, at.threshold));
    }

    // The node where each of n rows stops: the i-th is `row_at(i)` and begins at the node `start_at(i)`. Rows after the
    // n-th are only prefetched.
    template <class Source, class RowAt, class StartAt>
    void walk(const Source& source, int64_t n, RowAt row_at, StartAt start_at, int32_t* out) const {
        nominal_ ? walk<false>(source, n, row_at, start_at, out) : walk<true>(source, n, row_at, start_at, out);
    }

    template <bool all_numeric, class Source, class RowAt, class StartAt>
    void walk(const Source& source, int64_t n, RowAt row_at, StartAt start_at, int32_t* out) const {
        int64_t i = 0;
        for (; i + kLanes <= n; i += kLanes, out += kLanes) {
            uint32_t node[kLanes];
            typename Source::Lane lane[kLanes];
            for (int j = 0; j < kLanes; ++j) {
                node[j] = static_cast<uint32_t>(start_at(i + j));
                lane[j] = source.lane(row_at(i + j));
            }
            for (int j = 0; j < kLanes; ++j) source.prefetch(row_at(i + kAhead + j));
            for (int32_t level = 0; level < depth_; ++level) {
                uint32_t moved = 0;
                for (int j = 0; j < kLanes; ++j) {
                    const uint32_t next = step<Source, all_numeric>(source, lane[j], node[j]);
                    moved |= next ^ node[j];
                    node[j] = next;
                }
                if (moved == 0) break;
            }
            for (int j = 0; j < kLanes; ++j) out[j] = static_cast<int32_t>(node[j]);
        }
        for (; i < n; ++i) *out++ = stop(source, source.lane(row_at(i)), start_at(i));
    }

    // Whether a row that stopped at `node` is missing a value that goes to every child.
    template <class Source>
    bool goes_to_every_child(const Source& source, typename Source::Lane lane, int32_t node) const {
        if (!fractional_at_[node]) return false;
        const int32_t feature = nodes_[node].feature;
        return feature < 0 ? source.code(lane, ~feature) == kMissingCode : std::isnan(source.number(lane, feature));
    }

    // Depth first, children in slot order: the order of the additions determines the bits.
    template <class Source>
    void predict_fractional(const Source& source, typename Source::Lane lane, int32_t start, const double* belief,
                            int64_t n_classes, const double* weight, double* out) const {
        for (int64_t k = 0; k < n_classes; ++k) out[k] = 0.0;
        std::vector<std::pair<int32_t, double>> open{{start, 1.0}};
        while (!open.empty()) {
            const auto [from, fraction] = open.back();
            open.pop_back();
            const int32_t node = stop(source, lane, from);
            double total = 0.0;
            if (fractional_ && goes_to_every_child(source, lane, node))
                for (int32_t s = 0; s < n_children_[node]; ++s) total += weight[nodes_[node].first_child + s];
            if (total > 0.0) {
                for (int32_t s = n_children_[node] - 1; s >= 0; --s) {
                    const int32_t child = static_cast<int32_t>(nodes_[node].first_child) + s;
                    if (weight[child] > 0.0) open.emplace_back(child, fraction * (weight[child] / total));
                }
            } else {
                for (int64_t k = 0; k < n_classes; ++k) out[k] += fraction * belief[node * n_classes + k];
            }
        }
    }

    std::vector<Node> nodes_;
    std::vector<uint32_t> missing_next_;  // where a missing value leads; the node itself = stop here
    std::vector<int64_t> slot_start_;     // empty in a tree without nominal splits
    std::vector<uint32_t> slot_child_;    // slot_of as node ids; the node itself = stop here
    std::vector<uint8_t> fractional_at_;  // empty in a tree without fractional nodes
    std::vector<int32_t> n_children_;     // likewise
    std::vector<std::pair<int32_t, bool>> used_;
    int32_t depth_ = 0;
    int64_t n_features_ = 0;
    bool nominal_ = false;
    bool fractional_ = false;
};

}  // namespace hornbeam
