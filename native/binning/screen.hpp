// A quick look at a column: how many different values it has, and how rows of a class compare with other rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "binning/keys.hpp"

namespace hornbeam {

// A value above all others stands for a missing one.
inline double known_or_infinite(double value) {
    return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
}
inline double known_or_infinite(int32_t code) { return code < 0 ? std::numeric_limits<double>::infinity() : code; }

// Counts the different values of a column; a missing one counts as a value.
class DistinctValues {
  public:
    template <class T>
    int64_t count(const Column<T>& column) {
        int bits = 5;
        while (int64_t{1} << bits < 2 * column.size) ++bits;
        places_.assign(size_t{1} << bits, 0);
        int64_t n = 0;
        for (int64_t row = 0; row < column.size; ++row) {
            const uint64_t key = key_of(known_or_infinite(column[row]));  // never 0
            size_t place = (key * 0x9E3779B97F4A7C15ULL) >> (64 - bits);
            while (places_[place] != 0 && places_[place] != key) place = (place + 1) & (places_.size() - 1);
            n += places_[place] == 0;
            places_[place] = key;
        }
        return n;
    }

  private:
    std::vector<uint64_t> places_;
};

// Row i inside a class is compared with row i outside: the share of pairs with equal values, and of those with the
// smaller value inside. `repeated`: the share of rows inside whose value is that of the previous row inside.
struct PairShares {
    double equal, below, repeated;
};

template <class T>
PairShares pair_shares(const Column<T>& column, const int64_t* inside, const int64_t* outside, int64_t n) {
    int64_t equal = 0, below = 0, repeated = 0;
    double before = n ? known_or_infinite(column[inside[n - 1]]) : 0;
    for (int64_t i = 0; i < n; ++i) {
        const double x = known_or_infinite(column[inside[i]]), y = known_or_infinite(column[outside[i]]);
        equal += x == y;
        below += x < y;
        repeated += x == before;
        before = x;
    }
    const auto share = [n](int64_t count) {
        return static_cast<double>(count) / static_cast<double>(std::max<int64_t>(n, 1));
    };
    return {share(equal), share(below), share(repeated)};
}

}  // namespace hornbeam
