// Bindings of the pruning sweeps, with checks of their arguments.
#include "pruning/sweep.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <tuple>
#include <variant>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"

namespace hornbeam {
namespace {

// Checks that every child comes after its parent, within the arrays, and has no other parent: then no sweep leaves the
// arrays, and each ends.
TreeShape checked_shape(const In<int32_t>& first_child, const In<int32_t>& n_children) {
    const auto n = static_cast<int64_t>(n_children.size());
    expect(first_child.size() == n_children.size(), "first_child and n_children differ in length");
    expect(n < std::numeric_limits<int32_t>::max(), "expected fewer than 2**31 nodes");
    const TreeShape tree{first_child.data(), n_children.data(), n};
    bool good = true;
    int64_t next = 1;  // children follow each other
    for (int64_t i = 0; i < n; ++i) {
        const int64_t first = tree.first_child[i], n_here = tree.n_children[i];
        good &= (n_here == 0) | ((n_here > 1) & (first > i) & (first >= next) & (first + n_here <= n));
        next = n_here ? first + n_here : next;
    }
    expect(good, "expected two or more children within the arrays, after their parent and the children before them");
    return tree;
}

void least_costs(const Matrix<const double>& belief, const Matrix<const double>& costs, const InOut<double>& least,
                 const InOut<int32_t>& action) {
    const size_t n = belief.shape(0), K = belief.shape(1);
    expect(K > 0 && costs.shape(0) == K && costs.shape(1) == K, "expected costs of every class by every class");
    expect(least.size() == n && action.size() == n, "expected room for one result per node");
    nb::gil_scoped_release release;
    for (size_t i = 0; i < n; ++i)
        std::tie(least.data()[i], action.data()[i]) =
            least_cost(belief.data() + i * K, static_cast<int64_t>(K), costs.data());
}

int64_t prune_shape(const In<int32_t>& first_child, const In<int32_t>& n_children, const In<bool>& cut,
                    const InOut<int64_t>& node, const InOut<int32_t>& new_parent, const InOut<int32_t>& new_first_child,
                    const InOut<int32_t>& new_n_children) {
    const TreeShape tree = checked_shape(first_child, n_children);
    const size_t n = n_children.shape(0);
    expect(n > 0 && cut.size() == n, "expected one cut per node");
    expect(node.size() == n && new_parent.size() == n && new_first_child.size() == n && new_n_children.size() == n,
           "expected room for every node");
    nb::gil_scoped_release release;
    const PrunedShape pruned{node.data(), new_parent.data(), new_first_child.data(), new_n_children.data()};
    int64_t n_roots = tree.n_nodes;
    for (int64_t i = 0; i < tree.n_nodes; ++i) n_roots -= tree.n_children[i];
    expect(n_roots > 0, "expected one parent per node");
    const int64_t n_nodes = pruned.fill(tree, cut.data(), n_roots);
    expect(n_nodes > 0, "expected one parent per node");
    return n_nodes;
}

Out<int64_t> order_by_level(const In<int32_t>& parent, const In<int32_t>& rank) {
    expect(parent.size() == rank.size() && parent.size() < std::numeric_limits<int32_t>::max(),
           "expected a rank for each of fewer than 2**31 nodes");
    std::vector<int64_t> order;
    {
        nb::gil_scoped_release release;
        order = level_order(parent.data(), rank.data(), static_cast<int64_t>(parent.size()));
    }
    return to_numpy(std::move(order));
}

template <class Number>
void add_children(const In<int32_t>& first_child, const In<int32_t>& n_children, const Matrix<Number>& values) {
    const TreeShape tree = checked_shape(first_child, n_children);
    expect(values.shape(0) == n_children.size(), "expected numbers of every node");
    nb::gil_scoped_release release;
    pull_up(tree, values.data(), static_cast<int64_t>(values.shape(1)));
}

nb::tuple frontiers(const In<int32_t>& first_child, const In<int32_t>& n_children) {
    const TreeShape tree = checked_shape(first_child, n_children);
    std::vector<int32_t> order(tree.n_nodes);
    std::vector<int64_t> begin;
    {
        nb::gil_scoped_release release;
        begin = order_by_height(tree, order.data());
    }
    return nb::make_tuple(to_numpy(std::move(order)), to_numpy(std::move(begin)));
}

// A prune sweep whose arrays are checked once, so that threads can handle slices of the nodes. The shape is copied,
// because the caller may change it; the other arrays are held.
class BoundSweep {
  public:
    BoundSweep(const In<int32_t>& first_child, const In<int32_t>& n_children, const In<double>& as_leaf,
               const In<double>& staying, double slack, double relative, const InOut<double>& value,
               const InOut<bool>& cut)
        : BoundSweep(first_child, n_children, slack, relative, value, cut) {
        const size_t n = n_children.size();
        expect(as_leaf.size() == n && staying.size() == n, "expected one cost per node");
        hold(as_leaf, staying);
        costs_ = GivenCosts{as_leaf.data(), staying.data()};
    }

    BoundSweep(const In<int32_t>& first_child, const In<int32_t>& n_children, const Matrix<const int64_t>& evidence,
               double unit, const Matrix<const double>& belief, const Matrix<const double>& costs, double slack,
               double relative, const InOut<double>& value, const InOut<bool>& cut)
        : BoundSweep(first_child, n_children, slack, relative, value, cut) {
        const size_t n = n_children.size(), K = evidence.shape(1);
        expect(evidence.shape(0) == n && belief.shape(0) == n && belief.shape(1) == K,
               "expected evidence and belief of every node and class");
        expect(K > 0 && costs.shape(0) == K && costs.shape(1) == K, "expected costs of every class by every class");
        expect_within(evidence, int64_t{0}, kMostWeight, "expected evidence of 0 or more");
        hold(evidence, belief, costs);
        costs_ = ExpectedCosts{evidence.data(), unit, belief.data(), costs.data(), static_cast<int64_t>(K)};
    }

    void decide(int64_t begin, int64_t end) const {
        expect(0 <= begin && begin <= end && end <= sweep_.tree.n_nodes, "expected nodes of the tree");
        nb::gil_scoped_release release;
        std::visit([&](const auto& costs) { sweep_.decide(costs, begin, end); }, costs_);
    }

  private:
    BoundSweep(const In<int32_t>& first_child, const In<int32_t>& n_children, double slack, double relative,
               const InOut<double>& value, const InOut<bool>& cut)
        : first_child_(copied(first_child)), n_children_(copied(n_children)),
          sweep_{checked_shape(first_child, n_children), slack, relative, value.data(), cut.data()} {
        const size_t n = n_children_.size();
        expect(value.size() == n && cut.size() == n, "expected room for one result per node");
        sweep_.tree = {first_child_.data(), n_children_.data(), static_cast<int64_t>(n)};
        hold(value, cut);
    }

    template <class... Arrays>
    void hold(const Arrays&... arrays) {
        (held_.emplace_back(arrays), ...);
    }

    std::vector<nb::ndarray<>> held_;  // keeps the memory of the pointers alive
    const std::vector<int32_t> first_child_, n_children_;
    PruneSweep sweep_;
    std::variant<GivenCosts, ExpectedCosts> costs_;
};

nb::tuple weakest_links(const In<int32_t>& first_child, const In<int32_t>& n_children, const In<double>& as_leaf,
                        const In<double>& staying) {
    const TreeShape tree = checked_shape(first_child, n_children);
    const auto n = static_cast<size_t>(tree.n_nodes);
    expect(as_leaf.size() == n && staying.size() == n, "expected one cost per node");
    std::vector<double> alpha(n), added(n);
    std::vector<int64_t> fewer(n);
    std::vector<uint8_t> happens(n);
    {
        nb::gil_scoped_release release;
        WeakestLinks links(alpha.data(), added.data(), fewer.data());
        links.find(tree, as_leaf.data(), staying.data(), happens.data());
    }
    return nb::make_tuple(to_numpy(std::move(alpha)), to_numpy(std::move(added)), to_numpy(std::move(fewer)),
                          bools_to_numpy(std::move(happens)));
}

}  // namespace
}  // namespace hornbeam

void bind_sweep(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    module.def("least_costs", &least_costs, nb::arg("belief"), nb::arg("costs"), nb::arg("least"), nb::arg("action"));
    module.def("level_order", &order_by_level, nb::arg("parent"), nb::arg("rank"));
    module.def("pull_up", &add_children<double>, nb::arg("first_child"), nb::arg("n_children"), nb::arg("values"));
    module.def("pull_up", &add_children<int64_t>, nb::arg("first_child"), nb::arg("n_children"), nb::arg("values"));
    module.def("frontiers", &frontiers, nb::arg("first_child"), nb::arg("n_children"));
    module.def("prune_shape", &prune_shape, nb::arg("first_child"), nb::arg("n_children"), nb::arg("cut"),
               nb::arg("node"), nb::arg("new_parent"), nb::arg("new_first_child"), nb::arg("new_n_children"));
    module.def("weakest_links", &weakest_links, nb::arg("first_child"), nb::arg("n_children"), nb::arg("as_leaf"),
               nb::arg("staying"));
    nb::class_<BoundSweep>(module, "PruneSweep")
        .def(nb::init<const In<int32_t>&, const In<int32_t>&, const In<double>&, const In<double>&, double, double,
                      const InOut<double>&, const InOut<bool>&>(),
             nb::arg("first_child"), nb::arg("n_children"), nb::arg("as_leaf"), nb::arg("staying"), nb::arg("slack"),
             nb::arg("relative"), nb::arg("value"), nb::arg("cut"))
        .def(nb::init<const In<int32_t>&, const In<int32_t>&, const Matrix<const int64_t>&, double,
                      const Matrix<const double>&, const Matrix<const double>&, double, double, const InOut<double>&,
                      const InOut<bool>&>(),
             nb::arg("first_child"), nb::arg("n_children"), nb::arg("evidence"), nb::arg("unit"), nb::arg("belief"),
             nb::arg("costs"), nb::arg("slack"), nb::arg("relative"), nb::arg("value"), nb::arg("cut"))
        .def("decide", &BoundSweep::decide, nb::arg("begin"), nb::arg("end"));
}
