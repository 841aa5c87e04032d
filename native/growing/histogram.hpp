// Histograms: rows counted into cells [feature, code, class], or summed into cells [feature, code].
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "growing/entries.hpp"
#include "growing/split.hpp"

namespace hornbeam {

// Adds one row to the cell of each feature; `stride` cells per code. Four addresses are computed before the first
// addition: the compiler may not do that by itself, because a cell may alias a code.
template <class Cell, class Code, class Add>
[[gnu::always_inline]] inline void add_row(Cell* cells, const Code* code, const int64_t* offset, int n_features,
                                           int stride, const Add& add) {
    int f = 0;
    for (; f + 4 <= n_features; f += 4) {
        const int64_t a = (offset[f] + code[f]) * stride, b = (offset[f + 1] + code[f + 1]) * stride,
                      c = (offset[f + 2] + code[f + 2]) * stride, d = (offset[f + 3] + code[f + 3]) * stride;
        add(cells[a]);
        add(cells[b]);
        add(cells[c]);
        add(cells[d]);
    }
    for (; f < n_features; ++f) add(cells[(offset[f] + code[f]) * stride]);
}

// K: the number of classes if it is known at compile time, else 0.
template <int K, class Entry, class Code>
void count_rows_of(typename Entry::Cell* cells, const Rows<Code>& rows, int64_t begin, int64_t end,
                   const Features& features, int n_classes) {
    const int n_features = features.count;
    const int stride = K ? K : n_classes;
    const int64_t* offset = features.offset.data();
    const Code* code = rows.codes + begin * n_features;
    for (int64_t row = begin; row < end; ++row, code += n_features) {
        const typename Entry::Cell one = Entry::one(rows, row);
        add_row(cells + Entry::label(rows, row), code, offset, n_features, stride,
                [&one](typename Entry::Cell& cell) { Entry::add(cell, one); });
    }
}

template <class Entry, class Code>
void count_rows(typename Entry::Cell* cells, const Rows<Code>& rows, int64_t begin, int64_t end,
                const Features& features, int n_classes) {
    if (n_classes == 1) return count_rows_of<1, Entry>(cells, rows, begin, end, features, n_classes);
    if (n_classes == 2) return count_rows_of<2, Entry>(cells, rows, begin, end, features, n_classes);
    count_rows_of<0, Entry>(cells, rows, begin, end, features, n_classes);
}

// Histograms of one size. Memory is used again, because a new histogram costs page faults.
template <class Cell>
class HistogramPool {
  public:
    using Histogram = std::vector<Cell>;

    explicit HistogramPool(int64_t n_cells) : n_cells_(n_cells) {}

    // A histogram of zeros.
    Histogram acquire() {
        if (free_.empty()) return Histogram(n_cells_, Cell{});
        Histogram cells = std::move(free_.back());
        free_.pop_back();
        std::fill(cells.begin(), cells.end(), Cell{});
        return cells;
    }
    void release(Histogram cells) {
        if (!cells.empty()) free_.push_back(std::move(cells));
    }

  private:
    int64_t n_cells_;
    std::vector<Histogram> free_;
};

}  // namespace hornbeam
