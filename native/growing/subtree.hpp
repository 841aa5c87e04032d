// Grows a subtree from one range of rows, depth first, with an explicit stack.
//
// Big nodes have a histogram: the smaller children are counted, the largest is the parent minus its siblings. Below
// them the rows are sorted once by each feature (sorted_rows.hpp). Where neither suits, a node reads its rows directly.
// All give the same rows in the same order to the same scan, so the limits between them cannot change a tree.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "growing/constraints.hpp"
#include "growing/grow_subtree.hpp"
#include "growing/histogram.hpp"
#include "growing/nodes.hpp"
#include "growing/partition.hpp"
#include "growing/path_rules.hpp"
#include "growing/scan.hpp"
#include "growing/sorted_rows.hpp"
#include "growing/variance.hpp"

namespace hornbeam {

template <class Criterion, class Code, class Entry>
class Subtree {
    using Cell = typename Entry::Cell;

  public:
    Subtree(const Rows<Code>& rows, const Features& features, const Rules& rules, const PathRules* paths, int n_classes,
            Progress progress)
        : features_(features), rules_(rules), paths_(paths), n_classes_(n_classes),
          n_channels_(Entry::channels(n_classes)), progress_(progress), reader_(features, n_classes),
          scanner_(features, rules, n_classes), nodes_(n_channels_), root_rows_(rows),
          pool_(features.cells() * n_classes), sorted_(features, n_classes) {}

    // `path`: the features that split the ancestors of the node.
    Nodes grow(int64_t begin, int64_t end, int64_t depth, Bounds bounds, uint64_t key,
               const std::vector<int32_t>& path) {
        std::vector<int64_t> evidence(n_channels_, 0);
        Entry::add_evidence(evidence.data(), root_rows_, begin, end);
        push(Open{root_rows_,
                  nullptr,
                  begin,
                  end,
                  depth,
                  bounds,
                  key,
                  paths_ ? paths_->after_path(path) : nullptr,
                  nodes_.add(-1, 0, end - begin, evidence.data()),
                  {},
                  false,
                  0});
        while (!stack_.empty() && !progress_.stopped()) {
            Open node = std::move(stack_.back());
            stack_.pop_back();
            expand(node);
        }
        return std::move(nodes_);
    }

  private:
    using Histogram = typename HistogramPool<Cell>::Histogram;

    struct Store {  // rows copied because some go to several children
        std::vector<Code> codes;
        std::vector<uint16_t> label;
        std::vector<int64_t> weight;
    };

    struct Open {
        Rows<Code> rows;
        std::shared_ptr<Store> store;
        int64_t begin, end, depth;
        Bounds bounds;
        uint64_t key;
        PathRules::Allowed allowed;  // nullptr: all features
        int32_t id;
        Histogram histogram;  // empty: counted later if the node is big
        bool is_sorted;       // begin and end are positions in the lists of `sorted_`, on this side of its memory
        int side;

        typename SortedRows<Code, Entry>::Part part() const { return {begin, end, side}; }
    };

    // With sampled features, counting these costs less than a histogram of all features.
    bool big(int64_t n) const {
        return rules_.max_features <= 0 && n >= kBig && n * features_.count * 2 >= features_.cells() * n_classes_;
    }

    // Sorts the rows of a node that is not big, for its whole subtree. All nodes of the subtree are finished before
    // another one is sorted, because growing is depth first.
    void sort_if_suitable(Open& node) {
        if (node.is_sorted || rules_.max_features > 0 || rules_.missing == Missing::fractional ||
            !sorted_.suits(node.end - node.begin))
            return;
        const auto part = sorted_.sort(node.rows, node.begin, node.end);
        node.is_sorted = true;
        node.begin = part.begin, node.end = part.end, node.side = part.side;
    }

    const int64_t* evidence_of(int32_t id) const { return nodes_.evidence.data() + int64_t{id} * n_channels_; }

    // Pushes a node that may be split; any other node is a finished leaf.
    void push(Open node) {
        const int64_t n = node.end - node.begin;
        if (splittable(evidence_of(node.id), n, node.depth)) stack_.push_back(std::move(node));
        else progress_.add(n);
    }

    bool splittable(const int64_t* evidence, int64_t n, int64_t depth) const {
        return Entry::mixed(evidence, n_classes_) &&
               may_split(rules_, n, Entry::weight_of(evidence, n_classes_), depth);
    }

    Split choose(Open& node) {
        if (node.histogram.empty() && !node.is_sorted) {
            if (big(node.end - node.begin)) {
                node.histogram = pool_.acquire();
                count_rows<Entry>(node.histogram.data(), node.rows, node.begin, node.end, features_, n_classes_);
            } else {
                sort_if_suitable(node);
            }
        }
        node_evidence_.assign(evidence_of(node.id), evidence_of(node.id) + n_channels_);
        const int64_t* evidence = node_evidence_.data();
        const NodeFacts facts{Entry::counts_of(evidence),
                              Entry::weight_of(evidence, n_classes_),
                              node.end - node.begin,
                              node.bounds,
                              node.key,
                              variance(node),
                              node.allowed ? node.allowed->feature.data() : nullptr,
                              node.allowed ? node.allowed->prices() : nullptr};
        if (!node.histogram.empty())
            return scanner_.best(facts, [&](int f) { return reader_.from_histogram(node.histogram.data(), f); });
        if (node.is_sorted)
            return scanner_.best(facts, [&](int f) { return sorted_.entries(node.part(), f, reader_); });
        return scanner_.best(facts, [&](int f) { return reader_.from_rows(node.rows, node.begin, node.end, f); });
    }

    double variance(const Open& node) const {
        if (!Entry::sums || !rules_.corrected) return 0;
        if (node.is_sorted)
            return variance_over(node.rows.numerator, node.rows.weight, rules_,
                                 [&](auto&& add) { sorted_.each_row(node.part(), add); });
        return variance_of(node.rows.numerator, node.rows.weight, node.begin, node.end, rules_);
    }

    void expand(Open& node) {
        const Split split = choose(node);
        if (!split.found()) {
            pool_.release(std::move(node.histogram));
            return progress_.add(node.end - node.begin);
        }
        nodes_.set_split(node.id, split, features_.nominal[split.feature]);
        if (split.missing_slot == kEveryChild) return distribute_fractional(node, split);
        if (node.is_sorted) return expand_sorted(node, split);

        const bool last_level = node.depth + 1 >= rules_.max_depth;
        if (last_level && !node.histogram.empty()) return add_leaves(node, split);

        partition(node.rows, node.begin, node.end, split.feature, split.slot_of.data(), split.n_slots, starts_);
        const int64_t first = add_children(node, split);
        std::vector<Histogram> histograms(split.n_slots);
        if (!node.histogram.empty()) histograms = child_histograms(node, split);
        const PathRules::Allowed allowed = allowed_below(node, split);
        for (int slot = split.n_slots - 1; slot >= 0; --slot)
            push(Open{node.rows, node.store, starts_[slot], starts_[slot + 1], node.depth + 1,
                      bounds_of(node, split, slot), child_key(node.key, slot), allowed,
                      static_cast<int32_t>(first + slot), std::move(histograms[slot]), false, 0});
    }

    // The lists are divided only if a child may be split again.
    void expand_sorted(const Open& node, const Split& split) {
        sorted_.assign(node.part(), split, n_channels_, slot_rows_, slot_evidence_);
        const int64_t first = nodes_.size();
        bool again = false;
        for (int slot = 0; slot < split.n_slots; ++slot) {
            const int64_t* evidence = slot_evidence_.data() + static_cast<int64_t>(slot) * n_channels_;
            nodes_.add(node.id, slot, slot_rows_[slot], evidence);
            again = again || splittable(evidence, slot_rows_[slot], node.depth + 1);
        }
        if (!again) return progress_.add(node.end - node.begin);
        sorted_.divide(node.part(), slot_rows_, starts_);
        const PathRules::Allowed allowed = allowed_below(node, split);
        for (int slot = split.n_slots - 1; slot >= 0; --slot)
            push(Open{node.rows,
                      node.store,
                      starts_[slot],
                      starts_[slot + 1],
                      node.depth + 1,
                      bounds_of(node, split, slot),
                      child_key(node.key, slot),
                      allowed,
                      static_cast<int32_t>(first + slot),
                      {},
                      true,
                      1 - node.side});
    }

    PathRules::Allowed allowed_below(const Open& node, const Split& split) const {
        return paths_ ? paths_->after(node.allowed, split.feature) : nullptr;
    }

    // Adds the children: all but the largest are counted, the largest is the parent minus its siblings.
    int64_t add_children(const Open& node, const Split& split) {
        const int largest = largest_child(split.n_slots);
        const int64_t first = nodes_.size();
        remainder_.assign(evidence_of(node.id), evidence_of(node.id) + n_channels_);
        for (int slot = 0; slot < split.n_slots; ++slot) {
            child_evidence_.assign(n_channels_, 0);
            if (slot != largest) {
                Entry::add_evidence(child_evidence_.data(), node.rows, starts_[slot], starts_[slot + 1]);
                for (int k = 0; k < n_channels_; ++k) remainder_[k] -= child_evidence_[k];
            }
            nodes_.add(node.id, slot, starts_[slot + 1] - starts_[slot], child_evidence_.data());
        }
        std::copy(remainder_.begin(), remainder_.end(), nodes_.evidence.begin() + (first + largest) * n_channels_);
        return first;
    }

    int largest_child(int n_slots) const {
        int largest = 0;
        for (int slot = 1; slot < n_slots; ++slot)
            if (starts_[slot + 1] - starts_[slot] > starts_[largest + 1] - starts_[largest]) largest = slot;
        return largest;
    }

    // Histograms of the big children; the largest reuses the parent's cells minus those of its siblings.
    std::vector<Histogram> child_histograms(Open& node, const Split& split) {
        std::vector<Histogram> histograms(split.n_slots);
        const int largest = largest_child(split.n_slots);
        const auto size = [&](int slot) { return starts_[slot + 1] - starts_[slot]; };
        if (!big(size(largest)) || node.depth + 1 >= rules_.max_depth) {
            pool_.release(std::move(node.histogram));
            return histograms;
        }
        for (int slot = 0; slot < split.n_slots; ++slot) {
            if (slot == largest) continue;
            Histogram cells = pool_.acquire();
            count_rows<Entry>(cells.data(), node.rows, starts_[slot], starts_[slot + 1], features_, n_classes_);
            for (size_t i = 0; i < cells.size(); ++i) Entry::subtract(node.histogram[i], cells[i]);
            if (big(size(slot))) histograms[slot] = std::move(cells);
            else pool_.release(std::move(cells));
        }
        histograms[largest] = std::move(node.histogram);
        return histograms;
    }

    // At the depth limit the children's counts are read from the histogram; no row is moved.
    void add_leaves(Open& node, const Split& split) {
        std::vector<int64_t> evidence(static_cast<size_t>(split.n_slots) * n_channels_, 0), rows(split.n_slots, 0);
        const Span<Entry> span = reader_.from_histogram(node.histogram.data(), split.feature);
        for (const Entry* entry = span.first; entry < span.last; ++entry) {
            const int slot = split.slot_of[code_of(entry->key)];
            Entry::add_evidence(evidence.data() + static_cast<size_t>(slot) * n_channels_, *entry);
            rows[slot] += entry->rows();
        }
        for (int slot = 0; slot < split.n_slots; ++slot)
            nodes_.add(node.id, slot, rows[slot], evidence.data() + static_cast<size_t>(slot) * n_channels_);
        pool_.release(std::move(node.histogram));
        progress_.add(node.end - node.begin);
    }

    // C4.5: a row whose value is missing goes to every child, with its weight distributed in proportion to the known
    // weight of the children, in integers; the last child gets the remainder.
    void distribute_fractional(Open& node, const Split& split) {
        const int n_slots = split.n_slots, f = split.feature, missing_code = features_.n_codes[f];
        std::vector<int64_t> known(n_slots, 0), n_rows(n_slots, 0);
        int64_t known_total = 0, n_missing = 0;
        for (int64_t row = node.begin; row < node.end; ++row) {
            const int code = node.rows.codes[row * features_.count + f];
            if (code == missing_code) {
                ++n_missing;
                continue;
            }
            known[split.slot_of[code]] += node.rows.weight[row];
            known_total += node.rows.weight[row];
            ++n_rows[split.slot_of[code]];
        }
        auto store = std::make_shared<Store>();
        starts_.assign(n_slots + 1, 0);
        for (int slot = 0; slot < n_slots; ++slot) starts_[slot + 1] = starts_[slot] + n_rows[slot] + n_missing;
        store->codes.resize(starts_[n_slots] * features_.count);
        store->label.resize(starts_[n_slots]);
        store->weight.resize(starts_[n_slots]);
        const Rows<Code> rows{store->codes.data(), store->label.data(), store->weight.data(), nullptr, features_.count};
        std::vector<int64_t> next(starts_.begin(), starts_.end() - 1);
        const auto append = [&](int slot, int64_t row, int64_t weight) {
            if (weight == 0) return;
            const int64_t at = next[slot]++;
            std::copy_n(node.rows.codes + row * features_.count, features_.count, rows.codes + at * features_.count);
            rows.label[at] = node.rows.label[row];
            rows.weight[at] = weight;
        };
        for (int64_t row = node.begin; row < node.end; ++row) {
            const int code = node.rows.codes[row * features_.count + f];
            const int64_t weight = node.rows.weight[row];
            if (code != missing_code) {
                append(split.slot_of[code], row, weight);
                continue;
            }
            int64_t used = 0;
            for (int slot = 0; slot < n_slots; ++slot) {
                const int64_t part = slot + 1 == n_slots || known_total == 0
                                         ? weight - used
                                         : static_cast<int64_t>(static_cast<Wide>(weight) * known[slot] / known_total);
                used += part;
                append(slot, row, part);
            }
        }
        const int64_t first = nodes_.size();
        for (int slot = 0; slot < n_slots; ++slot) {
            child_evidence_.assign(n_channels_, 0);
            Entry::add_evidence(child_evidence_.data(), rows, starts_[slot], next[slot]);
            nodes_.add(node.id, slot, next[slot] - starts_[slot], child_evidence_.data());
        }
        const PathRules::Allowed allowed = allowed_below(node, split);
        for (int slot = n_slots - 1; slot >= 0; --slot)
            push(Open{rows,
                      store,
                      starts_[slot],
                      next[slot],
                      node.depth + 1,
                      bounds_of(node, split, slot),
                      child_key(node.key, slot),
                      allowed,
                      static_cast<int32_t>(first + slot),
                      {},
                      false,
                      0});
    }

    Bounds bounds_of(const Open& node, const Split& split, int slot) const {
        const int64_t first = nodes_.size() - split.n_slots;
        return child_bounds(node.bounds, features_, split, slot, [&](int child) {
            const int64_t* evidence = evidence_of(static_cast<int32_t>(first + child));
            const double weight = static_cast<double>(Entry::weight_of(evidence, n_classes_));
            return static_cast<double>(evidence[1]) / (Entry::sums ? weight + rules_.ridge / rules_.unit : weight);
        });
    }

    static constexpr int64_t kBig = 1024;

    const Features& features_;
    const Rules& rules_;
    const PathRules* paths_;  // nullptr: every feature may split every node
    int n_classes_, n_channels_;
    Progress progress_;
    EntryReader<Code, Entry> reader_;
    Scanner<Criterion, Entry> scanner_;
    Nodes nodes_;
    Rows<Code> root_rows_;
    HistogramPool<Cell> pool_;
    SortedRows<Code, Entry> sorted_;
    std::vector<Open> stack_;
    std::vector<int64_t> slot_rows_, slot_evidence_, starts_, node_evidence_, child_evidence_, remainder_;
};

template <class Entry, class Code>
Nodes grow_subtree(int criterion, const Rows<Code>& rows, const Features& features, const Rules& rules,
                   const PathRules* paths, int n_classes, Progress progress, const FirstNode& first) {
    return with_criterion<Entry>(criterion, rules.total_weight, [&](auto type) {
        using Criterion = typename decltype(type)::type;
        return Subtree<Criterion, Code, Entry>(rows, features, rules, paths, n_classes, progress)
            .grow(first.begin, first.end, first.depth, first.bounds, first.key, first.path);
    });
}

}  // namespace hornbeam
