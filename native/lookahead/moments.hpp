// Sums over the rows of a branch, and how much of the squared distance to the shares a leaf of them explains.
//
// A leaf predicts a constant for each channel, or a linear function of up to three terms. A term is a numeric feature,
// with its values clipped to a range, or the indicator of a category.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "lookahead/soft_rows.hpp"

namespace hornbeam::lookahead {

constexpr int kMostTerms = 3;

struct Term {
    int feature;
    int category;   // -1: the value of a numeric feature
    int low, high;  // codes between which its values are clipped
};

inline int64_t value_of_code(const SoftRows& rows, const Term& term, int code) {
    if (term.category >= 0) return code == term.category ? kUnitValue : 0;
    if (code == rows.n_codes[term.feature]) return 0;
    return rows.value[rows.cell(term.feature, std::max(term.low, std::min(term.high, code)))];
}

inline int64_t value_of(const SoftRows& rows, const Term& term, const uint8_t* codes) {
    return value_of_code(rows, term, codes[term.feature]);
}

struct Terms {
    Term at[kMostTerms];
    int size = 0;
};

// Positions of the sums of a branch: weight, shares, values of the terms, their products, products with the shares.
struct Layout {
    int channels, terms;
    int shares() const { return 1; }
    int values() const { return 1 + channels; }
    int products() const { return values() + terms; }
    int crossed() const { return products() + terms * (terms + 1) / 2; }
    int size() const { return crossed() + terms * channels; }
};

// The sums of one row.
inline void sums_of_row(const SoftRows& rows, const Terms& terms, int row, int64_t* out) {
    const int64_t weight = rows.weight[row];
    const int32_t* share = rows.shares(row);
    int64_t value[kMostTerms];
    for (int t = 0; t < terms.size; ++t) value[t] = value_of(rows, terms.at[t], rows.row(row));
    *out++ = weight;
    for (int c = 0; c < rows.n_channels; ++c) *out++ = share[c];
    for (int t = 0; t < terms.size; ++t) *out++ = weight * value[t];
    for (int t = 0; t < terms.size; ++t)
        for (int u = 0; u <= t; ++u) *out++ = weight * value[t] * value[u];
    for (int t = 0; t < terms.size; ++t)
        for (int c = 0; c < rows.n_channels; ++c) *out++ = value[t] * share[c];
}

// The squared distance explained by the mean of each channel.
inline double explained_by_means(const int64_t* sums, int channels) {
    double squares = 0;
    for (int c = 1; c <= channels; ++c) squares += static_cast<double>(sums[c]) * static_cast<double>(sums[c]);
    return squares / static_cast<double>(sums[0]);
}

// The squared distance explained by a linear function of the terms, by ridge regression. The ridge is relative to the
// variance of each term, plus a small absolute part for terms that hardly vary in the branch.
inline double explained(const int64_t* sums, Layout layout, double ridge) {
    const int m = layout.terms, channels = layout.channels;
    const double weight = static_cast<double>(sums[0]);
    double total = explained_by_means(sums, channels);
    if (m == 0) return total;
    const int64_t *value = sums + layout.values(), *product = sums + layout.products(),
                  *crossed = sums + layout.crossed();
    double root[kMostTerms][kMostTerms];  // Cholesky factor of the covariance matrix
    for (int t = 0; t < m; ++t) {
        for (int u = 0; u <= t; ++u) {
            double entry = static_cast<double>(*product++) -
                           static_cast<double>(value[t]) * static_cast<double>(value[u]) / weight;
            if (t == u) entry += ridge * (entry + weight);
            for (int v = 0; v < u; ++v) entry -= root[t][v] * root[u][v];
            if (t != u) root[t][u] = entry / root[u][u];
            else if (entry > 0) root[t][t] = std::sqrt(entry);
            else return total;
        }
    }
    for (int c = 0; c < channels; ++c) {
        double solved[kMostTerms];
        for (int t = 0; t < m; ++t) {
            double entry = static_cast<double>(crossed[t * channels + c]) -
                           static_cast<double>(value[t]) * static_cast<double>(sums[1 + c]) / weight;
            for (int v = 0; v < t; ++v) entry -= root[t][v] * solved[v];
            solved[t] = entry / root[t][t];
            total += solved[t] * solved[t];
        }
    }
    return total;
}

}  // namespace hornbeam::lookahead
