// Forward selection of the terms of a leaf: the numeric features and categories that explain most of its shares.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "lookahead/moments.hpp"

namespace hornbeam::lookahead {

struct LeafRules {
    int most_terms;       // 0 to 3
    double least_share;   // of the remaining squared distance that a term must explain
    double ridge;         // of the covariance matrix
    double cut_off;       // share of the values of a leaf that are clipped at either end
    int64_t min_weight;   // of a branch
    int64_t min_counted;  // part of the weight of a branch that is counted
};

struct LeafModel {
    Terms terms;
    double explained = 0.0;
    int64_t weight = 0;
};

class TermSelection {
  public:
    TermSelection(const SoftRows& rows, const LeafRules& rules)
        : rows_(rows), rules_(rules), crossed_(static_cast<size_t>(rules.most_terms)) {}

    // `counts` has the weight and the shares of each code of each feature in the leaf.
    LeafModel select(RowSpan leaf, const std::vector<int64_t>& counts) {
        LeafModel model;
        start(leaf, counts);
        model.weight = total_[0];
        model.explained = explained_by_means(total_.data(), rows_.n_channels);
        const double remaining = squared_ - model.explained;
        if (remaining <= 1e-9 * squared_) return model;
        list_candidates(counts);
        while (model.terms.size < rules_.most_terms) {
            const Candidate* best = nullptr;
            double most = rules_.least_share * remaining;
            for (Candidate& candidate : candidates_) {
                const double gain = gain_of(candidate);
                if (gain > most) {
                    most = gain;
                    best = &candidate;
                }
            }
            if (!best) break;
            model.explained += most;
            model.terms.at[model.terms.size++] = best->term;
            add(*best);
            if (model.terms.size < rules_.most_terms) sum_products(leaf, best->term);
        }
        sort(model.terms);
        return model;
    }

  private:
    // By feature, then by category; an insertion sort of three terms at most.
    static void sort(Terms& terms) {
        const auto before = [](const Term& a, const Term& b) {
            return a.feature != b.feature ? a.feature < b.feature : a.category < b.category;
        };
        for (int i = 1; i < terms.size; ++i)
            for (int j = i; j > 0 && before(terms.at[j], terms.at[j - 1]); --j) std::swap(terms.at[j], terms.at[j - 1]);
    }

    struct Candidate {
        Term term;
        double mean, variance;           // sums: of the value, and of its squared distance to the mean
        size_t covariances;              // position of the covariances with the shares
        double with_chosen[kMostTerms];  // covariances with the chosen terms
        bool chosen;
    };

    void start(RowSpan leaf, const std::vector<int64_t>& counts) {
        const int width = 1 + rows_.n_channels;
        total_.assign(width, 0);
        for (int code = 0; code <= rows_.n_codes[0]; ++code)
            for (int i = 0; i < width; ++i) total_[i] += counts[rows_.cell(0, code) * width + i];
        int64_t squared = 0;
        for (const int row : leaf) squared += rows_.squared[row];
        squared_ = static_cast<double>(squared);
        candidates_.clear();
        covariances_.clear();
        n_chosen_ = 0;
    }

    void list_candidates(const std::vector<int64_t>& counts) {
        const int width = 1 + rows_.n_channels;
        for (int feature = 0; feature < rows_.n_features; ++feature) {
            const int n = rows_.n_codes[feature];
            if (!rows_.nominal[feature]) add_candidate(clipped(feature, counts, width), counts, width, 0, n);
            else
                for (int code = n == 2 ? 1 : 0; n > 1 && code < n; ++code)  // of two categories, one says all
                    add_candidate({feature, code, 0, 0}, counts, width, code, code + 1);
        }
    }

    // A numeric feature, clipped so that at most a share of the known weight is outside at either end.
    Term clipped(int feature, const std::vector<int64_t>& counts, int width) const {
        const int n = rows_.n_codes[feature];
        const auto weight = [&](int code) { return static_cast<double>(counts[rows_.cell(feature, code) * width]); };
        double known = 0;
        for (int code = 0; code < n; ++code) known += weight(code);
        int low = 0, high = n - 1;
        for (double below = weight(low); low < high && below <= rules_.cut_off * known;) below += weight(++low);
        for (double above = weight(high); high > low && above <= rules_.cut_off * known;) above += weight(--high);
        return {feature, -1, low, high};
    }

    void add_candidate(Term term, const std::vector<int64_t>& counts, int width, int from, int to) {
        const double weight = static_cast<double>(total_[0]);
        double sum = 0, squares = 0;
        const size_t at = covariances_.size();
        covariances_.resize(at + rows_.n_channels, 0.0);
        for (int code = from; code < to; ++code) {
            const int64_t* count = &counts[rows_.cell(term.feature, code) * width];
            const double value = static_cast<double>(value_of_code(rows_, term, code));
            sum += value * static_cast<double>(count[0]);
            squares += value * value * static_cast<double>(count[0]);
            for (int c = 0; c < rows_.n_channels; ++c)
                covariances_[at + c] += value * static_cast<double>(count[1 + c]);
        }
        const double variance = squares - sum * sum / weight;
        if (variance <= weight) return covariances_.resize(at);  // it varies by less than one step
        for (int c = 0; c < rows_.n_channels; ++c)
            covariances_[at + c] -= sum * static_cast<double>(total_[1 + c]) / weight;
        candidates_.push_back({term, sum / weight, variance, at, {}, false});
    }

    // What a candidate explains beside the chosen terms.
    double gain_of(Candidate& candidate) {
        if (candidate.chosen) return 0;
        double left = candidate.variance * (1 + rules_.ridge);
        if (n_chosen_ > 0) candidate.with_chosen[n_chosen_ - 1] = covariance_with_last(candidate);
        double factor[kMostTerms];  // of each orthogonal direction in the candidate
        for (int t = 0; t < n_chosen_; ++t) {
            double entry = candidate.with_chosen[t];
            for (int v = 0; v < t; ++v) entry -= root_[t][v] * factor[v];
            factor[t] = entry / root_[t][t];
            left -= factor[t] * factor[t];
        }
        if (left <= 0.02 * candidate.variance) return 0;  // nearly a function of the chosen terms
        double gain = 0;
        for (int c = 0; c < rows_.n_channels; ++c) {
            double entry = covariances_[candidate.covariances + c];
            for (int t = 0; t < n_chosen_; ++t) entry -= factor[t] * solved_[t * rows_.n_channels + c];
            gain += entry * entry;
        }
        return gain / left;
    }

    // Extends the Cholesky factor and the solved shares by a term.
    void add(const Candidate& candidate) {
        const int m = n_chosen_++;
        double left = candidate.variance * (1 + rules_.ridge);
        for (int t = 0; t < m; ++t) {
            double entry = candidate.with_chosen[t];
            for (int v = 0; v < t; ++v) entry -= root_[t][v] * root_[m][v];
            root_[m][t] = entry / root_[t][t];
            left -= root_[m][t] * root_[m][t];
        }
        root_[m][m] = std::sqrt(left);
        solved_.resize(static_cast<size_t>(n_chosen_) * rows_.n_channels);
        for (int c = 0; c < rows_.n_channels; ++c) {
            double entry = covariances_[candidate.covariances + c];
            for (int t = 0; t < m; ++t) entry -= root_[m][t] * solved_[t * rows_.n_channels + c];
            solved_[m * rows_.n_channels + c] = entry / root_[m][m];
        }
        last_mean_ = candidate.mean;
        candidates_[static_cast<size_t>(&candidate - candidates_.data())].chosen = true;
    }

    // Sums of weight times the value of the last term, for each code of each feature.
    void sum_products(RowSpan leaf, const Term& term) {
        crossed_.assign(rows_.n_cells(), 0);
        for (const int row : leaf) {
            const uint8_t* codes = rows_.row(row);
            const int64_t product = rows_.weight[row] * value_of(rows_, term, codes);
            for (int f = 0; f < rows_.n_features; ++f) crossed_[rows_.cell(f, codes[f])] += product;
        }
    }

    double covariance_with_last(const Candidate& candidate) const {
        const Term& term = candidate.term;
        const int64_t* crossed = &crossed_[rows_.cell(term.feature, 0)];
        double sum = 0;
        for (int code = 0; code < rows_.n_codes[term.feature]; ++code)
            sum += static_cast<double>(value_of_code(rows_, term, code)) * static_cast<double>(crossed[code]);
        return sum - candidate.mean * last_mean_ * static_cast<double>(total_[0]);
    }

    const SoftRows& rows_;
    const LeafRules& rules_;
    std::vector<Candidate> candidates_;
    std::vector<double> covariances_, solved_;
    std::vector<int64_t> total_, crossed_;
    double root_[kMostTerms][kMostTerms];
    double squared_ = 0, last_mean_ = 0;
    int n_chosen_ = 0;
};

}  // namespace hornbeam::lookahead
