// Which features a node looks at, when it may not look at all.
//
// A draw depends on the node's key alone, and the key on the seed and on the way from the root: neither threads nor the
// order in which nodes are grown can change it.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

namespace hornbeam {

// Steele, Lea and Flood's SplitMix64: the n-th number of a key without those before it.
inline uint64_t mixed_bits(uint64_t key, uint64_t n) {
    uint64_t x = key + (n + 1) * 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

// The key of the child in a slot. Slots and features draw from different halves of the numbers.
inline uint64_t child_key(uint64_t key, int slot) { return mixed_bits(key, (uint64_t{1} << 63) + slot); }

// Features in an order that the key decides, one at a time (Fisher and Yates).
class Draw {
  public:
    void begin(uint64_t key, int n_features) {
        key_ = key;
        drawn_ = 0;
        order_.resize(n_features);
        std::iota(order_.begin(), order_.end(), 0);
    }
    bool more() const { return drawn_ < order_.size(); }
    int next() {
        const uint64_t left = order_.size() - drawn_;
        // The high bits of a product: as even as the bits are, and no division.
        const auto at = static_cast<uint64_t>(static_cast<unsigned __int128>(mixed_bits(key_, drawn_)) * left >> 64);
        std::swap(order_[drawn_], order_[drawn_ + at]);
        return order_[drawn_++];
    }

  private:
    uint64_t key_ = 0;
    size_t drawn_ = 0;
    std::vector<int> order_;
};

}  // namespace hornbeam
