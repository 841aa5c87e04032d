// Regression of soft labels on the terms of a tree: one base per end of a path and output, one slope per term and
// output.
//
// The score of a class is the base of the node where a row ends plus the sum of slope * value over the terms of its
// path; the loss is the cross-entropy of the labels. With one output the score is the prediction, and the loss half of
// the squared error. Each squared slope costs a ridge.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "math/descent.hpp"
#include "math/elementary.hpp"
#include "terms/rows.hpp"

namespace hornbeam::terms {

class Regression {
    static constexpr double kTolerance = 1e-8;

  public:
    Regression(const Rows& rows, double ridge) : rows_(rows), ridge_(ridge), ends_(rows.n_ends) {
        const size_t k = rows.n_outputs;
        at_.assign(static_cast<size_t>(rows.n_ends) * k, 0.0);
        for (int e = 0; e < rows.n_ends; ++e) {
            std::vector<double> mean(k, 0.0);
            for (int64_t i = rows.start[e]; i < rows.start[e + 1]; ++i) {
                ends_[e].share += rows.weight[i];
                for (size_t c = 0; c < k; ++c) mean[c] += rows.weight[i] * rows.label[i * k + c];
            }
            for (size_t c = 0; c < k; ++c) {
                mean[c] /= std::max(ends_[e].share, kLeastShare);
                at_[e * k + c] = (k == 1 ? mean[c] : log_of(std::max(mean[c], kLeastMean))) * scale(ends_[e].share);
            }
        }
    }

    // Adds a term of a node; `value(row)` is standardised over the rows at the node and below it. The slope of the last
    // output is not negative with the sign 1, not positive with -1; of two outputs the other slope is its opposite.
    template <class Value>
    void add(int node, int sign, Value value) {
        double share = 0;
        const int term = static_cast<int>(shares_.size());
        for (const int e : rows_.ends_below(node)) {
            End& end = ends_[e];
            share += end.share;
            const int64_t begin = rows_.start[e], n = rows_.start[e + 1] - begin;
            const size_t before = end.terms.size();
            std::vector<double> values(n * (before + 1));
            for (int64_t i = 0; i < n; ++i) {
                std::copy_n(end.values.data() + i * before, before, &values[i * (before + 1)]);
                values[i * (before + 1) + before] = value(begin + i);
            }
            end.values = std::move(values);
            end.terms.push_back(term);
        }
        shares_.push_back(share);
        signs_.push_back(sign);
        at_.resize(at_.size() + rows_.n_outputs, 0.0);
    }

    // If the bases are `fixed`, they stay 0: the offsets of the rows contain them.
    void fit(int64_t steps, double tolerance = kTolerance, bool fixed = false) {
        const size_t k = rows_.n_outputs, n_bases = static_cast<size_t>(rows_.n_ends) * k;
        base_ridge_ = 10 * tolerance;
        Descent descent{Numbers(at_.size(), -kLargest), Numbers(at_.size(), kLargest), tolerance, tolerance, steps};
        for (size_t j = 0; j < n_bases && fixed; ++j) descent.low[j] = descent.high[j] = 0.0;
        for (size_t t = 0; t < signs_.size(); ++t)
            for (size_t c = 0; c < k && signs_[t] != 0; ++c) {
                const bool rises = (signs_[t] > 0) == (c + 1 == k);
                (rises ? descent.low : descent.high)[n_bases + t * k + c] = 0.0;
            }
        at_ = descent.minimise([&](const Numbers& at, Numbers& gradient) { return loss(at, gradient); }, at_);
    }

    // `visit(row, prediction)` for each row.
    template <class Visit>
    void predict(Visit visit) {
        for (int e = 0; e < rows_.n_ends; ++e) {
            score(e, at_);
            for (int64_t i = rows_.start[e]; i < rows_.start[e + 1]; ++i)
                visit(i, &prediction_[(i - rows_.start[e]) * rows_.n_outputs]);
        }
    }

    std::vector<double> slopes() const {
        std::vector<double> found;
        const size_t k = rows_.n_outputs;
        for (size_t t = 0; t < shares_.size(); ++t)
            for (size_t c = 0; c < k; ++c) found.push_back(at_[(rows_.n_ends + t) * k + c] / scale(shares_[t]));
        return found;
    }

    std::vector<double> bases() const {
        std::vector<double> found;
        const size_t k = rows_.n_outputs;
        for (int e = 0; e < rows_.n_ends; ++e)
            for (size_t c = 0; c < k; ++c) found.push_back(at_[static_cast<size_t>(e) * k + c] / scale(ends_[e].share));
        return found;
    }

  private:
    static constexpr double kLeastShare = 1e-12, kLeastMean = 1e-4, kLargest = 1e3;
    static constexpr double kLeastScore = -700.0;  // below the largest score: exp is about 1e-304

    struct End {
        double share = 0;
        std::vector<int> terms;
        std::vector<double> values;  // per row and term
    };

    // Coordinates are multiplied by this, so that a term of few rows is not moved more slowly.
    static double scale(double share) { return std::sqrt(std::max(share, kLeastShare)); }

    // Predictions of the rows of an end, and the logarithms of the sums of the odds.
    void score(int e, const Numbers& at) {
        const End& end = ends_[e];
        const size_t k = rows_.n_outputs;
        const int64_t n = rows_.start[e + 1] - rows_.start[e];
        const size_t m = end.terms.size();
        slope_.resize(m * k);
        for (size_t t = 0; t < m; ++t)
            for (size_t c = 0; c < k; ++c)
                slope_[t * k + c] = at[(rows_.n_ends + end.terms[t]) * k + c] / scale(shares_[end.terms[t]]);
        score_.resize(n * k);
        prediction_.resize(n * k);
        for (int64_t i = 0; i < n; ++i) {
            double* score = &score_[i * k];
            for (size_t c = 0; c < k; ++c) score[c] = at[e * k + c] / scale(end.share);
            if (rows_.offset)
                for (size_t c = 0; c < k; ++c) score[c] += rows_.offset[(rows_.start[e] + i) * k + c];
            const double* value = end.values.data() + i * m;
            for (size_t t = 0; t < m; ++t)
                for (size_t c = 0; c < k; ++c) score[c] += value[t] * slope_[t * k + c];
        }
        if (k == 1) {
            prediction_ = score_;
            return;
        }
        for (int64_t i = 0; i < n; ++i) {
            double* score = &score_[i * k];
            const double most = *std::max_element(score, score + k);
            for (size_t c = 0; c < k; ++c) score[c] = std::max(score[c] - most, kLeastScore);
        }
        for (int64_t i = 0; i < n * k; i += kExpBlock) {
            const int64_t block = std::min<int64_t>(kExpBlock, n * k - i);
            if (!exp_block(&score_[i], block, &prediction_[i]))
                std::transform(&score_[i], &score_[i] + block, &prediction_[i], exp_of);
        }
        sum_.resize(n);
        for (int64_t i = 0; i < n; ++i) {
            double sum = 0;
            for (size_t c = 0; c < k; ++c) sum += prediction_[i * k + c];
            for (size_t c = 0; c < k; ++c) prediction_[i * k + c] /= sum;
            sum_[i] = log_of(sum);
        }
    }

    double loss(const Numbers& at, Numbers& gradient) {
        const size_t k = rows_.n_outputs;
        std::fill(gradient.begin(), gradient.end(), 0.0);
        double total = 0;
        for (int e = 0; e < rows_.n_ends; ++e) {
            const End& end = ends_[e];
            const size_t m = end.terms.size();
            score(e, at);
            slope_.assign(m * k, 0.0);  // their derivatives
            base_.assign(k, 0.0);
            const int64_t begin = rows_.start[e];
            for (int64_t i = 0; i < rows_.start[e + 1] - begin; ++i) {
                const double weight = rows_.weight[begin + i];
                const double *label = &rows_.label[(begin + i) * k], *value = end.values.data() + i * m;
                double* error = &prediction_[i * k];
                double loss = 0;
                for (size_t c = 0; c < k; ++c) {
                    const double difference = error[c] - label[c];
                    loss += k == 1 ? 0.5 * difference * difference : label[c] * (sum_[i] - score_[i * k + c]);
                    error[c] = weight * difference;
                    base_[c] += error[c];
                }
                total += weight * loss;
                for (size_t t = 0; t < m; ++t)
                    for (size_t c = 0; c < k; ++c) slope_[t * k + c] += value[t] * error[c];
            }
            for (size_t c = 0; c < k; ++c) gradient[e * k + c] += base_[c] / scale(end.share);
            for (size_t t = 0; t < m; ++t)
                for (size_t c = 0; c < k; ++c)
                    gradient[(rows_.n_ends + end.terms[t]) * k + c] += slope_[t * k + c] / scale(shares_[end.terms[t]]);
        }
        const size_t n_bases = static_cast<size_t>(rows_.n_ends) * k;
        for (size_t j = 0; j < at.size(); ++j) {  // coordinates are scaled: the ridge of a term is relative to its rows
            const double ridge = j < n_bases ? base_ridge_ : ridge_;
            total += ridge * at[j] * at[j];
            gradient[j] += 2 * ridge * at[j];
        }
        return total;
    }

    const Rows& rows_;
    double ridge_;
    double base_ridge_ = 0;  // decides between scores that differ by a constant
    std::vector<End> ends_;
    std::vector<double> shares_;  // of the rows of each term
    std::vector<int> signs_;      // of each term
    Numbers at_;                  // bases, then slopes, scaled
    std::vector<double> score_, prediction_, sum_, slope_, base_;
};

}  // namespace hornbeam::terms
