// The nodes of a tree while it grows, and the progress of growing it.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "growing/split.hpp"

namespace hornbeam {

// Nodes in the order of their creation: parents before children, siblings in slot order.
struct Nodes {
    explicit Nodes(int n_channels_) : n_channels(n_channels_) {}
    int n_channels;  // of evidence: the classes; or weight and sum
    std::vector<int32_t> parent, slot, feature, left, right, missing_slot;
    std::vector<double> gain;
    std::vector<int64_t> rows, evidence;
    std::vector<int64_t> map_start;  // nominal splits: where the node's slot map begins
    std::vector<int32_t> map;

    int64_t size() const { return static_cast<int64_t>(parent.size()); }

    int32_t add(int32_t parent_, int32_t slot_, int64_t rows_, const int64_t* counts) {
        parent.push_back(parent_);
        slot.push_back(slot_);
        feature.push_back(-1);
        left.push_back(-1);
        right.push_back(-1);
        missing_slot.push_back(-1);
        gain.push_back(std::numeric_limits<double>::quiet_NaN());
        rows.push_back(rows_);
        evidence.insert(evidence.end(), counts, counts + n_channels);
        map_start.push_back(-1);
        return static_cast<int32_t>(parent.size()) - 1;
    }
    // Adds the nodes of another tree, whose root stays a root.
    void append(const Nodes& other) {
        const auto first = static_cast<int32_t>(size());
        const auto map_first = static_cast<int64_t>(map.size());
        for (const int32_t p : other.parent) parent.push_back(p < 0 ? -1 : first + p);
        for (const int64_t start : other.map_start) map_start.push_back(start < 0 ? -1 : map_first + start);
        const auto add_all = [](auto& all, const auto& more) { all.insert(all.end(), more.begin(), more.end()); };
        add_all(slot, other.slot);
        add_all(feature, other.feature);
        add_all(left, other.left);
        add_all(right, other.right);
        add_all(missing_slot, other.missing_slot);
        add_all(gain, other.gain);
        add_all(rows, other.rows);
        add_all(evidence, other.evidence);
        add_all(map, other.map);
    }
    void set_split(int32_t node, const Split& split, bool nominal) {
        feature[node] = split.feature;
        left[node] = split.left;
        right[node] = split.right;
        missing_slot[node] = split.missing_slot;
        gain[node] = split.gain;
        if (nominal) {
            map_start[node] = static_cast<int64_t>(map.size());
            map.insert(map.end(), split.slot_of.begin(), split.slot_of.end() - 1);
        }
    }
};

// Two numbers in an array of the caller, whose other threads read the first and write the second: rows done, and
// whether to stop. Relaxed atomics suffice: no other memory depends on them.
class Progress {
  public:
    explicit Progress(int64_t* slot) : slot_(slot) {}

    // Only the growing thread adds.
    void add(int64_t n_rows) const {
        __atomic_store_n(slot_, __atomic_load_n(slot_, __ATOMIC_RELAXED) + n_rows, __ATOMIC_RELAXED);
    }
    bool stopped() const { return __atomic_load_n(slot_ + 1, __ATOMIC_RELAXED) != 0; }

  private:
    int64_t* slot_;
};

}  // namespace hornbeam
