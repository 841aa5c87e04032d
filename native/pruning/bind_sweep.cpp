// The sweeps' checks and their faces for Python.
#include "pruning/sweep.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <tuple>
#include <variant>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"

namespace nb = nanobind;
using namespace hornbeam;
using sweeping::Shape;

namespace {

// Every child lies behind its parent, within the arrays, and has no other parent: no sweep leaves the arrays, and each
// ends.
Shape shape(const In<int32_t>& first_child, const In<int32_t>& n_children) {
    const auto n = static_cast<int64_t>(n_children.size());
    expect(first_child.size() == n_children.size(), "first_child and n_children differ in length");
    expect(n < std::numeric_limits<int32_t>::max(), "expected fewer than 2**31 nodes");
    const Shape tree{first_child.data(), n_children.data(), n};
    bool fine = true;
    int64_t next = 1;  // children follow each other
    for (int64_t i = 0; i < n; ++i) {
        const int64_t first = tree.first_child[i], born = tree.n_children[i];
        fine &= (born == 0) | ((born > 1) & (first > i) & (first >= next) & (first + born <= n));
        next = born ? first + born : next;
    }
    expect(fine,
           "expected two or more children within the arrays and behind their parent and the children before them");
    return tree;
}

void least_costs(const Matrix<const double>& belief, const Matrix<const double>& costs, const InOut<double>& least,
                 const InOut<int32_t>& action) {
    const size_t n = belief.shape(0), K = belief.shape(1);
    expect(K > 0 && costs.shape(0) == K && costs.shape(1) == K, "expected costs of every class by every class");
    expect(least.size() == n && action.size() == n, "expected room for one answer a node");
    nb::gil_scoped_release unlocked;
    for (size_t i = 0; i < n; ++i)
        std::tie(least.data()[i], action.data()[i]) =
            sweeping::least_cost(belief.data() + i * K, static_cast<int64_t>(K), costs.data());
}

int64_t rest(const In<int32_t>& first_child, const In<int32_t>& n_children, const In<bool>& cut,
             const InOut<int64_t>& node, const InOut<int32_t>& new_parent, const InOut<int32_t>& new_first_child,
             const InOut<int32_t>& new_n_children) {
    const Shape tree = shape(first_child, n_children);
    const size_t n = n_children.shape(0);
    expect(n > 0 && cut.size() == n, "expected one verdict a node");
    expect(node.size() == n && new_parent.size() == n && new_first_child.size() == n && new_n_children.size() == n,
           "expected room for every node");
    nb::gil_scoped_release unlocked;
    const sweeping::Rest left{node.data(), new_parent.data(), new_first_child.data(), new_n_children.data()};
    const int64_t n_left = left.list(tree, cut.data());
    expect(n_left > 0, "expected one parent a node");
    return n_left;
}

nb::tuple frontiers(const In<int32_t>& first_child, const In<int32_t>& n_children) {
    const Shape tree = shape(first_child, n_children);
    std::vector<int32_t> order(tree.n_nodes);
    std::vector<int64_t> begin;
    {
        nb::gil_scoped_release unlocked;
        begin = sweeping::frontiers(tree, order.data());
    }
    return nb::make_tuple(give(std::move(order)), give(std::move(begin)));
}

// Arrays that threads settle slices of: checked once, not in every slice. The shape is copied, for the caller may
// change what was checked; of the other arrays only the numbers may change.
class Settler {
  public:
    Settler(const In<int32_t>& first_child, const In<int32_t>& n_children, const In<double>& as_leaf,
            const In<double>& staying, double slack, double relative, const InOut<double>& value,
            const InOut<bool>& cut)
        : Settler(first_child, n_children, slack, relative, value, cut) {
        const size_t n = n_children.size();
        expect(as_leaf.size() == n && staying.size() == n, "expected one cost a node");
        hold(as_leaf, staying);
        costs_ = sweeping::Given{as_leaf.data(), staying.data()};
    }

    Settler(const In<int32_t>& first_child, const In<int32_t>& n_children, const Matrix<const int64_t>& evidence,
            double unit, const Matrix<const double>& belief, const Matrix<const double>& costs, double slack,
            double relative, const InOut<double>& value, const InOut<bool>& cut)
        : Settler(first_child, n_children, slack, relative, value, cut) {
        const size_t n = n_children.size(), K = evidence.shape(1);
        expect(evidence.shape(0) == n && belief.shape(0) == n && belief.shape(1) == K,
               "expected evidence and belief of every node and class");
        expect(K > 0 && costs.shape(0) == K && costs.shape(1) == K, "expected costs of every class by every class");
        expect_within(evidence, int64_t{0}, kMostWeight, "expected evidence of 0 or more");
        hold(evidence, belief, costs);
        costs_ = sweeping::Expected{evidence.data(), unit, belief.data(), costs.data(), static_cast<int64_t>(K)};
    }

    void settle_all() const {
        nb::gil_scoped_release unlocked;
        std::visit([&](const auto& costs) { verdicts_.settle_all(costs); }, costs_);
    }

    void settle(const In<int32_t>& order) const {
        nb::gil_scoped_release unlocked;
        expect_within(order, 0, static_cast<int32_t>(verdicts_.tree.n_nodes) - 1, "expected nodes of the tree");
        std::visit(
            [&](const auto& costs) { verdicts_.settle(costs, order.data(), static_cast<int64_t>(order.size())); },
            costs_);
    }

  private:
    Settler(const In<int32_t>& first_child, const In<int32_t>& n_children, double slack, double relative,
            const InOut<double>& value, const InOut<bool>& cut)
        : first_child_(copied(first_child)), n_children_(copied(n_children)),
          verdicts_{shape(first_child, n_children), slack, relative, value.data(), cut.data()} {
        const size_t n = n_children_.size();
        expect(value.size() == n && cut.size() == n, "expected room for one verdict a node");
        verdicts_.tree = {first_child_.data(), n_children_.data(), static_cast<int64_t>(n)};
        hold(value, cut);
    }

    template <class... Arrays>
    void hold(const Arrays&... arrays) {
        (held_.emplace_back(arrays), ...);
    }

    std::vector<nb::ndarray<>> held_;  // for as long as there are pointers into them
    const std::vector<int32_t> first_child_, n_children_;
    sweeping::Verdicts verdicts_;
    std::variant<sweeping::Given, sweeping::Expected> costs_;
};

nb::tuple weakest_links(const In<int32_t>& first_child, const In<int32_t>& n_children, const In<double>& as_leaf,
                        const In<double>& staying) {
    const Shape tree = shape(first_child, n_children);
    const auto n = static_cast<size_t>(tree.n_nodes);
    expect(as_leaf.size() == n && staying.size() == n, "expected one cost a node");
    std::vector<double> alpha(n), added(n);
    std::vector<int64_t> fewer(n);
    std::vector<uint8_t> happens(n);
    {
        nb::gil_scoped_release unlocked;
        sweeping::WeakestLinks links(alpha.data(), added.data(), fewer.data());
        links.find(tree, as_leaf.data(), staying.data(), happens.data());
    }
    return nb::make_tuple(give(std::move(alpha)), give(std::move(added)), give(std::move(fewer)),
                          give_bools(std::move(happens)));
}

}  // namespace

void bind_sweep(nb::module_& module) {
    module.def("least_costs", &least_costs, nb::arg("belief"), nb::arg("costs"), nb::arg("least"), nb::arg("action"));
    module.def("frontiers", &frontiers, nb::arg("first_child"), nb::arg("n_children"));
    module.def("rest", &rest, nb::arg("first_child"), nb::arg("n_children"), nb::arg("cut"), nb::arg("node"),
               nb::arg("new_parent"), nb::arg("new_first_child"), nb::arg("new_n_children"));
    module.def("weakest_links", &weakest_links, nb::arg("first_child"), nb::arg("n_children"), nb::arg("as_leaf"),
               nb::arg("staying"));
    nb::class_<Settler>(module, "Settler")
        .def(nb::init<const In<int32_t>&, const In<int32_t>&, const In<double>&, const In<double>&, double, double,
                      const InOut<double>&, const InOut<bool>&>(),
             nb::arg("first_child"), nb::arg("n_children"), nb::arg("as_leaf"), nb::arg("staying"), nb::arg("slack"),
             nb::arg("relative"), nb::arg("value"), nb::arg("cut"))
        .def(nb::init<const In<int32_t>&, const In<int32_t>&, const Matrix<const int64_t>&, double,
                      const Matrix<const double>&, const Matrix<const double>&, double, double, const InOut<double>&,
                      const InOut<bool>&>(),
             nb::arg("first_child"), nb::arg("n_children"), nb::arg("evidence"), nb::arg("unit"), nb::arg("belief"),
             nb::arg("costs"), nb::arg("slack"), nb::arg("relative"), nb::arg("value"), nb::arg("cut"))
        .def("settle_all", &Settler::settle_all)
        .def("settle", &Settler::settle, nb::arg("order"));
}
