// The Gibbs sampler of the hierarchical Dirichlet process of a tree.
//
// Every node is a restaurant. Rows that stop at a node are customers and eat their class; a dish k eaten by n customers
// is served at t tables, and every table sends one customer that eats k to the parent's restaurant:
//
//     root   n = (3, 2)          3 = 2 + 1, 2 = 0 + 2: the tables of its children; the root itself is integrated out
//      |-- A  n = (5, 0)  t = (2, 0)
//      `-- B  n = (1, 4)  t = (1, 2)
//
// Only ratios of neighbouring weights are needed, so there is no logarithm in the sweep and no gamma function
// anywhere. Only +, -, *, / and square roots are used (no libm): the same bits everywhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "math/rng.hpp"

namespace hornbeam {

// Ratios of unsigned Stirling numbers of the first kind, S(n, t + 1) / S(n, t), computed row by row on demand.
//
// S(n + 1, t) = S(n, t - 1) + n S(n, t) gives row n + 1 from row n, and ratios never overflow. A distant row is
// computed from the nearest stored milestone below it.
class StirlingRatios {
  public:
    static constexpr int64_t kMostTables = 2048;

    StirlingRatios() { widen(); }

    // Ratios for t = 1, ..., width() - 1 at index t; index 0 is unused. Valid until widen().
    const double* row(int64_t n) {
        if (n < kNear) {
            const double* known = near_[n].get();
            return known ? known : make(n);
        }
        const auto found = far_.find(n);
        return found != far_.end() ? found->second.get() : make(n);
    }

    int64_t width() const { return width_; }

    // Doubles the number of columns; all rows are computed again.
    void widen() {
        width_ = width_ ? 2 * width_ : 32;
        near_.clear();
        near_.resize(kNear);
        far_.clear();
        std::vector<double> first(width_, 0.0);  // S(1, 2) / S(1, 1) = 0
        store(1, first);
    }

  private:
    static constexpr int64_t kNear = 1 << 12, kMilestone = 1 << 10;

    const double* make(int64_t n) {
        int64_t m = n - 1;
        while (!known(m)) m = m > kNear ? (m - 1) / kMilestone * kMilestone : m - 1;  // row 1 is always known
        std::vector<double> ratio(known(m), known(m) + width_);
        for (; m < n; ++m) {
            step(m, ratio);
            if (m + 1 < kNear || (m + 1) % kMilestone == 0) store(m + 1, ratio);
        }
        return store(n, ratio);
    }

    // From row n to row n + 1: (1 + n r(t)) / (1 / r(t - 1) + n), where 1 / r(0) counts as 0.
    void step(int64_t n, std::vector<double>& ratio) const {
        const double size = static_cast<double>(n);
        double inverse = 0;
        for (int64_t t = 1; t < width_ && t <= n; ++t) {
            const double old = ratio[t];
            ratio[t] = (1 + size * old) / (inverse + size);
            inverse = 1 / old;  // infinite at t = n, where the loop ends
        }
    }

    const double* known(int64_t n) const {
        if (n < kNear) return near_[n].get();
        const auto found = far_.find(n);
        return found == far_.end() ? nullptr : found->second.get();
    }

    const double* store(int64_t n, const std::vector<double>& ratio) {
        std::unique_ptr<double[]>& place = n < kNear ? near_[n] : far_[n];
        if (!place) {
            place = std::make_unique<double[]>(width_);
            std::copy(ratio.begin(), ratio.end(), place.get());
        }
        return place.get();
    }

    int64_t width_ = 0;
    std::vector<std::unique_ptr<double[]>> near_;
    std::unordered_map<int64_t, std::unique_ptr<double[]>> far_;
};

struct HdpSettings {
    double root_concentration;
    double concentration;  // fixed, or the initial value
    bool sampled;
    double shape, rate;  // Gamma prior of a sampled concentration
    uint64_t seed;
};

// One Markov chain. Nodes in level order; own[u * n_classes + k] rows of class k stop at node u; nodes of one group
// have the same concentration (that of the root is fixed, and its group is ignored).
class HdpChain {
  public:
    HdpChain(const int32_t* parent, const int64_t* own, const int32_t* group, int64_t n_nodes, int64_t n_classes,
             int64_t n_groups, const HdpSettings& settings)
        : n_(n_nodes), k_(n_classes), settings_(settings), rng_(settings.seed), parent_(parent, parent + n_nodes),
          group_(group, group + n_nodes), customers_(own, own + n_nodes * n_classes), tables_(n_nodes * n_classes),
          total_(n_nodes), group_concentration_(n_groups, settings.concentration), concentration_(n_nodes),
          theta_(n_nodes * n_classes), belief_sum_(n_nodes * n_classes), concentration_sum_(n_nodes),
          tables_sum_(n_nodes) {
        initialise_tables();
        assign_concentration();
    }
    HdpChain(const HdpChain&) = delete;

    std::mutex in_use;  // one thread at a time

    void run(int64_t sweeps, bool record) {
        for (int64_t sweep = 0; sweep < sweeps; ++sweep) {
            for (int64_t u = n_ - 1; u > 0; --u)  // deepest first
                for (int64_t k = 0; k < k_; ++k)
                    if (customers_[u * k_ + k] > 1) sample_tables(u, k);
            if (settings_.sampled) sample_concentration();
            if (record) add_state();
        }
    }

    // Sums over the recorded sweeps, and their number.
    const std::vector<double>& belief_sum() const { return belief_sum_; }
    const std::vector<double>& concentration_sum() const { return concentration_sum_; }
    const std::vector<double>& tables_sum() const { return tables_sum_; }
    int64_t recorded() const { return recorded_; }
    int64_t n_nodes() const { return n_; }
    int64_t n_classes() const { return k_; }

  private:
    static constexpr int64_t kWindow = 21;
    static constexpr double kLeastConcentration = 1e-250, kMostConcentration = 1e250;  // so that no draw is infinite

    // One table per dish that is eaten at all: always a legal start.
    void initialise_tables() {
        for (int64_t u = n_ - 1; u >= 0; --u)
            for (int64_t k = 0; k < k_; ++k) {
                const int64_t n = customers_[u * k_ + k];
                total_[u] += n;
                if (u == 0 || n == 0) continue;
                tables_[u * k_ + k] = 1;
                ++customers_[parent_[u] * k_ + k];
            }
    }

    void assign_concentration() {
        concentration_[0] = settings_.root_concentration;
        for (int64_t u = 1; u < n_; ++u) concentration_[u] = group_concentration_[group_[u]];
    }

    // Draws t given all other tables, within a window. A window placed at random around t keeps the target distribution
    // invariant; a window centred on t would not.
    void sample_tables(int64_t u, int64_t k) {
        const int64_t p = parent_[u], n = customers_[u * k_ + k], t = tables_[u * k_ + k];
        const int64_t above = customers_[p * k_ + k], above_tables = tables_[p * k_ + k], above_total = total_[p];
        int64_t low = std::max<int64_t>(1, t - (above - above_tables));
        int64_t high = std::min(n, StirlingRatios::kMostTables - 1);
        if (high - low >= kWindow) {
            const int64_t begin = t - static_cast<int64_t>(rng_.uniform() * kWindow);
            low = std::max(low, begin);
            high = std::min(high, begin + kWindow - 1);
        }
        if (high == low) return;
        while (high >= ratios_.width()) ratios_.widen();

        double weight[kWindow], sum = 1;
        weight[0] = 1;
        const double* ratio = ratios_.row(n);
        const double c = concentration_[u], c_above = concentration_[p], c_root = c_above / static_cast<double>(k_);
        for (int64_t next = low + 1; next <= high; ++next) {
            const int64_t m = above - t + next - 1;  // customers above while there are next - 1 tables here
            double gain = static_cast<double>(m);
            if (p == 0) gain += c_root;
            else if (above_tables > 1) gain += 1 / ratios_.row(m)[above_tables - 1];
            const double all = c_above + static_cast<double>(above_total - t + next - 1);
            const double w = weight[next - low - 1] * (c * ratio[next - 1] * (gain / all));
            weight[next - low] = w;
            sum += w;
        }
        int64_t drawn = 0;
        for (double left = rng_.uniform() * sum - weight[0]; left > 0 && drawn < high - low; left -= weight[drawn])
            ++drawn;
        move(u, k, low + drawn);
    }

    void move(int64_t u, int64_t k, int64_t t) {
        const int64_t p = parent_[u], change = t - tables_[u * k_ + k];
        tables_[u * k_ + k] = t;
        customers_[p * k_ + k] += change;
        total_[p] += change;
    }

    // Auxiliary variables (Escobar and West 1995): given them a concentration is a gamma variable.
    void sample_concentration() {
        const size_t n_groups = group_concentration_.size();
        std::vector<double> shape(n_groups, settings_.shape), rate(n_groups, settings_.rate);
        for (int64_t u = 1; u < n_; ++u) {
            if (total_[u] == 0) continue;
            const double n = static_cast<double>(total_[u]);
            shape[group_[u]] += static_cast<double>(count_tables(u));
            rate[group_[u]] += rng_.log_inverse_beta(concentration_[u], n);
        }
        for (size_t g = 0; g < n_groups; ++g)
            group_concentration_[g] =
                std::clamp(rng_.gamma(shape[g]) / rate[g], kLeastConcentration, kMostConcentration);
        assign_concentration();
    }

    int64_t count_tables(int64_t u) const {
        int64_t sum = 0;
        for (int64_t k = 0; k < k_; ++k) sum += tables_[u * k_ + k];
        return sum;
    }

    // Adds the predictive probabilities of this state, from the root down.
    void add_state() {
        ++recorded_;
        for (int64_t u = 0; u < n_; ++u) {
            const double c = concentration_[u], scale = 1 / (static_cast<double>(total_[u]) + c);
            for (int64_t k = 0; k < k_; ++k) {
                const double base = u ? theta_[parent_[u] * k_ + k] : 1 / static_cast<double>(k_);
                const double theta = (static_cast<double>(customers_[u * k_ + k]) + c * base) * scale;
                theta_[u * k_ + k] = theta;
                belief_sum_[u * k_ + k] += theta;
            }
            concentration_sum_[u] += c;
            tables_sum_[u] += static_cast<double>(count_tables(u));
        }
    }

    int64_t n_, k_;
    HdpSettings settings_;
    Rng rng_;
    StirlingRatios ratios_;
    std::vector<int32_t> parent_, group_;
    std::vector<int64_t> customers_, tables_, total_;
    std::vector<double> group_concentration_, concentration_, theta_, belief_sum_, concentration_sum_, tables_sum_;
    int64_t recorded_ = 0;
};

}  // namespace hornbeam
