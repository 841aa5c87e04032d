// The features that a node searches, where it searches only some of them.
//
// The sample depends on the node's key alone, and the key on the seed and the path from the root: neither threads nor
// the order in which nodes are grown change it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "math/compiler.hpp"
#include "math/rng.hpp"

namespace hornbeam {

// The key of the child in a slot. Slots and features use different halves of the key's sequence.
inline uint64_t child_key(uint64_t key, int slot) { return splitmix64(key, (uint64_t{1} << 63) + slot); }

// All features in a random order, one at a time (Fisher and Yates).
class FeatureSampling {
  public:
    void begin(uint64_t key, int n_features) {
        key_ = key;
        n_drawn_ = 0;
        order_.resize(n_features);
        std::iota(order_.begin(), order_.end(), 0);
    }
    bool more() const { return n_drawn_ < order_.size(); }
    int next() {
        const uint64_t left = order_.size() - n_drawn_;
        // The high bits of the product: uniform from 0 to left - 1, without a division.
        const auto at = static_cast<uint64_t>(static_cast<UnsignedWide>(splitmix64(key_, n_drawn_)) * left >> 64);
        std::swap(order_[n_drawn_], order_[n_drawn_ + at]);
        return order_[n_drawn_++];
    }

  private:
    uint64_t key_ = 0;
    size_t n_drawn_ = 0;
    std::vector<int> order_;
};

}  // namespace hornbeam
