// A split, and what it depends on: the rules and the features.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace hornbeam {

constexpr int kMostPosition = 32767;                     // of a category in the order of the whole tree
constexpr int kBeyondPositions = 2 * kMostPosition + 1;  // midway between a position and this lies no position
constexpr int kEveryChild = -2;                          // as a missing slot: a missing value goes to every child

enum class Missing : int { own = 0, learned = 1, fractional = 2 };
enum class Nominal : int { multiway = 0, subset = 1 };

struct Rules {
    Nominal nominal = Nominal::subset;
    Missing missing = Missing::own;
    bool gain_ratio = false;      // C4.5: average gain, MDL penalty, minimum-split rule, then the best ratio
    bool corrected = false;       // features compete by S-values (chance.hpp), not by gains
    double rows_per_step = 1;     // corrected: independent rows per step of weight
    double rows_per_row = 0;      // corrected: independent rows in a row, to size categories by rows; 0: by weight
    double dispersion = 0;        // gradients: mean square over mean hessian, the variance for S-values
    int64_t min_rows_split = 2;   // rows, unweighted
    int64_t min_rows_leaf = 1;    // rows, unweighted
    double min_rows_missing = 0;  // independent rows of a branch of missing values, but for multiway splits
    int64_t min_weight_leaf = 0;  // in integer steps of weight
    int64_t max_depth = std::numeric_limits<int32_t>::max();
    double min_decrease = 0;   // gain x node weight / total weight must reach this
    double unit = 1;           // one integer step of weight, in rows
    int64_t total_weight = 0;  // of all training rows
    int64_t total_rows = 0;
    double numerator_unit = 1;  // sums: one integer step of a numerator
    double ridge = 0;           // sums: added to every denominator (Newton's lambda)
    double rounding = 0;        // sums: largest rounding error of a numerator, in steps
    int64_t max_features = 0;   // features searched in a node, sampled anew in each; 0: all
    double price_unit = 0;      // gain that a unit of the price of a feature takes off (path_rules.hpp)
};

// The columns of the code matrix. The missing code of feature f is n_codes[f]; its cells start at offset[f].
struct Features {
    int count = 0;
    const int32_t* n_codes = nullptr;
    const uint8_t* nominal = nullptr;
    const int8_t* monotone = nullptr;  // nullptr: none; else -1, 0 or +1 for each feature
    const double* value = nullptr;     // nullptr, or the value of each cell's code, for C4.5's smallest gap at a cut
    // Categories in one order for the whole tree: nullptr, or the position of each cell's code, -1 if it has none; and
    // for each feature the factor of its gains in S-values, -1 if each node orders its categories itself.
    const int32_t* position = nullptr;
    const double* reliability = nullptr;
    std::vector<int64_t> offset;

    Features(int count_, const int32_t* n_codes_, const uint8_t* nominal_, const int8_t* monotone_,
             const double* value_ = nullptr)
        : count(count_), n_codes(n_codes_), nominal(nominal_), monotone(monotone_), value(value_),
          offset(count_ + 1, 0) {
        for (int f = 0; f < count; ++f) offset[f + 1] = offset[f] + n_codes[f] + 1;
    }
    int64_t cells() const { return offset[count]; }
    int32_t widest() const { return count ? *std::max_element(n_codes, n_codes + count) : 0; }
};

// A split sends each code of one feature to a slot; -1: no row of the node has that code.
struct Split {
    int feature = -1;
    double gain = 0;
    int left = -1, right = -1;  // ordered: the highest code on the left, the lowest code on the right
    int missing_slot = -1;      // -1: no missing value in the node; or kEveryChild
    int n_slots = 0;
    std::vector<int32_t> slot_of;  // per code, the missing code last

    bool found() const { return feature >= 0; }
};

// Bounds that monotone constraints of ancestors set on the probability of the second class, or on numerator /
// denominator.
struct Bounds {
    double lower = 0, upper = 1;
};

}  // namespace hornbeam
