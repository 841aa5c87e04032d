// Binding of borrowing, with checks of its arguments.
#include "smoothing/borrowing.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"

namespace hornbeam {

namespace {

// Trees, concatenated, with their training rows and, if given, their held-out rows.
class StackedTrees {
  public:
    StackedTrees(const In<int32_t>& parent, const Matrix<const double>& evidence,
                 const std::optional<Matrix<const double>>& held, const std::optional<In<double>>& impurity)
        : n_(evidence.shape(0)), K_(evidence.shape(1)), parent_(checked(parent, evidence, impurity)),
          evidence_(copied(evidence)),
          borrowing_(parent_.data(), evidence_.data(), impurity ? impurity->data() : nullptr, static_cast<int64_t>(n_),
                     static_cast<int64_t>(K_)) {
        if (!held) return;
        expect(held->shape(0) == n_ && held->shape(1) == K_, "held must have the shape of evidence");
        expect_finite(*held, "held: finite numbers expected");
        held_ = copied(*held);
    }

    nb::tuple probabilities(const In<double>& strengths) {
        std::vector<double> theta(n_ * K_), borrowed(n_);
        const auto w = read(strengths);
        {
            nb::gil_scoped_release release;
            const std::lock_guard<std::mutex> lock(in_use_);
            borrowing_.probabilities(w, theta.data(), borrowed.data());
        }
        return nb::make_tuple(to_numpy(std::move(theta), {n_, K_}), to_numpy(std::move(borrowed)));
    }

    nb::tuple loss(const In<double>& strengths) {
        if (!held_) throw std::invalid_argument("no rows were held out");
        const auto w = read(strengths);
        Borrowing::Strengths slope;
        double loss = 0.0;
        {
            nb::gil_scoped_release release;
            const std::lock_guard<std::mutex> lock(in_use_);
            loss = borrowing_.loss(w, held_->data(), slope);
        }
        return nb::make_tuple(loss, to_numpy(std::vector<double>(slope.begin(), slope.end())));
    }

  private:
    // A copy of the parents, because the caller may change them.
    static std::vector<int32_t> checked(const In<int32_t>& parent, const Matrix<const double>& evidence,
                                        const std::optional<In<double>>& impurity) {
        expect(!impurity || impurity->size() == evidence.shape(0), "expected the impurity of every node");
        if (impurity) expect_finite(*impurity, "impurity: finite numbers expected");
        expect(parent.size() == evidence.shape(0) && evidence.shape(1) > 0, "expected some classes of every node");
        expect_finite(evidence,
                      "evidence: finite numbers expected");  // the evidence of a regression tree may be negative
        bool good = true;
        for (int64_t v = 0; v < static_cast<int64_t>(parent.size()); ++v) good &= (parent(v) >= -1) & (parent(v) < v);
        expect(good, "parents must come before children");
        return copied(parent);
    }

    static Borrowing::Strengths read(const In<double>& strengths) {
        expect(strengths.size() == Borrowing::n_strengths, "expected six strengths");
        expect_finite(strengths, "a strength must be finite");
        Borrowing::Strengths w;
        std::copy(strengths.begin(), strengths.end(), w.begin());
        return w;
    }

    const size_t n_, K_;
    const std::vector<int32_t> parent_;
    const std::vector<double> evidence_;
    std::optional<std::vector<double>> held_;
    Borrowing borrowing_;
    std::mutex in_use_;  // one thread at a time: calls share scratch arrays
};

}  // namespace

}  // namespace hornbeam

void bind_borrowing(nanobind::module_& module) {
    using namespace hornbeam;
    nb::class_<StackedTrees>(module, "StackedTrees")
        .def(nb::init<const In<int32_t>&, const Matrix<const double>&, const std::optional<Matrix<const double>>&,
                      const std::optional<In<double>>&>(),
             nb::arg("parent"), nb::arg("evidence"), nb::arg("held").none(), nb::arg("impurity").none())
        .def("probabilities", &StackedTrees::probabilities, nb::arg("strengths"))
        .def("loss", &StackedTrees::loss, nb::arg("strengths"));
}
