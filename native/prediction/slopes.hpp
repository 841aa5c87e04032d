// Predictions of leaves with slopes: terms that change the score of each class with the value of a feature.
//
//     score[k] = log(belief[k]) + sum of slope[k] * (clipped value - centre), in the order of the terms
//
// Probabilities are exp(score - largest score), divided by their sum in class order; belief 0 stays probability 0. A
// missing value adds nothing. In regression the terms are added to the mean. A node without terms predicts its belief.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "math/elementary.hpp"
#include "prediction/router.hpp"

namespace hornbeam {

// The arrays of slopes. The caller guarantees the sizes; contents are checked.
struct SlopeArrays {
    int64_t n_terms;
    int64_t n_outputs;
    const int32_t* node;
    const int32_t* feature;
    const int32_t* category;
    const double* low;
    const double* high;
    const double* centre;
    const double* slope;   // n_terms x n_outputs
    const double* belief;  // n_nodes x n_outputs
};

class SlopedLeaves {
  public:
    // Keeps a reference to the router.
    SlopedLeaves(const Router& router, const SlopeArrays& arrays, bool regression)
        : router_(&router), n_outputs_(arrays.n_outputs), regression_(regression) {
        if (router.fractional()) throw std::invalid_argument("the tree sends missing values to every child");
        used_ = router.used();
        n_features_ = router.n_features();
        nominal_ = router.nominal();
        const int64_t n_nodes = router.n_nodes(), k = n_outputs_;
        std::unordered_map<int32_t, bool> kinds(used_.begin(), used_.end());
        start_.assign(n_nodes + 1, 0);
        for (int64_t i = 0; i < arrays.n_terms; ++i) {
            const int32_t node = arrays.node[i];
            if (node < 0 || node >= n_nodes || (i > 0 && node < arrays.node[i - 1]))
                throw std::invalid_argument("term " + std::to_string(i) +
                                            ": nodes of the tree in ascending order expected");
            add_feature(arrays.feature[i], arrays.category[i] >= 0, kinds);
            terms_.push_back({arrays.low[i], arrays.high[i], arrays.centre[i], arrays.feature[i], arrays.category[i]});
            ++start_[node + 1];
        }
        for (int64_t node = 0; node < n_nodes; ++node) start_[node + 1] += start_[node];
        slope_.assign(arrays.slope, arrays.slope + arrays.n_terms * k);
        base_.assign(arrays.belief, arrays.belief + n_nodes * k);
        for (int64_t node = 0; node < n_nodes && !regression_; ++node)
            if (has_terms(node))
                for (int64_t j = node * k; j < (node + 1) * k; ++j) base_[j] = log_of(base_[j]);
    }

    const Router& router() const { return *router_; }
    int64_t n_outputs() const { return n_outputs_; }
    int64_t n_features() const { return n_features_; }
    bool nominal() const { return nominal_; }
    const std::vector<std::pair<int32_t, bool>>& used() const { return used_; }  // (feature, is nominal)

    // The prediction of a row that stopped at `node`.
    template <class Source>
    void predict(const Source& source, typename Source::Lane lane, int64_t node, double* out) const {
        std::copy_n(base_.data() + node * n_outputs_, n_outputs_, out);
        if (!has_terms(node)) return;
        add_terms(source, lane, node, out);
        if (!regression_) softmax(out);
    }

    // The first class of the largest score; needs room for the scores.
    template <class Source>
    int32_t decide(const Source& source, typename Source::Lane lane, int64_t node, double* scores) const {
        std::copy_n(base_.data() + node * n_outputs_, n_outputs_, scores);
        add_terms(source, lane, node, scores);
        return static_cast<int32_t>(std::max_element(scores, scores + n_outputs_) - scores);
    }

    // Adds the terms of a row, in order.
    template <class Source>
    void add_terms(const Source& source, typename Source::Lane lane, int64_t node, double* scores) const {
        for (int64_t i = start_[node]; i < start_[node + 1]; ++i) {
            const Term& term = terms_[i];
            double value;
            if (term.category >= 0) {
                const int32_t code = source.code(lane, term.feature);
                if (code == kMissingCode) continue;
                value = code == term.category ? 1.0 : 0.0;
            } else {
                value = source.number(lane, term.feature);
                if (std::isnan(value)) continue;
                value = value < term.low ? term.low : value > term.high ? term.high : value;
            }
            const double distance = value - term.centre;
            for (int64_t k = 0; k < n_outputs_; ++k) scores[k] += slope_[i * n_outputs_ + k] * distance;
        }
    }

  private:
    struct Term {
        double low, high, centre;
        int32_t feature, category;
    };

    bool has_terms(int64_t node) const { return start_[node] < start_[node + 1]; }

    void softmax(double* scores) const {
        const double largest = *std::max_element(scores, scores + n_outputs_);
        double sum = 0.0;
        for (int64_t k = 0; k < n_outputs_; ++k) sum += scores[k] = exp_of(scores[k] - largest);
        for (int64_t k = 0; k < n_outputs_; ++k) scores[k] /= sum;
    }

    void add_feature(int32_t feature, bool nominal, std::unordered_map<int32_t, bool>& kinds) {
        if (feature < 0) throw std::invalid_argument("feature " + std::to_string(feature) + ", expected 0 or more");
        const auto [found, is_new] = kinds.emplace(feature, nominal);
        if (found->second != nominal)
            throw std::invalid_argument("feature " + std::to_string(feature) +
                                        " read both as a number and as a category, expected one kind");
        if (!is_new) return;
        used_.emplace_back(feature, nominal);
        n_features_ = std::max(n_features_, int64_t{feature} + 1);
        nominal_ |= nominal;
    }

    const Router* router_;
    int64_t n_outputs_;
    bool regression_;
    std::vector<int64_t> start_;  // terms of node i: start_[i] up to start_[i + 1]
    std::vector<Term> terms_;
    std::vector<double> slope_;
    std::vector<double> base_;  // scores without terms: log of belief where there are terms, else belief
    std::vector<std::pair<int32_t, bool>> used_;
    int64_t n_features_ = 0;
    bool nominal_ = false;
};

}  // namespace hornbeam
