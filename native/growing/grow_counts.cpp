// Subtrees of classes, each row counted once.
#include "growing/subtree.hpp"

namespace hornbeam {

HORNBEAM_GROW_SUBTREE(CountEntry, uint8_t);
HORNBEAM_GROW_SUBTREE(CountEntry, uint16_t);

}  // namespace hornbeam
