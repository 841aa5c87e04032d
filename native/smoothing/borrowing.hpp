// Smoothing by borrowing: probabilities as functions of six strengths, and the loss of held-out rows with its
// derivatives.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "math/elementary.hpp"

namespace hornbeam {

// A node v borrows alpha_p rows with the class frequencies of each ancestor p, and a_0 rows of the uniform prior; each
// of its own rows counts n^own times:
//
//     alpha_p = exp(scale + size log n_p + depth log(1 + d_p) + impurity H_p),    a_0 = exp(prior)
//     theta_v = (n_v^own n_vk + sum_p alpha_p f_pk + a_0 / K) / (n_v^(1 + own) + sum_p alpha_p + a_0)
//
// Trees are concatenated, parents before children: a forward loop adds up what each node borrows, a backward loop adds
// up derivatives.
class Borrowing {
  public:
    static constexpr int64_t n_strengths = 6;  // scale, size, depth, impurity, prior, own
    using Strengths = std::array<double, n_strengths>;

    // evidence[n * K] in rows; the parent of a root is -1. A node without rows has the frequencies of its parent. The
    // default impurity is the entropy of the frequencies, at most 1.
    Borrowing(const int32_t* parent, const double* evidence, const double* impurity, int64_t n, int64_t K)
        : parent_(parent), evidence_(evidence), n_(n), K_(K), share_(n * K), total_(n), size_(n), depth_(n),
          impurity_(n), alpha_(n), own_(n), borrowed_(n * (K + 1)), active_(n), own_active_(n) {
        const double most = K > 1 ? log_of(static_cast<double>(K)) : 1.0;
        std::vector<int32_t> level(n);
        for (int64_t v = 0; v < n; ++v) {
            const int64_t p = parent[v];
            level[v] = p < 0 ? 0 : level[p] + 1;
            double total = 0.0, entropy = 0.0;
            for (int64_t k = 0; k < K; ++k) total += evidence[v * K + k];
            for (int64_t k = 0; k < K; ++k) {
                const double f = total > 0 ? evidence[v * K + k] / total : p < 0 ? 1.0 / K : share_[p * K + k];
                share_[v * K + k] = f;
                if (f > 0) entropy -= f * log_of(f);
            }
            total_[v] = total;
            size_[v] = log_of(std::max(total, 1.0));
            depth_[v] = log_of(1.0 + level[v]);
            impurity_[v] = impurity ? impurity[v] : entropy / most;
        }
    }

    // Fills theta[n * K], and the rows that each node borrows, in units of its own rows.
    void probabilities(const Strengths& w, double* theta, double* borrowed) {
        borrow(w);
        for (int64_t v = 0; v < n_; ++v) {
            const double* borrowed_v = &borrowed_[v * (K_ + 1)];
            const double total = own_[v] * total_[v] + borrowed_v[K_];
            for (int64_t k = 0; k < K_; ++k)
                theta[v * K_ + k] = (own_[v] * evidence_[v * K_ + k] + borrowed_v[k]) / total;
            borrowed[v] = borrowed_v[K_] / own_[v];
        }
    }

    // Squared loss of held-out rows, summed over rows and classes, and its derivatives by the strengths. held[n * K]:
    // rows of each class at the node where they stop.
    double loss(const Strengths& w, const double* held, Strengths& slope) {
        borrow(w);
        slope_.assign(n_ * (K_ + 1), 0.0);
        slope.fill(0.0);
        double loss = 0.0;
        for (int64_t v = n_ - 1; v >= 0; --v) {
            double* below = &slope_[v * (K_ + 1)];  // derivatives by what the descendants of v borrow
            double gain = below[K_];
            for (int64_t k = 0; k < K_; ++k) gain += below[k] * share_[v * K_ + k];
            gain *= active_[v] ? alpha_[v] : 0.0;
            slope[0] += gain;
            slope[1] += gain * size_[v];
            slope[2] += gain * depth_[v];
            slope[3] += gain * impurity_[v];
            loss += add_node(v, held + v * K_, below, slope);
            const int64_t p = parent_[v];
            if (p < 0) {
                double by_prior = below[K_];
                for (int64_t k = 0; k < K_; ++k) by_prior += below[k] / K_;
                slope[4] += by_prior * prior_;
            } else {
                for (int64_t k = 0; k <= K_; ++k) slope_[p * (K_ + 1) + k] += below[k];
            }
        }
        return loss;
    }

  private:
    static constexpr double kLeast = -10.0, kMost = 12.0;  // exponents are clamped to this range

    // borrowed_[v] = what v borrows of each class, and in total.
    void borrow(const Strengths& w) {
        prior_ = exp_of(std::clamp(w[4], kLeast, kMost));
        for (int64_t v = 0; v < n_; ++v) {
            const double power = w[0] + w[1] * size_[v] + w[2] * depth_[v] + w[3] * impurity_[v];
            active_[v] = power > kLeast && power < kMost;
            alpha_[v] = std::clamp(power, kLeast, kMost);
            own_active_[v] = w[5] * size_[v] > kLeast && w[5] * size_[v] < kMost;
            own_[v] = std::clamp(w[5] * size_[v], kLeast, kMost);
        }
        for (int64_t v = 0; v < n_; ++v) alpha_[v] = exp_inside(alpha_[v]);  // several at a time
        for (int64_t v = 0; v < n_; ++v) own_[v] = exp_inside(own_[v]);
        for (int64_t v = 0; v < n_; ++v) {
            const int64_t p = parent_[v];
            double* borrowed_v = &borrowed_[v * (K_ + 1)];
            if (p < 0) {
                for (int64_t k = 0; k < K_; ++k) borrowed_v[k] = prior_ / K_;
                borrowed_v[K_] = prior_;
            } else {
                const double* above = &borrowed_[p * (K_ + 1)];
                for (int64_t k = 0; k < K_; ++k) borrowed_v[k] = above[k] + alpha_[p] * share_[p * K_ + k];
                borrowed_v[K_] = above[K_] + alpha_[p];
            }
        }
    }

    // The loss of the held-out rows at v. Adds its derivatives by what v borrows to `below`, by v's own rows to the
    // slope.
    double add_node(int64_t v, const double* held, double* below, Strengths& slope) {
        double rows = 0.0;
        for (int64_t k = 0; k < K_; ++k) rows += held[k];
        if (rows == 0) return 0.0;
        const double* borrowed_v = &borrowed_[v * (K_ + 1)];
        const double total = own_[v] * total_[v] + borrowed_v[K_];
        double loss = rows, along = 0.0, by_own = 0.0;
        for (int64_t k = 0; k < K_; ++k) {
            const double theta = (own_[v] * evidence_[v * K_ + k] + borrowed_v[k]) / total;
            loss += (rows * theta - 2.0 * held[k]) * theta;
            const double by_theta = 2.0 * (rows * theta - held[k]) / total;
            below[k] += by_theta;
            along += by_theta * theta;
            by_own += by_theta * evidence_[v * K_ + k];
        }
        below[K_] -= along;
        if (own_active_[v]) slope[5] += (by_own - along * total_[v]) * own_[v] * size_[v];
        return loss;
    }

    const int32_t* parent_;
    const double* evidence_;
    int64_t n_, K_;
    std::vector<double> share_, total_, size_, depth_, impurity_;
    std::vector<double> alpha_, own_, borrowed_, slope_;
    std::vector<uint8_t> active_, own_active_;  // whether the exponent is not clamped
    double prior_ = 0.0;
};

}  // namespace hornbeam
