// Forward selection of terms at any node of a tree: those that decrease the distance to soft labels most.
//
// In each round every node and feature has one candidate: of a numeric feature a range between two of its quantiles,
// or a narrow range (a step), of a nominal one a category. Its gain is that of one Newton step from the model so far.
// The best are added, and all slopes are fitted again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "terms/regression.hpp"

namespace hornbeam::terms {

struct Codes {
    int n_features;
    const uint8_t* codes;    // per row and feature; `n_codes` where it is missing
    const int32_t* n_codes;  // per feature
    const bool* nominal;     // per feature
    const double* value;     // per cell: of a number, or 1 for a category that can have a term
    const int8_t* sign;      // per feature: of the slope of the last output; 0: any
    const uint8_t* allowed;  // per node and feature: whether the node can have terms of the feature
    std::vector<int64_t> cell;

    int code(int64_t row, int feature) const { return codes[row * n_features + feature]; }
    bool allows(int node, int feature) const { return allowed[static_cast<size_t>(node) * n_features + feature]; }
};

struct SelectionRules {
    int most_terms, rounds;
    double least_share;  // of the distance to the labels without terms that a term must explain
    double least_gain;   // of the mean loss
    double ridge;
    int64_t steps;  // of each fit
};

struct Term {
    int node, feature, category;  // category -1: a numeric feature
    double low, high;
    double gain;
};

class Selection {
  public:
    Selection(const Rows& rows, const Codes& codes, const SelectionRules& rules)
        : rows_(rows), codes_(codes), rules_(rules), model_(rows, rules.ridge) {}

    std::vector<Term> run() {
        double least = 0;
        for (int round = 0; round < rules_.rounds && size() < rules_.most_terms; ++round) {
            linearise();
            if (round == 0) least = std::max(rules_.least_gain, rules_.least_share * distance_);
            std::vector<Term> found = candidates();
            std::stable_sort(found.begin(), found.end(), [](const Term& a, const Term& b) { return a.gain > b.gain; });
            const int left = rules_.rounds - round, quota = (rules_.most_terms - size() + left - 1) / left;
            const int before = size();
            for (const Term& term : found) {
                if (term.gain <= least || size() - before == quota) break;
                if (!overlaps(term, before)) terms_.push_back(term);
            }
            if (size() == before) break;
            for (int t = before; t < size(); ++t) add(terms_[t]);
            model_.fit(rules_.steps);
        }
        return terms_;
    }

  private:
    static constexpr int kKnots = 7;
    static constexpr double kQuantiles[kKnots] = {0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95};
    static constexpr double kEdge = 0.04;     // least share of the rows on each side of a step
    static constexpr double kStep = 0.8;      // of the gain of a step counts: ranges of many values are easier to read
    static constexpr double kRare = 0.005;    // of a category
    static constexpr double kDamping = 1e-3;  // of the curvature
    static constexpr double kLeastVariance = 1e-9, kSmall = 1e-9;
    static constexpr double kLeastRange = 1e-100, kMostRange = 1e100;  // squares beyond are 0 or infinite

    int size() const { return static_cast<int>(terms_.size()); }

    // The derivatives of the loss by the scores of each row, and the distance to the labels.
    void linearise() {
        const int k = rows_.n_outputs;
        slope_.resize(rows_.n_rows() * k);
        curvature_.resize(rows_.n_rows() * k);
        distance_ = 0;
        model_.predict([&](int64_t i, const double* p) {
            const double weight = rows_.weight[i];
            for (int c = 0; c < k; ++c) {
                const double y = rows_.label[i * k + c];
                slope_[i * k + c] = weight * (y - p[c]);
                curvature_[i * k + c] = k == 1 ? weight : weight * p[c] * (1 - p[c]);
                if (k == 1) distance_ += 0.5 * weight * (y - p[c]) * (y - p[c]);
                else if (y > kSmall) distance_ += weight * y * (log_of(y) - log_of(std::max(p[c], kSmall)));
            }
        });
    }

    // The best term of each node and feature.
    std::vector<Term> candidates() {
        std::vector<Term> found;
        for (int feature = 0; feature < codes_.n_features; ++feature) {
            count(feature);
            for (int node = 0; node < rows_.n_nodes; ++node) {
                if (!codes_.allows(node, feature)) continue;
                sum_ = &counts_[static_cast<size_t>(node) * codes_.n_codes[feature] * width()];
                Term best{node, feature, -1, 0, 0, 0};
                if (codes_.nominal[feature]) find_category(best);
                else if (!taken(node, feature, -1)) find_range(best);
                if (best.gain > 0) found.push_back(best);
            }
        }
        return found;
    }

    int width() const { return 1 + 2 * rows_.n_outputs; }
    double weight(int code) const { return sum_[code * width()]; }

    // For each node and code of a feature: the weight of the rows at the node and below it, their slopes and
    // curvatures.
    void count(int feature) {
        const int n = codes_.n_codes[feature], k = rows_.n_outputs;
        const size_t size = static_cast<size_t>(n) * width();
        counts_.assign(rows_.n_nodes * size, 0.0);
        for (int e = 0; e < rows_.n_ends; ++e)
            for (int64_t i = rows_.start[e]; i < rows_.start[e + 1]; ++i) {
                const int code = codes_.code(i, feature);
                if (code == n) continue;
                double* sum = &counts_[rows_.node_of_end[e] * size + code * width()];
                sum[0] += rows_.weight[i];
                for (int c = 0; c < k; ++c) {
                    sum[1 + c] += slope_[i * k + c];
                    sum[1 + k + c] += curvature_[i * k + c];
                }
            }
        for (int node = rows_.n_nodes - 1; node > 0; --node)
            for (size_t j = 0; j < size; ++j) counts_[rows_.parent[node] * size + j] += counts_[node * size + j];
    }

    bool taken(int node, int feature, int category) const {
        return std::any_of(terms_.begin(), terms_.end(), [&](const Term& term) {
            return term.node == node && term.feature == feature && term.category == category;
        });
    }

    // Two terms of one feature for the same rows are not added in one round.
    bool overlaps(const Term& term, int from) const {
        return std::any_of(terms_.begin() + from, terms_.end(), [&](const Term& other) {
            return other.feature == term.feature &&
                   rows_.is_below(std::max(term.node, other.node), std::min(term.node, other.node));
        });
    }

    // Sums over codes of weight, slope and curvature times powers of a value, up to each code.
    struct Moments {
        double weight = 0, first = 0, second = 0;
    };

    void find_category(Term& best) {
        const int n = codes_.n_codes[best.feature];
        sum_up(n, [](int) { return 0.0; });
        for (int code = n == 2 ? 1 : 0; code < n && n > 1; ++code) {  // of two categories, one says all
            if (codes_.value[codes_.cell[best.feature] + code] == 0 || weight(code) <= kRare * total(n)) continue;
            const double found = gain(best.feature, code, code, 0, 1, Shape::kCategory);
            if (found > best.gain && !taken(best.node, best.feature, code))
                best = {best.node, best.feature, code, 0, 1, found};
        }
    }

    void find_range(Term& best) {
        const int n = codes_.n_codes[best.feature];
        const double* value = &codes_.value[codes_.cell[best.feature]];
        seen_.clear();
        for (int code = 0; code < n; ++code)
            if (weight(code) > 0) seen_.push_back(code);
        if (seen_.size() < 2) return;
        sum_up(n, [](int) { return 0.0; });
        int knot[kKnots];
        size_t at = 0;
        for (int q = 0; q < kKnots; ++q) {
            while (at + 1 < seen_.size() && weight_up_to(seen_[at]) < kQuantiles[q] * total(n)) ++at;
            knot[q] = seen_[at];
        }
        // In units of the middle 90 %: far values, which are clipped, must not take the digits of the others.
        const double centre = value[knot[0]], range = value[knot[kKnots - 1]] - centre;
        if (!(range > kLeastRange && range < kMostRange)) return;
        const auto scaled = [&](int code) { return std::max(-1.0, std::min(2.0, (value[code] - centre) / range)); };
        sum_up(n, scaled);
        const auto compare = [&](int low, int high, double part) {
            const double found = part * gain(best.feature, low, high, scaled(low), scaled(high), Shape::kRange);
            if (found > best.gain && value[high] - value[low] < kMostRange)
                best = {best.node, best.feature, -1, value[low], value[high], found};
        };
        for (int a = 0; a < kKnots; ++a)
            for (int b = a + 1; b < kKnots; ++b)
                if (knot[a] < knot[b] && (a == 0 || knot[a] > knot[a - 1]) &&
                    (b + 1 == kKnots || knot[b] < knot[b + 1]))
                    compare(knot[a], knot[b], 1.0);
        for (size_t i = 1; i < seen_.size(); ++i) {  // steps
            const double below = weight_up_to(seen_[i - 1]) / total(n);
            if (below > kEdge && below < 1 - kEdge) compare(seen_[i - 1], seen_[i], kStep);
        }
    }

    // Fills `up_to_`: per code, the sums of all codes before it.
    template <class Value>
    void sum_up(int n, Value value) {
        const int w = width();
        up_to_.resize(static_cast<size_t>(n + 1) * w);
        std::fill_n(up_to_.begin(), w, Moments());
        for (int code = 0; code < n; ++code) {
            const double x = value(code);
            for (int j = 0; j < w; ++j) {
                const double sum = sum_[code * w + j];
                const Moments& before = up_to_[code * w + j];
                up_to_[(code + 1) * w + j] = {before.weight + sum, before.first + sum * x, before.second + sum * x * x};
            }
        }
    }

    double total(int n) const { return up_to_[n * width()].weight; }
    double weight_up_to(int code) const { return up_to_[(code + 1) * width()].weight; }

    enum class Shape { kCategory, kRange };

    // The sums of one column for a term: 1 for a category and 0 elsewhere, or a value that is clipped to `low` up to
    // the code `from`, and to `high` from the code `to` on.
    Moments moments(int column, int n, int from, int to, double low, double high, Shape shape) const {
        const auto up_to = [&](int code) -> const Moments& { return up_to_[code * width() + column]; };
        if (shape == Shape::kCategory) {
            const double inside = sum_[from * width() + column];
            return {up_to(n).weight, inside, inside};
        }
        const double left = up_to(from + 1).weight, right = up_to(n).weight - up_to(to).weight;
        return {up_to(n).weight, left * low + (up_to(to).first - up_to(from + 1).first) + right * high,
                left * low * low + (up_to(to).second - up_to(from + 1).second) + right * high * high};
    }

    // The decrease of the loss by one Newton step of the slope of each class, summed: with K classes K / (K - 1) times
    // that of all slopes together. 0 if the step is against the sign of the feature.
    double gain(int feature, int from, int to, double low, double high, Shape shape) const {
        const int n = codes_.n_codes[feature], k = rows_.n_outputs;
        const Moments own = moments(0, n, from, to, low, high, shape);
        if (own.weight <= 0) return 0;
        const double mean = own.first / own.weight, variance = own.second / own.weight - mean * mean;
        if (variance <= kLeastVariance) return 0;
        double gain = 0;
        for (int c = 0; c < k; ++c) {
            const Moments slope = moments(1 + c, n, from, to, low, high, shape),
                          curved = moments(1 + k + c, n, from, to, low, high, shape);
            const double moved = slope.first - mean * slope.weight;
            if (c + 1 == k && codes_.sign[feature] * moved < 0) return 0;
            const double curvature = curved.second - 2 * mean * curved.first + mean * mean * curved.weight;
            gain += 0.5 * moved * moved /
                    std::max(curvature + kDamping * curved.weight * variance + kLeastCurvature, kLeastCurvature);
        }
        return gain;
    }

    // Adds a term to the model, with its values standardised over the rows of its node.
    void add(const Term& term) {
        const int n = codes_.n_codes[term.feature];
        const double* cell = &codes_.value[codes_.cell[term.feature]];
        const auto value = [&](int code) {
            return term.category >= 0 ? (code == term.category ? 1.0 : 0.0)
                                      : std::max(term.low, std::min(term.high, cell[code]));
        };
        const std::vector<int> ends = rows_.ends_below(term.node);
        const auto visit = [&](auto each) {
            for (const int e : ends)
                for (int64_t i = rows_.start[e]; i < rows_.start[e + 1]; ++i)
                    if (codes_.code(i, term.feature) < n) each(rows_.weight[i], value(codes_.code(i, term.feature)));
        };
        double weight = 0, mean = 0, squares = 0;
        visit([&](double w, double x) {
            weight += w;
            mean += w * x;
        });
        mean /= weight;
        visit([&](double w, double x) { squares += w * (x - mean) * (x - mean); });
        const double scale = std::sqrt(squares / weight);
        model_.add(term.node, codes_.sign[term.feature], [&](int64_t i) {
            const int code = codes_.code(i, term.feature);
            return code == n || scale == 0 ? 0.0 : (value(code) - mean) / scale;
        });
    }

    static constexpr double kLeastCurvature = 1e-12;

    const Rows& rows_;
    const Codes& codes_;
    SelectionRules rules_;
    Regression model_;
    std::vector<Term> terms_;
    std::vector<double> slope_, curvature_, counts_;
    const double* sum_ = nullptr;  // of the node and feature that are looked at
    std::vector<Moments> up_to_;
    std::vector<int> seen_;
    double distance_ = 0;
};

}  // namespace hornbeam::terms
