// Multinomial logistic regression of class probabilities on a few terms, for the rows of one leaf.
//
// The score of a class is log(mean probability) + sum over terms of slope * (value - centre). A term has one slope per
// class and one centre for all. Newton steps for the slopes of one class at a time, then for the centres; the curvature
// has a lower bound, so that rows predicted with certainty do not make steps too long.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "lookahead/moments.hpp"
#include "math/elementary.hpp"

namespace hornbeam::lookahead {

// Cholesky solution of a small positive definite system, in place.
inline void solve(double (&matrix)[kMostTerms][kMostTerms], double (&x)[kMostTerms], int n) {
    for (int t = 0; t < n; ++t) {
        for (int u = 0; u <= t; ++u) {
            for (int v = 0; v < u; ++v) matrix[t][u] -= matrix[t][v] * matrix[u][v];
            matrix[t][u] = t == u ? std::sqrt(std::max(matrix[t][t], 1e-12)) : matrix[t][u] / matrix[u][u];
        }
        for (int u = 0; u < t; ++u) x[t] -= matrix[t][u] * x[u];
        x[t] /= matrix[t][t];
    }
    for (int t = n - 1; t >= 0; --t) {
        for (int u = t + 1; u < n; ++u) x[t] -= matrix[u][t] * x[u];
        x[t] /= matrix[t][t];
    }
}

class LogOdds {
  public:
    // `values`: per row and term, of mean 0 and variance 1. `probability`: per row and class.
    LogOdds(const double* values, const double* probability, const double* weight, int64_t n_rows, int n_terms,
            int n_classes)
        : values_(values), probability_(probability), weight_(weight), n_(n_rows), m_(n_terms), k_(n_classes) {}

    // Stops after `sweeps`, or once no coefficient moves. Centres stay between `low` and `high`.
    void fit(double ridge, int sweeps, const double* low, const double* high) {
        start();
        for (int sweep = 0; sweep < sweeps; ++sweep) {
            double moved = 0;
            for (int c = 0; c < k_; ++c) moved = std::max(moved, move_slopes(c, ridge));
            moved = std::max(moved, move_centres(low, high));
            if (moved < 1e-6) break;
        }
    }

    std::vector<double>& slopes() { return slope_; }    // per term and class
    std::vector<double>& centres() { return centre_; }  // per term

  private:
    static constexpr double kLeastMean = 1e-4, kLeastCurvature = 0.01, kLargest = 40.0, kCancelled = 1e-8;
    // Longest step of a slope: longer ones overshoot where few rows differ from the rest.
    static constexpr double kLongest = 1.0;

    void start() {
        slope_.assign(static_cast<size_t>(m_) * k_, 0.0);
        centre_.assign(m_, 0.0);
        base_.assign(k_, 0.0);
        total_ = 0;
        for (int64_t i = 0; i < n_; ++i) {
            total_ += weight_[i];
            for (int c = 0; c < k_; ++c) base_[c] += weight_[i] * probability_[i * k_ + c];
        }
        for (double& base : base_) base = log_of(std::max(base / total_, kLeastMean));
        odds_.resize(n_ * k_);
        sum_.resize(n_);
        recompute();
    }

    double odds(int64_t row, int c) const {
        double score = base_[c];
        for (int t = 0; t < m_; ++t) score += slope_[t * k_ + c] * (values_[row * m_ + t] - centre_[t]);
        return exp_of(std::max(-kLargest, std::min(kLargest, score)));
    }

    void recompute() {
        for (int64_t i = 0; i < n_; ++i) {
            for (int c = 0; c < k_; ++c) odds_[i * k_ + c] = odds(i, c);
            add_up(i);
        }
    }

    void add_up(int64_t row) {
        sum_[row] = 0;
        for (int c = 0; c < k_; ++c) sum_[row] += odds_[row * k_ + c];
    }

    // Moves the slopes of a class; returns the largest change.
    double move_slopes(int c, double ridge) {
        double step[kMostTerms] = {}, hessian[kMostTerms][kMostTerms] = {};
        for (int64_t i = 0; i < n_; ++i) {
            const double p = odds_[i * k_ + c] / sum_[i];
            const double error = weight_[i] * (p - probability_[i * k_ + c]);
            const double curvature = weight_[i] * std::max(p * (1 - p), kLeastCurvature);
            for (int t = 0; t < m_; ++t) {
                const double x = values_[i * m_ + t] - centre_[t];
                step[t] += error * x;
                for (int u = 0; u <= t; ++u) hessian[t][u] += curvature * x * (values_[i * m_ + u] - centre_[u]);
            }
        }
        for (int t = 0; t < m_; ++t) {
            step[t] = step[t] / total_ + 2 * ridge * slope_[t * k_ + c];
            for (int u = 0; u <= t; ++u) hessian[t][u] /= total_;
            hessian[t][t] += 2 * ridge;
        }
        solve(hessian, step, m_);
        double moved = 0;
        for (int t = 0; t < m_; ++t) moved = std::max(moved, std::fabs(step[t]));
        const double scale = moved > kLongest ? kLongest / moved : 1.0;
        for (int t = 0; t < m_; ++t) slope_[t * k_ + c] -= scale * step[t];
        for (int64_t i = 0; i < n_; ++i) {
            const double before = sum_[i];
            const double now = odds(i, c);
            sum_[i] += now - odds_[i * k_ + c];
            odds_[i * k_ + c] = now;
            // The difference has lost its digits: the other classes are far below what this one was.
            if (sum_[i] < kCancelled * before) add_up(i);
        }
        return moved;
    }

    // Moves the centres, so that the mean prediction of each class comes as near to the mean of its labels as one
    // centre per term allows; returns the largest change.
    double move_centres(const double* low, const double* high) {
        double step[kMostTerms] = {}, hessian[kMostTerms][kMostTerms] = {};
        std::vector<double> p(k_);
        for (int64_t i = 0; i < n_; ++i) {
            double mean[kMostTerms] = {};  // slope of each term, weighted by the predictions
            for (int c = 0; c < k_; ++c) {
                p[c] = odds_[i * k_ + c] / sum_[i];
                for (int t = 0; t < m_; ++t) mean[t] += p[c] * slope_[t * k_ + c];
            }
            for (int c = 0; c < k_; ++c)
                for (int t = 0; t < m_; ++t) {
                    step[t] -= weight_[i] * (p[c] - probability_[i * k_ + c]) * slope_[t * k_ + c];
                    for (int u = 0; u <= t; ++u)
                        hessian[t][u] +=
                            weight_[i] * p[c] * (slope_[t * k_ + c] - mean[t]) * (slope_[u * k_ + c] - mean[u]);
                }
        }
        for (int t = 0; t < m_; ++t) {
            step[t] /= total_;
            for (int u = 0; u <= t; ++u) hessian[t][u] /= total_;
            hessian[t][t] += 1e-3;
        }
        for (int t = 0; t < m_; ++t) {  // a centre at its limit stays there, and the others move without it
            if (step[t] < 0 ? centre_[t] < high[t] : centre_[t] > low[t]) continue;
            step[t] = 0;
            for (int u = 0; u < m_; ++u)
                if (u != t) hessian[std::max(t, u)][std::min(t, u)] = 0;
        }
        solve(hessian, step, m_);
        double moved = 0;
        for (int t = 0; t < m_; ++t) {
            const double now = std::max(low[t], std::min(high[t], centre_[t] - step[t]));
            moved = std::max(moved, std::fabs(now - centre_[t]));
            centre_[t] = now;
        }
        recompute();
        return moved;
    }

    const double *values_, *probability_, *weight_;
    int64_t n_;
    int m_, k_;
    double total_ = 0;
    std::vector<double> slope_, centre_, base_, odds_, sum_;
};

}  // namespace hornbeam::lookahead
