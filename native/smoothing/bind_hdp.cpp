// Binding of the Gibbs sampler, with checks of its arguments.
#include "smoothing/hdp.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <mutex>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"

namespace hornbeam {

namespace {

constexpr int64_t kMostRows = int64_t{1} << 24;  // of a class at a node: the time of the first sweep grows with it
constexpr int64_t kMostSweeps = 10'000;          // in a call, which cannot be interrupted
constexpr double kLeast = 1e-100,
                 kMost = 1e100;  // concentrations and their prior: products and quotients stay finite

bool moderate(double x) { return x >= kLeast && x <= kMost; }

void construct(HdpChain* place, const In<int32_t>& parent, const Matrix<const int64_t>& own, const In<int32_t>& group,
               double root_concentration, double concentration, bool sampled, double shape, double rate,
               uint64_t seed) {
    const int64_t n = static_cast<int64_t>(parent.size()), n_classes = static_cast<int64_t>(own.shape(1));
    expect(n > 0 && n_classes > 0, "no node or no class, expected at least one of each");
    expect(own.shape(0) == parent.size() && group.size() == parent.size(),
           "own and group must have as many nodes as parent");
    int64_t n_groups = 0;
    for (int64_t u = 1; u < n; ++u) {
        expect(parent(u) >= 0 && parent(u) < u, "parents must come before children");
        expect(group(u) >= 0, "every node but the root must have a group");
        n_groups = std::max<int64_t>(n_groups, int64_t{group(u)} + 1);
    }
    expect(n_groups <= n, "more groups than nodes");
    expect_within(own, int64_t{0}, kMostRows, "own must be from 0 to 2**24");
    expect(sum_of_counts(own.data(), n * n_classes, kMostWeight) >= 0, "the sum of own must not be above 2**62");
    expect(moderate(root_concentration) && moderate(concentration), "a concentration must be from 1e-100 to 1e100");
    expect(!sampled || (shape >= 1 && shape <= kMost && moderate(rate)),
           "shape must be from 1 to 1e100 and rate from 1e-100 to 1e100");
    new (place) HdpChain(parent.data(), own.data(), group.data(), n, n_classes, n_groups,
                         {root_concentration, concentration, sampled, shape, rate, seed});
}

void run(HdpChain& chain, int64_t sweeps, bool record) {
    expect(0 <= sweeps && sweeps <= kMostSweeps, "from 0 to 10,000 sweeps in a call expected");
    nb::gil_scoped_release release;
    const std::lock_guard<std::mutex> lock(chain.in_use);
    chain.run(sweeps, record);
}

struct Sums {
    std::vector<double> belief, concentration, tables;
    int64_t recorded;
};

Sums sums_of(HdpChain& chain) {
    nb::gil_scoped_release release;
    const std::lock_guard<std::mutex> lock(chain.in_use);
    return {chain.belief_sum(), chain.concentration_sum(), chain.tables_sum(), chain.recorded()};
}

nb::tuple means(HdpChain& chain) {
    Sums sums = sums_of(chain);
    expect(sums.recorded > 0, "no sweep was recorded");
    for (auto* sum : {&sums.belief, &sums.concentration, &sums.tables})
        for (double& value : *sum) value /= static_cast<double>(sums.recorded);
    return nb::make_tuple(to_numpy(std::move(sums.belief),
                                   {static_cast<size_t>(chain.n_nodes()), static_cast<size_t>(chain.n_classes())}),
                          to_numpy(std::move(sums.concentration)), to_numpy(std::move(sums.tables)));
}

}  // namespace

}  // namespace hornbeam

void bind_hdp(nanobind::module_& module) {
    using namespace hornbeam;
    nb::class_<HdpChain>(module, "HdpChain")
        .def("__init__", &construct, nb::arg("parent"), nb::arg("own"), nb::arg("group"), nb::arg("root_concentration"),
             nb::arg("concentration"), nb::arg("sampled"), nb::arg("shape"), nb::arg("rate"), nb::arg("seed"))
        .def("run", &run, nb::arg("sweeps"), nb::arg("record"))
        .def("means", &means);
}
