// Negative gradients and hessians of log loss.
#pragma once

#include <algorithm>
#include <cstdint>

#include "math/elementary.hpp"

namespace hornbeam {

// exp of some numbers, several at a time if all are in the range of the fast formula.
inline void exp_each(double* x, int64_t n) {
    if (!exp_block(x, n, x)) std::transform(x, x + n, x, exp_of);
}

// Two classes; a score is the log-odds of the second. With the probability p: the class minus p, and p (1 - p).
inline void log_loss_gradients(const double* score, const int32_t* target, int64_t n, double* gradient,
                               double* hessian) {
    for (int64_t begin = 0; begin < n; begin += kExpBlock) {
        const int64_t end = std::min(n, begin + kExpBlock);
        double raised[kExpBlock];
        for (int64_t i = begin; i < end; ++i) raised[i - begin] = -score[i];
        exp_each(raised, end - begin);
        for (int64_t i = begin; i < end; ++i) {
            const double p = 1.0 / (1.0 + raised[i - begin]);
            gradient[i] = target[i] - p;
            hessian[i] = p * (1.0 - p);
        }
    }
}

// K classes, with a score for each: [class, row]. The hessian is `factor` p (1 - p). Sums begin with the first class.
inline void softmax_gradients(const double* score, const int32_t* target, int64_t n, int64_t n_classes, double factor,
                              double* gradient, double* hessian) {
    for (int64_t begin = 0; begin < n; begin += kExpBlock) {
        const int64_t length = std::min(n - begin, kExpBlock);
        double largest[kExpBlock], sum[kExpBlock];
        std::copy_n(score + begin, length, largest);
        for (int64_t k = 1; k < n_classes; ++k)
            for (int64_t i = 0; i < length; ++i) largest[i] = std::max(largest[i], score[k * n + begin + i]);
        for (int64_t k = 0; k < n_classes; ++k) {
            double* raised = gradient + k * n + begin;
            for (int64_t i = 0; i < length; ++i) raised[i] = score[k * n + begin + i] - largest[i];
            exp_each(raised, length);
            for (int64_t i = 0; i < length; ++i) sum[i] = k ? sum[i] + raised[i] : raised[i];
        }
        for (int64_t k = 0; k < n_classes; ++k) {
            double *g = gradient + k * n + begin, *h = hessian + k * n + begin;
            for (int64_t i = 0; i < length; ++i) {
                const double p = g[i] / sum[i];
                g[i] = target[begin + i] == k ? 1.0 - p : -p;
                h[i] = factor * p * (1.0 - p);
            }
        }
    }
}

}  // namespace hornbeam
