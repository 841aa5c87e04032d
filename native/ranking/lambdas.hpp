// LambdaMART: gradients and weights of rows from all pairs of a query, by the change of NDCG if the two swap positions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "math/elementary.hpp"

namespace hornbeam {

class Lambdas {
  public:
    Lambdas(double sigma, int64_t truncation, bool normalize)
        : sigma_(sigma), truncation_(truncation > 0 ? truncation : std::numeric_limits<int64_t>::max()),
          normalize_(normalize) {}

    // Adds the gradients and weights of one query's rows. Equal scores keep the order of the rows.
    void query(const int64_t* rows, int64_t n, const double* score, const double* gain, double* gradient,
               double* weight) {
        rank(rows, n, score);
        const double ideal = ideal_gain(rows, n, gain);
        if (!(ideal > 0)) return;
        const bool by_gap = normalize_ && score[rows[order_.front()]] != score[rows[order_.back()]];
        double total = 0;
        for (int64_t a = 0; a < std::min(n, truncation_); ++a) {
            for (int64_t b = a + 1; b < n; ++b) {
                const int64_t upper = rows[order_[a]], lower = rows[order_[b]];
                if (gain[upper] == gain[lower]) continue;
                const bool in_order = gain[upper] > gain[lower];
                const int64_t better = in_order ? upper : lower, worse = in_order ? lower : upper;
                const double gap = score[better] - score[worse];
                const double rho = 1.0 / (1.0 + exp_of(sigma_ * gap));
                double change = (gain[better] - gain[worse]) * (discount_[a] - discount_[b]) / ideal;
                if (by_gap) change /= kLeastGap + std::abs(gap);
                const double lambda = sigma_ * rho * change, curvature = sigma_ * sigma_ * rho * (1.0 - rho) * change;
                gradient[better] += lambda;
                gradient[worse] -= lambda;
                weight[better] += curvature;
                weight[worse] += curvature;
                total += 2.0 * lambda;
            }
        }
        if (normalize_ && total > 0) scale(rows, n, log2_of(1.0 + total) / total, gradient, weight);
    }

  private:
    void rank(const int64_t* rows, int64_t n, const double* score) {
        order_.resize(n);
        std::iota(order_.begin(), order_.end(), int64_t{0});
        std::stable_sort(order_.begin(), order_.end(),
                         [&](int64_t a, int64_t b) { return score[rows[a]] > score[rows[b]]; });
        for (auto r = static_cast<int64_t>(discount_.size()); r < n; ++r)
            discount_.push_back(1.0 / log2_of(2.0 + static_cast<double>(r)));
    }

    double ideal_gain(const int64_t* rows, int64_t n, const double* gain) {
        gains_.resize(n);
        for (int64_t i = 0; i < n; ++i) gains_[i] = gain[rows[i]];
        std::sort(gains_.begin(), gains_.end(), [](double a, double b) { return a > b; });
        double ideal = 0;
        for (int64_t r = 0; r < std::min(n, truncation_); ++r) ideal += gains_[r] * discount_[r];
        return ideal;
    }

    static void scale(const int64_t* rows, int64_t n, double factor, double* gradient, double* weight) {
        for (int64_t i = 0; i < n; ++i) {
            gradient[rows[i]] *= factor;
            weight[rows[i]] *= factor;
        }
    }

    static constexpr double kLeastGap = 0.01;  // added to the difference of two scores

    double sigma_;
    int64_t truncation_;
    bool normalize_;
    std::vector<int64_t> order_;
    std::vector<double> discount_, gains_;
};

}  // namespace hornbeam
