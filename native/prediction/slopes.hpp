// Predictions of trees with slopes: terms of nodes that change the score of each class with the value of a feature.
//
//     score[k] = log(belief[k]) + sum of slope[k] * (clipped value - centre), over the terms of the path from the root
//
// Belief is that of the node where the row stops. Probabilities are exp(score - largest score), divided by their sum in
// class order; belief 0 stays probability 0. A missing value adds nothing. In regression the terms are added to the
// mean. A row without terms on its path has the belief of its node.
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
    const int32_t* parent;  // of each node, which comes before it; -1 for a root
    const int32_t* node;
    const int32_t* feature;
    const int32_t* category;
    const double* low;
    const double* high;
    const double* centre;
    const double* slope;   // n_terms x n_outputs
    const double* belief;  // n_nodes x n_outputs
};

class SlopedTree {
  public:
    // Keeps a reference to the router.
    SlopedTree(const Router& router, const SlopeArrays& arrays, bool regression)
        : router_(&router), n_outputs_(arrays.n_outputs), regression_(regression) {
        if (router.fractional()) throw std::invalid_argument("the tree sends missing values to every child");
        used_ = router.used();
        n_features_ = router.n_features();
        nominal_ = router.nominal();
        const int64_t n_nodes = router.n_nodes(), k = n_outputs_;
        std::unordered_map<int32_t, bool> kinds(used_.begin(), used_.end());
        for (int64_t i = 0; i < arrays.n_terms; ++i) {
            const int32_t node = arrays.node[i];
            if (node < 0 || node >= n_nodes || (i > 0 && node < arrays.node[i - 1]))
                throw std::invalid_argument("term " + std::to_string(i) +
                                            ": nodes of the tree in ascending order expected");
            add_feature(arrays.feature[i], arrays.category[i] >= 0, kinds);
        }
        add_paths(arrays, n_nodes);
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
        for (int64_t i = paths_[node].begin; i < paths_[node].end; ++i) {
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

    struct Range {
        int64_t begin, end;
    };

    bool has_terms(int64_t node) const { return paths_[node].begin < paths_[node].end; }

    // Lays the terms of each path side by side. A node without terms of its own has those of its parent, so terms of
    // the root alone are there once.
    void add_paths(const SlopeArrays& arrays, int64_t n_nodes) {
        paths_.assign(n_nodes, {0, 0});
        for (int64_t node = 0, i = 0; node < n_nodes; ++node) {
            const int32_t parent = arrays.parent[node];
            if (parent < -1 || parent >= node)
                throw std::invalid_argument("parent " + std::to_string(parent) + " of node " + std::to_string(node) +
                                            ", expected a node before it, or -1");
            if (parent >= 0) paths_[node] = paths_[parent];
            if (i == arrays.n_terms || arrays.node[i] != node) continue;
            const Range above = paths_[node];
            const int64_t begin = static_cast<int64_t>(terms_.size()), k = n_outputs_;
            for (int64_t j = above.begin; j < above.end; ++j) terms_.push_back(terms_[j]);
            for (int64_t j = above.begin * k; j < above.end * k; ++j) slope_.push_back(slope_[j]);
            for (; i < arrays.n_terms && arrays.node[i] == node; ++i) {
                terms_.push_back(
                    {arrays.low[i], arrays.high[i], arrays.centre[i], arrays.feature[i], arrays.category[i]});
                slope_.insert(slope_.end(), arrays.slope + i * k, arrays.slope + (i + 1) * k);
            }
            paths_[node] = {begin, static_cast<int64_t>(terms_.size())};
        }
    }

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
    std::vector<Range> paths_;  // the terms of the path of each node
    std::vector<Term> terms_;
    std::vector<double> slope_;  // n_outputs of each of `terms_`
    std::vector<double> base_;   // scores without terms: log of belief where there are terms, else belief
    std::vector<std::pair<int32_t, bool>> used_;
    int64_t n_features_ = 0;
    bool nominal_ = false;
};

}  // namespace hornbeam
