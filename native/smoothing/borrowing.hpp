// How much to borrow, as a few numbers, and what rows that were held out say about them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "math/elementary.hpp"

namespace hornbeam {

// Every ancestor p of a node lends it alpha_p rows of its own frequencies, nobody in particular lends a_0 rows of
// all classes alike, and the node's own rows count n^own each:
//
//     alpha_p = exp(scale + size log n_p + depth log(1 + d_p) + impurity H_p),    a_0 = exp(prior)
//     theta_v = (n_v^own n_vk + sum_p alpha_p f_pk + a_0 / K) / (n_v^(1 + own) + sum_p alpha_p + a_0)
//
// Trees stand one behind the other, in each of them parents before children, so that one loop forwards hands loans
// down and one loop backwards gathers derivatives.
class Borrowing {
  public:
    static constexpr int64_t n_strengths = 6;  // scale, size, depth, impurity, prior, own
    using Strengths = std::array<double, n_strengths>;

    // evidence[n * K] in rows; a root's parent is -1. A node without rows has the frequencies of its parent. Without
    // impurity[n] it is the entropy of the frequencies, at most 1.
    Borrowing(const int32_t* parent, const double* evidence, const double* impurity, int64_t n, int64_t K)
        : parent_(parent), evidence_(evidence), n_(n), K_(K), share_(n * K), total_(n), size_(n), depth_(n),
          impurity_(n), lent_(n), own_(n), loan_(n * (K + 1)), moves_(n), own_moves_(n) {
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

    // Fills theta[n * K], and for each node the rows it borrows beside its own, each worth one of them.
    void believe(const Strengths& w, double* theta, double* borrowed) {
        lend(w);
        for (int64_t v = 0; v < n_; ++v) {
            const double* loan = &loan_[v * (K_ + 1)];
            const double whole = own_[v] * total_[v] + loan[K_];
            for (int64_t k = 0; k < K_; ++k) theta[v * K_ + k] = (own_[v] * evidence_[v * K_ + k] + loan[k]) / whole;
            borrowed[v] = loan[K_] / own_[v];
        }
    }

    // Squared loss of rows that were held out, held[n * K] of each class at the node where they stop, summed over
    // rows and classes; and its derivatives by the strengths.
    double loss(const Strengths& w, const double* held, Strengths& slope) {
        lend(w);
        slope_.assign(n_ * (K_ + 1), 0.0);
        slope.fill(0.0);
        double loss = 0.0;
        for (int64_t v = n_ - 1; v >= 0; --v) {
            double* below = &slope_[v * (K_ + 1)];  // by what is lent to v's descendants, v itself not yet among them
            // What v lends reaches all of them.
            double gain = below[K_];
            for (int64_t k = 0; k < K_; ++k) gain += below[k] * share_[v * K_ + k];
            gain *= moves_[v] ? lent_[v] : 0.0;
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
    static constexpr double least = -10.0, most = 12.0;  // of a logarithm: beyond, nothing changes any more

    // loan_[v] = what v is lent of each class, and in all.
    void lend(const Strengths& w) {
        prior_ = exp_of(std::clamp(w[4], least, most));
        for (int64_t v = 0; v < n_; ++v) {
            const double power = w[0] + w[1] * size_[v] + w[2] * depth_[v] + w[3] * impurity_[v];
            moves_[v] = power > least && power < most;
            lent_[v] = std::clamp(power, least, most);
            own_moves_[v] = w[5] * size_[v] > least && w[5] * size_[v] < most;
            own_[v] = std::clamp(w[5] * size_[v], least, most);
        }
        for (int64_t v = 0; v < n_; ++v) lent_[v] = exp_inside(lent_[v]);  // several at a time
        for (int64_t v = 0; v < n_; ++v) own_[v] = exp_inside(own_[v]);
        for (int64_t v = 0; v < n_; ++v) {
            const int64_t p = parent_[v];
            double* loan = &loan_[v * (K_ + 1)];
            if (p < 0) {
                for (int64_t k = 0; k < K_; ++k) loan[k] = prior_ / K_;
                loan[K_] = prior_;
            } else {
                const double* above = &loan_[p * (K_ + 1)];
                for (int64_t k = 0; k < K_; ++k) loan[k] = above[k] + lent_[p] * share_[p * K_ + k];
                loan[K_] = above[K_] + lent_[p];
            }
        }
    }

    // The loss of the rows held out at v; adds its derivatives by v's loan to `below`, by v's own rows to the slope.
    double add_node(int64_t v, const double* held, double* below, Strengths& slope) {
        double rows = 0.0;
        for (int64_t k = 0; k < K_; ++k) rows += held[k];
        if (rows == 0) return 0.0;
        const double* loan = &loan_[v * (K_ + 1)];
        const double whole = own_[v] * total_[v] + loan[K_];
        double loss = rows, along = 0.0, by_own = 0.0;
        for (int64_t k = 0; k < K_; ++k) {
            const double theta = (own_[v] * evidence_[v * K_ + k] + loan[k]) / whole;
            loss += (rows * theta - 2.0 * held[k]) * theta;
            const double by_theta = 2.0 * (rows * theta - held[k]) / whole;
            below[k] += by_theta;
            along += by_theta * theta;
            by_own += by_theta * evidence_[v * K_ + k];
        }
        below[K_] -= along;
        if (own_moves_[v]) slope[5] += (by_own - along * total_[v]) * own_[v] * size_[v];
        return loss;
    }

    const int32_t* parent_;
    const double* evidence_;
    int64_t n_, K_;
    std::vector<double> share_, total_, size_, depth_, impurity_;
    std::vector<double> lent_, own_, loan_, slope_;
    std::vector<uint8_t> moves_, own_moves_;  // whether a node's loan, or its own rows, answer to the strengths at all
    double prior_ = 0.0;
};

}  // namespace hornbeam
