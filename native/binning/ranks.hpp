// The rank of each value among the distinct values of its column: one sort gives the values and the codes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "binning/census.hpp"

namespace hornbeam {

class Ranks {
  public:
    // Appends the keys of the distinct values of a column, and writes the rank of each row to `codes`, every `stride`
    // numbers; a missing value gets the number of distinct values, but at least 1.
    void add(const Column<double>& column, std::vector<uint64_t>& keys, uint16_t* codes, int64_t stride) {
        items_.clear();
        for (int64_t row = 0; row < column.size; ++row) {
            const double value = column[row];
            if (value == value) items_.emplace_back(key_of(value), row);
        }
        sort_by_key(items_);
        int64_t rank = -1;
        uint64_t last = 0;  // no value has this key
        for (const auto& [key, row] : items_) {
            if (key != last) {
                keys.push_back(last = key);
                ++rank;
            }
            codes[static_cast<int64_t>(row) * stride] = static_cast<uint16_t>(rank);
        }
        const auto missing = static_cast<uint16_t>(rank < 0 ? 1 : rank + 1);
        if (static_cast<int64_t>(items_.size()) == column.size) return;
        for (int64_t row = 0; row < column.size; ++row)
            if (column[row] != column[row]) codes[row * stride] = missing;
    }

  private:
    Counted items_;
};

}  // namespace hornbeam
