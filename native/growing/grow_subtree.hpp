// Grows a subtree by the criterion of a number.
//
// Each kind of entries is compiled in a file of its own (grow_counts.cpp, grow_weights.cpp, grow_sums.cpp), so that
// compilers work side by side and a change of the bindings compiles none of them. Those files include subtree.hpp; the
// bindings do not, so that a change of a criterion compiles few of them.
#pragma once

#include <cstdint>
#include <vector>

#include "growing/entries.hpp"
#include "growing/nodes.hpp"
#include "growing/path_rules.hpp"
#include "growing/split.hpp"

namespace hornbeam {

// The node to begin with: its rows, and what its ancestors decide.
struct FirstNode {
    int64_t begin, end, depth;
    Bounds bounds;
    uint64_t key;
    const std::vector<int32_t>& path;
};

template <class Entry, class Code>
Nodes grow_subtree(int criterion, const Rows<Code>& rows, const Features& features, const Rules& rules,
                   const PathRules* paths, int n_classes, Progress progress, const FirstNode& first);

#define HORNBEAM_GROW_SUBTREE(Entry, Code)                                                                            \
    template Nodes grow_subtree<Entry, Code>(int, const Rows<Code>&, const Features&, const Rules&, const PathRules*, \
                                             int, Progress, const FirstNode&)

extern HORNBEAM_GROW_SUBTREE(CountEntry, uint8_t);
extern HORNBEAM_GROW_SUBTREE(CountEntry, uint16_t);
extern HORNBEAM_GROW_SUBTREE(WeightEntry, uint8_t);
extern HORNBEAM_GROW_SUBTREE(WeightEntry, uint16_t);
extern HORNBEAM_GROW_SUBTREE(SumEntry, uint8_t);
extern HORNBEAM_GROW_SUBTREE(SumEntry, uint16_t);
extern HORNBEAM_GROW_SUBTREE(RatioEntry, uint8_t);
extern HORNBEAM_GROW_SUBTREE(RatioEntry, uint16_t);

}  // namespace hornbeam
