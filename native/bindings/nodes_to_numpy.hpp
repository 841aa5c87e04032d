// Grown nodes as NumPy arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "bindings/arrays.hpp"
#include "growing/nodes.hpp"

namespace hornbeam {

inline nb::tuple nodes_to_numpy(Nodes&& nodes) {
    const size_t n = nodes.parent.size(), k = static_cast<size_t>(nodes.n_channels);
    return nb::make_tuple(
        to_numpy(std::move(nodes.parent)), to_numpy(std::move(nodes.slot)), to_numpy(std::move(nodes.feature)),
        to_numpy(std::move(nodes.left)), to_numpy(std::move(nodes.right)), to_numpy(std::move(nodes.missing_slot)),
        to_numpy(std::move(nodes.gain)), to_numpy(std::move(nodes.rows)), to_numpy(std::move(nodes.evidence), {n, k}),
        to_numpy(std::move(nodes.map_start)), to_numpy(std::move(nodes.map)));
}

}  // namespace hornbeam
