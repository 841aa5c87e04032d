// The categories of a subset split, in the order in which a sweep cuts them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "growing/category_order.hpp"
#include "growing/node_state.hpp"

namespace hornbeam {

template <class Criterion, class Entry>
class SubsetOrder {
    using State = NodeState<Criterion, Entry>;
    using Sum = typename State::Sum;
    using Totals = typename State::Totals;
    using Value = typename State::Value;
    using Cell = typename Entry::Cell;

  public:
    explicit SubsetOrder(State& state) : state_(state), order_(state.n_classes) {}

    // Entries whose codes are ranks. Valid until the next call.
    Span<Entry> arrange(Span<Entry> span) {
        Span<Entry> ranked = order_.sort(span);
        if constexpr (!Entry::sums) {
            if (state_.n_classes > 2 && order_.groups().size() <= kExhaustive)
                if (const uint32_t subset = best_subset()) ranked = order_.move_first(subset);
        }
        if (state_.rules.corrected) {
            state_.sizes.clear();
            for (const auto& group : order_.groups())
                state_.sizes.push_back(state_.independent_rows({group.first, group.last}));
        }
        return ranked;
    }

    // The category at each rank.
    const std::vector<uint32_t>& codes() const { return order_.codes(); }

    // Entries whose codes are the positions of the categories in the order of the whole tree. Valid until the next
    // call.
    Span<Entry> place(int f, Span<Entry> known) {
        const uint32_t k = state_.n_classes;
        const auto position_of = [position = state_.features.position + state_.features.offset[f]](const Entry& entry) {
            return static_cast<uint32_t>(std::max(0, position[code_of(entry.key)]));
        };
        uint32_t highest = 0;
        for (const Entry* entry = known.first; entry < known.last; ++entry)
            highest = std::max(highest, position_of(*entry));
        const size_t n_cells = static_cast<size_t>(highest + 1) * k;
        if (cells_.size() < n_cells) cells_.resize(n_cells, Cell{});
        for (const Entry* entry = known.first; entry < known.last; ++entry)
            Entry::add(cells_[position_of(*entry) * k + label_of(entry->key)], entry->as_cell());
        placed_.clear();
        for (size_t i = 0; i < n_cells; ++i) {
            if (!Entry::occupied(cells_[i])) continue;
            placed_.emplace_back(make_key(static_cast<uint32_t>(i / k), static_cast<uint32_t>(i % k)), cells_[i]);
            cells_[i] = Cell{};
        }
        return {placed_.data(), placed_.data() + placed_.size()};
    }

  private:
    static constexpr size_t kExhaustive = 10;  // up to this many categories all subsets are tried

    // With more than two classes no order of the categories is certain to contain the best subset, so all subsets are
    // tried while there are few. Bit i: the category at rank i is in the subset (the last category never is). 0: a cut
    // of the order is as good.
    uint32_t best_subset() {
        const auto& groups = order_.groups();
        const auto n = static_cast<int>(groups.size());
        if (n < 3) return 0;
        counts_.assign(state_.n_classes, 0);
        Totals totals{counts_.data(), Sum{}, 0, 0};
        for (const auto& group : groups)
            for (const Entry* e = group.first; e < group.last; ++e) {
                counts_[label_of(e->key)] += e->weight();
                totals.weight += e->weight();
                totals.rows += e->rows();
            }
        const Criterion& criterion = state_.criterion;
        for (const int64_t count : counts_) totals.sum += criterion.term(count);
        int64_t* left = state_.branch.data();
        Sum sum_left{}, sum_right = totals.sum;
        int64_t weight = 0, rows = 0;
        uint32_t in = 0, best = 0;
        Value ordered = std::numeric_limits<Value>::lowest(), best_value = ordered, bar = ordered;
        for (uint32_t step = 1; step < 1u << (n - 1); ++step) {  // Gray code: one category changes sides per step
            int rank = 0;
            while (!(step >> rank & 1)) ++rank;
            in ^= 1u << rank;
            const int64_t sign = in >> rank & 1 ? 1 : -1;
            for (const Entry* e = groups[rank].first; e < groups[rank].last; ++e) {
                const uint32_t k = label_of(e->key);
                const int64_t x = sign * e->weight(), l = left[k], r = counts_[k] - l;
                sum_left += criterion.term(l + x) - criterion.term(l);
                sum_right += criterion.term(r - x) - criterion.term(r);
                left[k] = l + x;
                weight += x;
                rows += sign * e->rows();
            }
            if (!state_.feasible(rows, weight) || !state_.feasible(totals.rows - rows, totals.weight - weight))
                continue;
            const Value value = criterion.value(sum_left, weight, [&](int k) {
                return left[k];
            }) + criterion.value(sum_right, totals.weight - weight, [&](int k) { return counts_[k] - left[k]; });
            if ((in & (in + 1)) == 0 && value > ordered) ordered = value;
            if (value > bar) best_value = value, bar = state_.raised(value), best = in;
        }
        std::fill(state_.branch.begin(), state_.branch.end(), 0);
        const bool none_ordered = ordered == std::numeric_limits<Value>::lowest();
        return best && (none_ordered || best_value > state_.raised(ordered)) ? best : 0;
    }

    State& state_;
    CategoryOrder<Entry> order_;
    std::vector<int64_t> counts_;
    std::vector<Cell> cells_;  // all zero between two calls
    std::vector<Entry> placed_;
};

}  // namespace hornbeam
