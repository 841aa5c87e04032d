// Subtrees of numeric targets.
#include "growing/subtree.hpp"

namespace hornbeam {

HORNBEAM_GROW_SUBTREE(SumEntry, uint8_t);
HORNBEAM_GROW_SUBTREE(SumEntry, uint16_t);
HORNBEAM_GROW_SUBTREE(RatioEntry, uint8_t);
HORNBEAM_GROW_SUBTREE(RatioEntry, uint16_t);

}  // namespace hornbeam
