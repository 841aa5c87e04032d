// Counting rows into cells [feature, code, class], or adding them up in cells [feature, code].
#pragma once

#include <cstdint>

#include "growing/entries.hpp"
#include "growing/split.hpp"

namespace hornbeam {

// K = 0: the number of classes is known at run time only. Four places are worked out before the first is counted: a
// code may alias anything, so the compiler would not do it.
template <int K, class Entry, class Code>
void fill_rows(typename Entry::Cell* cells, const Rows<Code>& rows, int64_t begin, int64_t end,
               const Features& features, int n_classes) {
    const int n_features = features.count;
    const int k = K ? K : n_classes;
    const int64_t* offset = features.offset.data();
    const Code* code = rows.codes + begin * n_features;
    for (int64_t row = begin; row < end; ++row, code += n_features) {
        typename Entry::Cell* mine = cells + Entry::label(rows, row);
        const typename Entry::Cell one = Entry::one(rows, row);
        int f = 0;
        for (; f + 4 <= n_features; f += 4) {
            const int64_t a = (offset[f] + code[f]) * k, b = (offset[f + 1] + code[f + 1]) * k,
                          c = (offset[f + 2] + code[f + 2]) * k, d = (offset[f + 3] + code[f + 3]) * k;
            Entry::add(mine[a], one);
            Entry::add(mine[b], one);
            Entry::add(mine[c], one);
            Entry::add(mine[d], one);
        }
        for (; f < n_features; ++f) Entry::add(mine[(offset[f] + code[f]) * k], one);
    }
}

template <class Entry, class Code>
void fill(typename Entry::Cell* cells, const Rows<Code>& rows, int64_t begin, int64_t end, const Features& features,
          int n_classes) {
    if (n_classes == 1) return fill_rows<1, Entry>(cells, rows, begin, end, features, n_classes);
    if (n_classes == 2) return fill_rows<2, Entry>(cells, rows, begin, end, features, n_classes);
    fill_rows<0, Entry>(cells, rows, begin, end, features, n_classes);
}

}  // namespace hornbeam
