// The sampler's checks, and its face for Python.
#include "hdp.hpp"

#include <nanobind/nanobind.h>

#include "arrays.hpp"

namespace hornbeam {

namespace {

void construct(HdpChain* place, In<int32_t> parent, Matrix<const int64_t> own, In<int32_t> group, double root_concentration,
               double concentration, bool sampled, double shape, double rate, uint64_t seed) {
    const int64_t n = static_cast<int64_t>(parent.shape(0)), n_classes = static_cast<int64_t>(own.shape(1));
    expect(n > 0 && n_classes > 0, "no node or no class, expected at least one of each");
    expect(own.shape(0) == parent.shape(0) && group.shape(0) == parent.shape(0),
           "own and group must have as many nodes as parent");
    int64_t n_groups = 0;
    for (int64_t u = 0; u < n; ++u) {
        expect(u == 0 || (parent(u) >= 0 && parent(u) < u), "parents must come before children");
        expect(u == 0 || group(u) >= 0, "every node but the root must have a group");
        if (u > 0) n_groups = std::max<int64_t>(n_groups, int64_t{group(u)} + 1);
        for (int64_t k = 0; k < n_classes; ++k) expect(own(u, k) >= 0, "own must not be below 0");
    }
    expect(n_groups <= n, "more groups than nodes");
    expect(root_concentration > 0 && concentration > 0, "a concentration must be above 0");
    expect(!sampled || (shape >= 1 && rate > 0), "shape must be at least 1 and rate above 0");
    new (place) HdpChain(parent.data(), own.data(), group.data(), n, n_classes, n_groups,
                         {root_concentration, concentration, sampled, shape, rate, seed});
}

void run(HdpChain& chain, int64_t sweeps, bool keep) {
    nb::gil_scoped_release release;
    chain.run(sweeps, keep);
}

Out<double> mean(const HdpChain& chain, std::vector<double> sum, std::vector<size_t> shape = {}) {
    for (double& value : sum) value /= static_cast<double>(chain.recorded());
    return give(std::move(sum), std::move(shape));
}

nb::tuple means(const HdpChain& chain) {
    expect(chain.recorded() > 0, "no sweep was recorded");
    return nb::make_tuple(mean(chain, chain.belief_sum(),
                               {static_cast<size_t>(chain.n_nodes()), static_cast<size_t>(chain.n_classes())}),
                          mean(chain, chain.concentration_sum()), mean(chain, chain.tables_sum()));
}

}  // namespace

}  // namespace hornbeam

void bind_hdp(nanobind::module_& module) {
    using namespace hornbeam;
    nb::class_<HdpChain>(module, "HdpChain")
        .def("__init__", &construct)
        .def("run", &run, nb::arg("sweeps"), nb::arg("keep"))
        .def("means", &means);
}
