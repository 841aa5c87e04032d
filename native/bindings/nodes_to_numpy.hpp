// Nodes on their way to NumPy.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "bindings/arrays.hpp"
#include "growing/subtree.hpp"

namespace hornbeam {

inline nb::tuple hand_over(Nodes&& nodes) {
    const size_t n = nodes.parent.size(), k = static_cast<size_t>(nodes.n_channels);
    return nb::make_tuple(give(std::move(nodes.parent)), give(std::move(nodes.slot)), give(std::move(nodes.feature)),
                          give(std::move(nodes.left)), give(std::move(nodes.right)),
                          give(std::move(nodes.missing_slot)), give(std::move(nodes.gain)), give(std::move(nodes.rows)),
                          give(std::move(nodes.evidence), {n, k}), give(std::move(nodes.map_start)),
                          give(std::move(nodes.map)));
}

}  // namespace hornbeam
