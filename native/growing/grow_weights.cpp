// Subtrees of classes, rows with weights.
#include "growing/subtree.hpp"

namespace hornbeam {

HORNBEAM_GROW_SUBTREE(WeightEntry, uint8_t);
HORNBEAM_GROW_SUBTREE(WeightEntry, uint16_t);

}  // namespace hornbeam
