// A whole subtree grown from one block of rows, depth first, with an explicit stack.
//
// Big nodes count all their cells: the smallest children afresh, the largest by subtraction. Small nodes read their
// rows directly. Both give the same entries to the same scan, so where the line lies cannot change a tree.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "growing/histogram.hpp"
#include "growing/partition.hpp"
#include "growing/scan.hpp"
#include "growing/variance.hpp"

namespace hornbeam {

// The nodes of a subtree in the order they were made: parents before children, siblings in slot order.
struct Nodes {
    explicit Nodes(int n_channels_) : n_channels(n_channels_) {}
    int n_channels;  // of evidence: the classes; or weight and sum
    std::vector<int32_t> parent, slot, feature, left, right, missing_slot;
    std::vector<double> gain;
    std::vector<int64_t> rows, evidence;
    std::vector<int64_t> map_start;  // nominal tests: where the node's slot map begins
    std::vector<int32_t> map;

    int32_t add(int32_t parent_, int32_t slot_, int64_t rows_, const int64_t* counts) {
        parent.push_back(parent_);
        slot.push_back(slot_);
        feature.push_back(-1);
        left.push_back(-1);
        right.push_back(-1);
        missing_slot.push_back(-1);
        gain.push_back(std::numeric_limits<double>::quiet_NaN());
        rows.push_back(rows_);
        evidence.insert(evidence.end(), counts, counts + n_channels);
        map_start.push_back(-1);
        return static_cast<int32_t>(parent.size()) - 1;
    }
    void test(int32_t node, const Split& split, bool nominal) {
        feature[node] = split.feature;
        left[node] = split.left;
        right[node] = split.right;
        missing_slot[node] = split.missing_slot;
        gain[node] = split.gain;
        if (nominal) {
            map_start[node] = static_cast<int64_t>(map.size());
            map.insert(map.end(), split.slot_of.begin(), split.slot_of.end() - 1);
        }
    }
};

// Written and read while other threads look on: progress out, interruption in.
struct Watch {
    volatile int64_t* settled;     // rows that have reached their leaf
    const volatile int64_t* stop;  // not 0: give up
};

template <class Criterion, class Code, class Entry>
class Subtree {
    using Cell = typename Entry::Cell;

  public:
    Subtree(const Rows<Code>& rows, const Features& features, const Rules& rules, int n_classes, Watch watch)
        : features_(features), rules_(rules), n_classes_(n_classes), n_channels_(Entry::channels(n_classes)),
          watch_(watch), reader_(features, n_classes), scanner_(features, rules, n_classes), nodes_(n_channels_),
          home_(rows) {}

    Nodes grow(int64_t begin, int64_t end, int64_t depth, Bounds bounds, uint64_t key) {
        std::vector<int64_t> evidence(n_channels_, 0);
        Entry::gather(evidence.data(), home_, begin, end);
        open(Open{home_, nullptr, begin, end, depth, bounds, key, nodes_.add(-1, 0, end - begin, evidence.data()), {}});
        while (!stack_.empty() && !*watch_.stop) {
            Open node = std::move(stack_.back());
            stack_.pop_back();
            expand(node);
        }
        return std::move(nodes_);
    }

  private:
    using Histogram = std::vector<Cell>;

    struct Store {  // rows copied because they go down several branches
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
        int32_t id;
        Histogram histogram;  // empty: to be counted if the node is big
    };

    // Where a node looks at some features only, counting these afresh costs less than keeping the cells of all.
    bool big(int64_t n) const {
        return rules_.max_features <= 0 && n >= kBig && n * features_.count * 2 >= features_.cells() * n_classes_;
    }

    const int64_t* evidence_of(int32_t id) const { return nodes_.evidence.data() + int64_t{id} * n_channels_; }

    // A node that may be split goes on the stack; the others are settled leaves.
    void open(Open node) {
        const int64_t* evidence = evidence_of(node.id);
        const int64_t n = node.end - node.begin;
        if (Entry::mixed(evidence, n_classes_) && n >= rules_.min_rows_split && n >= 2 * rules_.min_rows_leaf &&
            Entry::weight_of(evidence, n_classes_) >= 2 * rules_.min_weight_leaf && node.depth < rules_.max_depth)
            stack_.push_back(std::move(node));
        else settle(n);
    }

    void settle(int64_t n) { *watch_.settled = *watch_.settled + n; }

    Split choose(Open& node) {
        node_evidence_.assign(evidence_of(node.id), evidence_of(node.id) + n_channels_);
        const int64_t* evidence = node_evidence_.data();
        const Node facts{Entry::counts_of(evidence),
                         Entry::weight_of(evidence, n_classes_),
                         node.end - node.begin,
                         node.bounds,
                         node.key,
                         spread(node)};
        if (node.histogram.empty() && big(facts.rows)) {
            node.histogram = fresh();
            fill<Entry>(node.histogram.data(), node.rows, node.begin, node.end, features_, n_classes_);
        }
        if (!node.histogram.empty())
            return scanner_.best(facts, [&](int f) { return reader_.from_histogram(node.histogram.data(), f); });
        return scanner_.best(facts, [&](int f) { return reader_.from_rows(node.rows, node.begin, node.end, f); });
    }

    double spread(const Open& node) const {
        if (!Entry::sums || !rules_.corrected) return 0;
        return spread_of(node.rows.numerator, node.rows.weight, node.begin, node.end, rules_);
    }

    void expand(Open& node) {
        const Split split = choose(node);
        if (!split.found()) {
            keep(std::move(node.histogram));
            return settle(node.end - node.begin);
        }
        nodes_.test(node.id, split, features_.nominal[split.feature]);
        if (split.missing_slot == -2) return share_out(node, split);

        const bool last_level = node.depth + 1 >= rules_.max_depth;
        if (last_level && !node.histogram.empty()) return end_with_leaves(node, split);

        partition(node.rows, node.begin, node.end, split.feature, split.slot_of.data(), split.n_slots, starts_);
        const int64_t first = add_children(node, split);
        std::vector<Histogram> histograms(split.n_slots);
        if (!node.histogram.empty()) histograms = share(node, split);
        for (int slot = split.n_slots - 1; slot >= 0; --slot)
            open(Open{node.rows, node.store, starts_[slot], starts_[slot + 1], node.depth + 1,
                      bounds_of(node, split, slot), child_key(node.key, slot), static_cast<int32_t>(first + slot),
                      std::move(histograms[slot])});
    }

    // The children's counts: all but the largest are counted, the largest is what remains.
    int64_t add_children(const Open& node, const Split& split) {
        const int largest = largest_child(split.n_slots);
        const int64_t first = static_cast<int64_t>(nodes_.parent.size());
        rest_.assign(evidence_of(node.id), evidence_of(node.id) + n_channels_);
        for (int slot = 0; slot < split.n_slots; ++slot) {
            child_evidence_.assign(n_channels_, 0);
            if (slot != largest) {
                Entry::gather(child_evidence_.data(), node.rows, starts_[slot], starts_[slot + 1]);
                for (int k = 0; k < n_channels_; ++k) rest_[k] -= child_evidence_[k];
            }
            nodes_.add(node.id, slot, starts_[slot + 1] - starts_[slot], child_evidence_.data());
        }
        std::copy(rest_.begin(), rest_.end(), nodes_.evidence.begin() + (first + largest) * n_channels_);
        return first;
    }

    int largest_child(int n_slots) const {
        int largest = 0;
        for (int slot = 1; slot < n_slots; ++slot)
            if (starts_[slot + 1] - starts_[slot] > starts_[largest + 1] - starts_[largest]) largest = slot;
        return largest;
    }

    // Histograms of the big children: the largest inherits the parent's cells less those of its siblings.
    std::vector<Histogram> share(Open& node, const Split& split) {
        std::vector<Histogram> histograms(split.n_slots);
        const int largest = largest_child(split.n_slots);
        const auto size = [&](int slot) { return starts_[slot + 1] - starts_[slot]; };
        if (!big(size(largest)) || node.depth + 1 >= rules_.max_depth) {
            keep(std::move(node.histogram));
            return histograms;
        }
        for (int slot = 0; slot < split.n_slots; ++slot) {
            if (slot == largest) continue;
            Histogram cells = fresh();
            fill<Entry>(cells.data(), node.rows, starts_[slot], starts_[slot + 1], features_, n_classes_);
            for (size_t i = 0; i < cells.size(); ++i) Entry::take(node.histogram[i], cells[i]);
            if (big(size(slot))) histograms[slot] = std::move(cells);
            else keep(std::move(cells));
        }
        histograms[largest] = std::move(node.histogram);
        return histograms;
    }

    // At the depth limit the histogram already knows the children; no row needs to move.
    void end_with_leaves(Open& node, const Split& split) {
        std::vector<int64_t> evidence(static_cast<size_t>(split.n_slots) * n_channels_, 0), rows(split.n_slots, 0);
        const Span<Entry> span = reader_.from_histogram(node.histogram.data(), split.feature);
        for (const Entry* entry = span.first; entry < span.last; ++entry) {
            const int slot = split.slot_of[code_of(entry->key)];
            Entry::gather(evidence.data() + static_cast<size_t>(slot) * n_channels_, *entry);
            rows[slot] += entry->rows();
        }
        for (int slot = 0; slot < split.n_slots; ++slot)
            nodes_.add(node.id, slot, rows[slot], evidence.data() + static_cast<size_t>(slot) * n_channels_);
        keep(std::move(node.histogram));
        settle(node.end - node.begin);
    }

    // C4.5: a row whose value is missing goes to every child that has known rows, its weight shared out in proportion
    // to theirs; integer shares, the remainder to the last.
    void share_out(Open& node, const Split& split) {
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
        const auto put = [&](int slot, int64_t row, int64_t weight) {
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
                put(split.slot_of[code], row, weight);
                continue;
            }
            int64_t given = 0;
            for (int slot = 0; slot < n_slots; ++slot) {
                const int64_t part = slot + 1 == n_slots || known_total == 0
                                         ? weight - given
                                         : static_cast<int64_t>(static_cast<Wide>(weight) * known[slot] / known_total);
                given += part;
                put(slot, row, part);
            }
        }
        const int64_t first = static_cast<int64_t>(nodes_.parent.size());
        for (int slot = 0; slot < n_slots; ++slot) {
            child_evidence_.assign(n_channels_, 0);
            Entry::gather(child_evidence_.data(), rows, starts_[slot], next[slot]);
            nodes_.add(node.id, slot, next[slot] - starts_[slot], child_evidence_.data());
        }
        for (int slot = n_slots - 1; slot >= 0; --slot)
            open(Open{rows,
                      store,
                      starts_[slot],
                      next[slot],
                      node.depth + 1,
                      bounds_of(node, split, slot),
                      child_key(node.key, slot),
                      static_cast<int32_t>(first + slot),
                      {}});
    }

    // Below a cut of a monotone feature the two sides stay on their sides of the middle. Known and missing values are
    // in no order: a test that parts only them binds nobody.
    Bounds bounds_of(const Open& node, const Split& split, int slot) const {
        Bounds bounds = node.bounds;
        const int sign = features_.monotone ? features_.monotone[split.feature] : 0;
        const bool cuts = !features_.nominal[split.feature] && split.right < features_.n_codes[split.feature];
        if (sign == 0 || !cuts || slot > 1) return bounds;
        const int64_t first = static_cast<int64_t>(nodes_.parent.size()) - split.n_slots;
        const auto rate = [&](int child) {  // the share of the second class, or numerator / denominator
            const int64_t* evidence = evidence_of(static_cast<int32_t>(first + child));
            const double weight = static_cast<double>(Entry::weight_of(evidence, n_classes_));
            return static_cast<double>(evidence[1]) / (Entry::sums ? weight + rules_.ridge / rules_.unit : weight);
        };
        const double middle = (rate(0) + rate(1)) / 2;
        ((slot == 0) == (sign > 0) ? bounds.upper : bounds.lower) = middle;
        return bounds;
    }

    Histogram fresh() {
        if (spare_.empty()) return Histogram(features_.cells() * n_classes_, Cell{});
        Histogram cells = std::move(spare_.back());
        spare_.pop_back();
        std::fill(cells.begin(), cells.end(), Cell{});
        return cells;
    }
    void keep(Histogram cells) {
        if (!cells.empty()) spare_.push_back(std::move(cells));
    }

    static constexpr int64_t kBig = 1024;

    const Features& features_;
    const Rules& rules_;
    int n_classes_, n_channels_;
    Watch watch_;
    EntryReader<Code, Entry> reader_;
    Scanner<Criterion, Entry> scanner_;
    Nodes nodes_;
    Rows<Code> home_;
    std::vector<Open> stack_;
    std::vector<int64_t> starts_, node_evidence_, child_evidence_, rest_;
    std::vector<Histogram> spare_;
};

}  // namespace hornbeam
