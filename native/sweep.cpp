// The sweeps' checks and their faces for Python.
#include "sweep.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

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
    for (int64_t i = 0; i < n; ++i)
        expect(tree.n_children[i] >= 0 &&
                   (tree.n_children[i] == 0 || (tree.first_child[i] > i && tree.n_children[i] > 1 &&
                                                int64_t{tree.first_child[i]} + tree.n_children[i] <= n)),
               "expected two or more children within the arrays and behind their parent");
    return tree;
}

void least_costs(const Matrix<const double>& belief, const Matrix<const double>& costs, const InOut<double>& least,
                 const InOut<int32_t>& action) {
    const size_t n = belief.shape(0), K = belief.shape(1);
    expect(K > 0 && costs.shape(0) == K && costs.shape(1) == K, "expected costs of every class by every class");
    expect(least.shape(0) == n && action.shape(0) == n, "expected room for one answer a node");
    nb::gil_scoped_release unlocked;
    sweeping::least_costs(belief.data(), static_cast<int64_t>(n), static_cast<int64_t>(K), costs.data(), least.data(),
                          action.data());
}

nb::tuple rest(const In<int32_t>& first_child, const In<int32_t>& n_children, const In<bool>& cut) {
    const Shape tree = shape(first_child, n_children);
    expect(tree.n_nodes > 0 && cut.shape(0) == n_children.shape(0), "expected one verdict a node");
    std::optional<sweeping::Rest> left;
    {
        nb::gil_scoped_release unlocked;
        left.emplace(tree, cut.data());
    }
    return nb::make_tuple(give(std::move(left->node)), give(std::move(left->parent)),
                          give(std::move(left->first_child)), give(std::move(left->n_children)));
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
    Settler(In<int32_t> first_child, In<int32_t> n_children, In<double> as_leaf, In<double> staying, InOut<bool> cut,
            double slack, double relative)
        : first_child_(std::move(first_child)), n_children_(std::move(n_children)), as_leaf_(std::move(as_leaf)),
          staying_(std::move(staying)), cut_(std::move(cut)) {
        const Shape tree = shape(first_child_, n_children_);
        expect(as_leaf_.shape(0) == n_children_.shape(0) && staying_.shape(0) == n_children_.shape(0) &&
                   cut_.shape(0) == n_children_.shape(0),
               "expected one cost and one verdict a node");
        value_.resize(tree.n_nodes);
        verdicts_ = {tree, as_leaf_.data(), staying_.data(), slack, relative, value_.data(), cut_.data()};
    }

    void settle(const In<int32_t>& order) const {
        nb::gil_scoped_release unlocked;
        for (size_t at = 0; at < order.shape(0); ++at)
            expect(order.data()[at] >= 0 && order.data()[at] < verdicts_.tree.n_nodes, "expected nodes of the tree");
        verdicts_.settle(order.data(), static_cast<int64_t>(order.shape(0)));
    }

   private:
    In<int32_t> first_child_, n_children_;  // held for as long as the pointers into them
    In<double> as_leaf_, staying_;
    InOut<bool> cut_;
    std::vector<double> value_;
    sweeping::Verdicts verdicts_{};
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
               nb::arg("cut").noconvert());
    module.def("weakest_links", &weakest_links, nb::arg("first_child").noconvert(), nb::arg("n_children").noconvert(),
               nb::arg("as_leaf").noconvert(), nb::arg("staying").noconvert());
    nb::class_<Settler>(module, "Settler")
        .def(nb::init<In<int32_t>, In<int32_t>, In<double>, In<double>, InOut<bool>, double, double>(),
             nb::arg("first_child").noconvert(), nb::arg("n_children").noconvert(), nb::arg("as_leaf").noconvert(),
             nb::arg("staying").noconvert(), nb::arg("cut").noconvert(), nb::arg("slack"), nb::arg("relative"))
        .def("settle", &Settler::settle, nb::arg("order").noconvert());
}
