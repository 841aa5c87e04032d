// All cuts of a node, each valued by what its two branches explain with the terms of the node.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "growing/path_rules.hpp"
#include "lookahead/leaf_terms.hpp"

namespace hornbeam::lookahead {

// Calls `action` with the width of a row of sums as a constant if it is a frequent one, else with 0: a loop of known
// length takes half the time.
template <class Action>
void with_width(int width, Action&& action) {
    switch (width) {
        case 2: return action(std::integral_constant<int, 2>{});    // two classes
        case 4: return action(std::integral_constant<int, 4>{});    // three classes
        case 5: return action(std::integral_constant<int, 5>{});    // two classes and a term
        case 9: return action(std::integral_constant<int, 9>{});    // two classes and two terms, or three and one
        case 14: return action(std::integral_constant<int, 14>{});  // two classes and three terms
        case 15: return action(std::integral_constant<int, 15>{});  // three classes and two terms
        default: return action(std::integral_constant<int, 0>{});
    }
}

// Adds the sums of a row to the cell of its code of each feature; `known` is their number, or 0.
template <int known>
void add_to_cells(const SoftRows& rows, int row, const int64_t* sums, int width, int64_t* cells) {
    const uint8_t* codes = rows.row(row);
    if constexpr (known > 0) {
        std::array<int64_t, known> own;  // stays in registers
        std::copy_n(sums, known, own.begin());
        for (int f = 0; f < rows.n_features; ++f) {
            int64_t* cell = cells + rows.cell(f, codes[f]) * known;
            for (int i = 0; i < known; ++i) cell[i] += own[i];
        }
    } else {
        for (int f = 0; f < rows.n_features; ++f) {
            int64_t* cell = cells + rows.cell(f, codes[f]) * width;
            for (int i = 0; i < width; ++i) cell[i] += sums[i];
        }
    }
}

// The weight and the shares of each code of each feature, and its counted weight.
inline void count_codes(const SoftRows& rows, RowSpan node, std::vector<int64_t>& counts,
                        std::vector<int64_t>& counted) {
    const int channels = rows.n_channels, width = 1 + channels;
    counts.assign(rows.n_cells() * width, 0);
    counted.assign(rows.n_cells(), 0);
    with_width(width, [&](auto known) {
        std::array<int64_t, known + 1> sums;
        for (const int row : node) {
            const uint8_t* codes = rows.row(row);
            const int32_t* share = rows.shares(row);
            const int64_t weight = rows.weight[row];
            if constexpr (known > 0) {
                sums[0] = weight;
                std::copy_n(share, known - 1, sums.begin() + 1);
                add_to_cells<known>(rows, row, sums.data(), width, counts.data());
            }
            for (int f = 0; f < rows.n_features && known == 0; ++f) {
                int64_t* count = &counts[rows.cell(f, codes[f]) * width];
                count[0] += weight;
                for (int c = 0; c < channels; ++c) count[1 + c] += share[c];
            }
            const int64_t part = rows.counted[row];
            for (int f = 0; f < rows.n_features && part > 0; ++f) counted[rows.cell(f, codes[f])] += part;
        }
    });
}

class CutScan {
  public:
    CutScan(const SoftRows& rows, const LeafRules& rules) : rows_(rows), rules_(rules), terms_(rows, rules) {}

    // The model of a node as a leaf. The cuts that follow are those of this node.
    LeafModel leaf(RowSpan node) {
        count_codes(rows_, node, counts_, counted_);
        return model_ = terms_.select(node, counts_);
    }

    // The cut of largest gain among those of allowed features; nullptr: of all.
    SoftSplit best(RowSpan node, const PathRules::Allowed& allowed) {
        SoftSplit best;
        scan(node, allowed, [&](int feature, const std::vector<Cut>& cuts) {
            const Cut* cut = largest(cuts);
            if (cut && cut->gain > best.gain) best = split(feature, *cut);
        });
        return best;
    }

    // Up to `per_feature` cuts of each feature that differ by at least `apart` of the weight; the `most` of largest
    // gain.
    std::vector<SoftSplit> candidates(RowSpan node, const PathRules::Allowed& allowed, int per_feature, double apart,
                                      size_t most) {
        std::vector<SoftSplit> found;
        scan(node, allowed, [&](int feature, std::vector<Cut>& cuts) {
            for (int i = 0; i < per_feature; ++i) {
                const Cut* cut = largest(cuts);
                if (!cut) break;
                found.push_back(split(feature, *cut));
                const double at = cut->position;
                for (Cut& other : cuts)
                    if (std::fabs(other.position - at) < apart) other.gain = 0;
            }
        });
        std::stable_sort(found.begin(), found.end(),
                         [](const SoftSplit& a, const SoftSplit& b) { return a.gain > b.gain; });
        if (found.size() > most) found.resize(most);
        return found;
    }

  private:
    struct Cut {
        double gain;
        double position;  // share of the weight up to the cut
        int last;         // index into `order_` of the last code on the left
        bool missing_left;
    };

    static const Cut* largest(const std::vector<Cut>& cuts) {
        const Cut* best = nullptr;
        for (const Cut& cut : cuts)
            if (cut.gain > 0 && (!best || cut.gain > best->gain)) best = &cut;
        return best;
    }

    template <class Visit>
    void scan(RowSpan node, const PathRules::Allowed& allowed, Visit visit) {
        layout_ = {rows_.n_channels, model_.terms.size};
        width_ = layout_.size();
        if (model_.terms.size > 0) sum_moments(node);
        const std::vector<int64_t>& sums = model_.terms.size > 0 ? moments_ : counts_;
        total_.assign(width_, 0);
        for (int code = 0; code <= rows_.n_codes[0]; ++code) add(&sums[rows_.cell(0, code) * width_], total_);
        whole_ = explained(total_.data(), layout_, rules_.ridge);
        for (int feature = 0; feature < rows_.n_features; ++feature) {
            if (allowed && !allowed->feature[feature]) continue;
            sort_codes(feature, sums);
            list_cuts(feature, sums);
            if (!cuts_.empty()) visit(feature, cuts_);
        }
    }

    void sum_moments(RowSpan node) {
        moments_.assign(rows_.n_cells() * width_, 0);
        row_.resize(width_);
        with_width(width_, [&](auto known) {
            for (const int row : node) {
                sums_of_row(rows_, model_.terms, row, row_.data());
                add_to_cells<known>(rows_, row, row_.data(), width_, moments_.data());
            }
        });
    }

    static void add(const int64_t* from, std::vector<int64_t>& to) {
        for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
    }

    // Codes that occur in the node: numeric ones ascending; categories by mean, or with several channels along the
    // direction in which their means differ most.
    void sort_codes(int feature, const std::vector<int64_t>& sums) {
        order_.clear();
        for (int code = 0; code < rows_.n_codes[feature]; ++code)
            if (sums[rows_.cell(feature, code) * width_] > 0) order_.push_back(code);
        if (!rows_.nominal[feature]) return;
        const int channels = rows_.n_channels;
        const auto mean = [&](int code, int c) {
            const int64_t* sum = &sums[rows_.cell(feature, code) * width_];
            return static_cast<double>(sum[1 + c]) / static_cast<double>(sum[0]);
        };
        direction_.assign(channels, 0.0);
        direction_[0] = 1.0;
        if (channels > 1) find_direction(feature, sums, mean);
        for (const int code : order_) {
            double along = 0;
            for (int c = 0; c < channels; ++c) along += direction_[c] * mean(code, c);
            position_[code] = std::nearbyint(along * 0x1p40);  // rounding errors must not sort
        }
        std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return position_[a] < position_[b]; });
    }

    // The first principal component of the means, by power iteration from the channel that varies most.
    template <class Mean>
    void find_direction(int feature, const std::vector<int64_t>& sums, Mean mean) {
        constexpr int kSteps = 24;
        const int channels = rows_.n_channels;
        std::vector<double> centre(channels, 0.0), next(channels, 0.0);
        double weight = 0;
        for (const int code : order_) {
            const int64_t* sum = &sums[rows_.cell(feature, code) * width_];
            weight += static_cast<double>(sum[0]);
            for (int c = 0; c < channels; ++c) {
                centre[c] += static_cast<double>(sum[1 + c]);
                next[c] += static_cast<double>(sum[1 + c]) * mean(code, c);
            }
        }
        int most = 0;
        for (int c = 0; c < channels; ++c) {
            centre[c] /= weight;
            next[c] -= centre[c] * centre[c] * weight;
            if (next[c] > next[most] * (1 + 1e-9)) most = c;
        }
        direction_.assign(channels, 0.0);
        direction_[most] = 1.0;
        for (int step = 0; step < kSteps; ++step) {
            next.assign(channels, 0.0);
            for (const int code : order_) {
                double along = 0;
                for (int c = 0; c < channels; ++c) along += direction_[c] * (mean(code, c) - centre[c]);
                along *= static_cast<double>(sums[rows_.cell(feature, code) * width_]);
                for (int c = 0; c < channels; ++c) next[c] += along * (mean(code, c) - centre[c]);
            }
            double largest = 0;
            for (const double x : next) largest = std::max(largest, std::fabs(x));
            if (largest == 0) return;
            for (int c = 0; c < channels; ++c) direction_[c] = next[c] / largest;
        }
    }

    // Gains of the cuts of a feature, with missing values on the right and on the left.
    void list_cuts(int feature, const std::vector<int64_t>& sums) {
        cuts_.clear();
        const int64_t* missing = &sums[rows_.cell(feature, rows_.n_codes[feature]) * width_];
        const int64_t* counted = &counted_[rows_.cell(feature, 0)];
        const int64_t all = std::accumulate(counted, counted + rows_.n_codes[feature] + 1, int64_t{0});
        for (const bool missing_left : {false, true}) {
            if (missing_left && missing[0] == 0) break;
            left_.assign(width_, 0);
            if (missing_left) add(missing, left_);
            int64_t counted_left = missing_left ? counted[rows_.n_codes[feature]] : 0;
            for (size_t i = 0; i < order_.size(); ++i) {
                add(&sums[rows_.cell(feature, order_[i]) * width_], left_);
                counted_left += counted[order_[i]];
                if (left_[0] < rules_.min_weight || counted_left < rules_.min_counted) continue;
                if (total_[0] - left_[0] < rules_.min_weight || all - counted_left < rules_.min_counted) break;
                right_.resize(width_);
                for (int j = 0; j < width_; ++j) right_[j] = total_[j] - left_[j];
                const double gain = explained(left_.data(), layout_, rules_.ridge) +
                                    explained(right_.data(), layout_, rules_.ridge) - whole_;
                if (gain > 1e-9 * whole_)
                    cuts_.push_back({gain, static_cast<double>(left_[0]) / static_cast<double>(total_[0]),
                                     static_cast<int>(i), missing_left});
            }
        }
    }

    SoftSplit split(int feature, const Cut& cut) const {
        SoftSplit split{feature, {}, cut.gain};
        for (int i = 0; i <= cut.last; ++i) split.left.add(order_[i]);
        if (!rows_.nominal[feature])
            for (int code = 0; code < order_[cut.last]; ++code) split.left.add(code);
        if (cut.missing_left) split.left.add(rows_.n_codes[feature]);
        return split;
    }

    const SoftRows& rows_;
    const LeafRules& rules_;
    TermSelection terms_;
    LeafModel model_;
    Layout layout_{0, 0};
    int width_ = 0;
    std::vector<int64_t> counts_, counted_, moments_, total_, left_, right_, row_;
    std::vector<double> direction_;
    double position_[kMostCodes];
    double whole_ = 0;
    std::vector<int> order_;
    std::vector<Cut> cuts_;
};

}  // namespace hornbeam::lookahead
