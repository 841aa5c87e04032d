// The sweeps' checks and their faces for Python.
#include "sweep.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <tuple>
#include <variant>

#include "arrays.hpp"

namespace nb = nanobind;
using namespace hornbeam;
using sweeping::Shape;

namespace {

// Level order once: every child lies behind its parent and within the arrays, so that no sweep leaves them.
Shape shape(const In<int32_t>& first_child, const In<int32_t>& n_children) {
    const auto n = static_cast<int64_t>(n_children.shape(0));
    expect(first_child.shape(0) == n_children.shape(0), "first_child and n_children differ in length");
    expect(n < std::numeric_limits<int32_t>::max(), "expected fewer than 2**31 nodes");
    const Shape tree{first_child.data(), n_children.data(), n};
    bool fine = true;
    for (int64_t i = 0; i < n; ++i) {
        const int64_t first = tree.first_child[i], born = tree.n_children[i];
        fine &= (born == 0) | ((born > 1) & (first > i) & (first + born <= n));
    }
    expect(fine, "expected two or more children within the arrays and behind their parent");
    return tree;
}

void least_costs(const Matrix<const double>& belief, const Matrix<const double>& costs, const InOut<double>& least,
                 const InOut<int32_t>& action) {
    const size_t n = belief.shape(0), K = belief.shape(1);
    expect(K > 0 && costs.shape(0) == K && costs.shape(1) == K, "expected costs of every class by every class");
    expect(least.shape(0) == n && action.shape(0) == n, "expected room for one answer a node");
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
    expect(n > 0 && cut.shape(0) == n, "expected one verdict a node");
    expect(node.shape(0) == n && new_parent.shape(0) == n && new_first_child.shape(0) == n &&
               new_n_children.shape(0) == n,
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

// Checked arrays that threads settle slices of: the checks are made once, not in every slice.
class Settler {
   public:
    Settler(const In<int32_t>& first_child, const In<int32_t>& n_children, const In<double>& as_leaf,
            const In<double>& staying, double slack, double relative, const InOut<double>& value,
            const InOut<bool>& cut)
        : Settler(first_child, n_children, slack, relative, value, cut) {
        const size_t n = n_children.shape(0);
        expect(as_leaf.shape(0) == n && staying.shape(0) == n, "expected one cost a node");
        hold(as_leaf, staying);
        costs_ = sweeping::Given{as_leaf.data(), staying.data()};
    }

    Settler(const In<int32_t>& first_child, const In<int32_t>& n_children, const Matrix<const int64_t>& evidence,
            double unit, const Matrix<const double>& belief, const Matrix<const double>& costs, double slack,
            double relative, const InOut<double>& value, const InOut<bool>& cut)
        : Settler(first_child, n_children, slack, relative, value, cut) {
        const size_t n = n_children.shape(0), K = evidence.shape(1);
        expect(evidence.shape(0) == n && belief.shape(0) == n && belief.shape(1) == K,
               "expected evidence and belief of every node and class");
        expect(K > 0 && costs.shape(0) == K && costs.shape(1) == K, "expected costs of every class by every class");
        hold(evidence, belief, costs);
        costs_ = sweeping::Expected{evidence.data(), unit, belief.data(), costs.data(), static_cast<int64_t>(K)};
    }

    void settle_all() const {
        nb::gil_scoped_release unlocked;
        std::visit([&](const auto& costs) { verdicts_.settle_all(costs); }, costs_);
    }

    void settle(const In<int32_t>& order) const {
        nb::gil_scoped_release unlocked;
        const auto n = static_cast<int64_t>(order.shape(0));
        bool fine = true;
        for (int64_t at = 0; at < n; ++at)
            fine &= (order.data()[at] >= 0) & (order.data()[at] < verdicts_.tree.n_nodes);
        expect(fine, "expected nodes of the tree");
        std::visit([&](const auto& costs) { verdicts_.settle(costs, order.data(), n); }, costs_);
    }

   private:
    Settler(const In<int32_t>& first_child, const In<int32_t>& n_children, double slack, double relative,
            const InOut<double>& value, const InOut<bool>& cut)
        : verdicts_{shape(first_child, n_children), slack, relative, value.data(), cut.data()} {
        const size_t n = n_children.shape(0);
        expect(value.shape(0) == n && cut.shape(0) == n, "expected room for one verdict a node");
        hold(first_child, n_children, value, cut);
    }

    template <class... Arrays>
    void hold(const Arrays&... arrays) {
        (held_.emplace_back(arrays), ...);
    }

    std::vector<nb::ndarray<>> held_;  // for as long as there are pointers into them
    sweeping::Verdicts verdicts_;
    std::variant<sweeping::Given, sweeping::Expected> costs_;
};

nb::tuple weakest_links(const In<int32_t>& first_child, const In<int32_t>& n_children, const In<double>& as_leaf,
                        const In<double>& staying) {
    const Shape tree = shape(first_child, n_children);
    const auto n = static_cast<size_t>(tree.n_nodes);
    expect(as_leaf.shape(0) == n && staying.shape(0) == n, "expected one cost a node");
    std::vector<double> alpha(n), added(n);
    std::vector<int64_t> fewer(n);
    auto* happens = new bool[n];
    nb::capsule owner(happens, [](void* p) noexcept { delete[] static_cast<bool*>(p); });
    {
        nb::gil_scoped_release unlocked;
        sweeping::WeakestLinks links(alpha.data(), added.data(), fewer.data());
        links.find(tree, as_leaf.data(), staying.data(), happens);
    }
    return nb::make_tuple(give(std::move(alpha)), give(std::move(added)), give(std::move(fewer)),
                          Out<bool>(happens, {n}, owner));
}

}  // namespace

void bind_sweep(nb::module_& module) {
    module.def("least_costs", &least_costs, nb::arg("belief").noconvert(), nb::arg("costs").noconvert(),
               nb::arg("least").noconvert(), nb::arg("action").noconvert());
    module.def("frontiers", &frontiers, nb::arg("first_child").noconvert(), nb::arg("n_children").noconvert());
    module.def("rest", &rest, nb::arg("first_child").noconvert(), nb::arg("n_children").noconvert(),
               nb::arg("cut").noconvert(), nb::arg("node").noconvert(), nb::arg("new_parent").noconvert(),
               nb::arg("new_first_child").noconvert(), nb::arg("new_n_children").noconvert());
    module.def("weakest_links", &weakest_links, nb::arg("first_child").noconvert(), nb::arg("n_children").noconvert(),
               nb::arg("as_leaf").noconvert(), nb::arg("staying").noconvert());
    nb::class_<Settler>(module, "Settler")
        .def(nb::init<const In<int32_t>&, const In<int32_t>&, const In<double>&, const In<double>&, double, double,
                      const InOut<double>&, const InOut<bool>&>(),
             nb::arg("first_child").noconvert(), nb::arg("n_children").noconvert(), nb::arg("as_leaf").noconvert(),
             nb::arg("staying").noconvert(), nb::arg("slack"), nb::arg("relative"), nb::arg("value").noconvert(),
             nb::arg("cut").noconvert())
        .def(nb::init<const In<int32_t>&, const In<int32_t>&, const Matrix<const int64_t>&, double,
                      const Matrix<const double>&, const Matrix<const double>&, double, double, const InOut<double>&,
                      const InOut<bool>&>(),
             nb::arg("first_child").noconvert(), nb::arg("n_children").noconvert(), nb::arg("evidence").noconvert(),
             nb::arg("unit"), nb::arg("belief").noconvert(), nb::arg("costs").noconvert(), nb::arg("slack"),
             nb::arg("relative"), nb::arg("value").noconvert(), nb::arg("cut").noconvert())
        .def("settle_all", &Settler::settle_all)
        .def("settle", &Settler::settle, nb::arg("order").noconvert());
}
