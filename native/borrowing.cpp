// Borrowing's checks, and its face for Python.
#include "borrowing.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include "arrays.hpp"

namespace hornbeam {

namespace {

// A forest with the rows it was grown from and, if there are any, the rows held out of each tree.
class Forest {
   public:
    Forest(In<int32_t> parent, Matrix<const double> evidence, std::optional<Matrix<const double>> held,
           const std::optional<In<double>>& impurity)
        : parent_(checked(std::move(parent), evidence, impurity)), evidence_(std::move(evidence)),
          held_(std::move(held)),
          borrowing_(parent_.data(), evidence_.data(), impurity ? impurity->data() : nullptr,
                     static_cast<int64_t>(evidence_.shape(0)), static_cast<int64_t>(evidence_.shape(1))) {
        expect(!held_ || (held_->shape(0) == evidence_.shape(0) && held_->shape(1) == evidence_.shape(1)),
               "held must have the shape of evidence");
    }

    nb::tuple believe(const In<double>& strengths) {
        const size_t n = evidence_.shape(0), K = evidence_.shape(1);
        std::vector<double> theta(n * K), borrowed(n);
        const auto w = read(strengths);
        {
            nb::gil_scoped_release unlocked;
            borrowing_.believe(w, theta.data(), borrowed.data());
        }
        return nb::make_tuple(give(std::move(theta), {n, K}), give(std::move(borrowed)));
    }

    nb::tuple loss(const In<double>& strengths) {
        expect(held_.has_value(), "no rows were held out");
        const auto w = read(strengths);
        Borrowing::Strengths slope;
        double loss = 0.0;
        {
            nb::gil_scoped_release unlocked;
            loss = borrowing_.loss(w, held_->data(), slope);
        }
        return nb::make_tuple(loss, give(std::vector<double>(slope.begin(), slope.end())));
    }

   private:
    static In<int32_t> checked(In<int32_t> parent, const Matrix<const double>& evidence,
                               const std::optional<In<double>>& impurity) {
        expect(!impurity || impurity->shape(0) == evidence.shape(0), "expected the impurity of every node");
        expect(parent.shape(0) == evidence.shape(0) && evidence.shape(1) > 0, "expected some classes of every node");
        for (int64_t v = 0; v < static_cast<int64_t>(parent.shape(0)); ++v)
            expect(parent(v) >= -1 && parent(v) < v, "parents must come before children");
        return parent;
    }

    static Borrowing::Strengths read(const In<double>& strengths) {
        expect(strengths.shape(0) == Borrowing::n_strengths, "expected six strengths");
        Borrowing::Strengths w;
        for (size_t i = 0; i < w.size(); ++i) {
            expect(std::isfinite(strengths(i)), "a strength must be finite");
            w[i] = strengths(i);
        }
        return w;
    }

    In<int32_t> parent_;  // held for as long as the pointers into them
    Matrix<const double> evidence_;
    std::optional<Matrix<const double>> held_;
    Borrowing borrowing_;
};

}  // namespace

}  // namespace hornbeam

void bind_borrowing(nanobind::module_& module) {
    using namespace hornbeam;
    nb::class_<Forest>(module, "Forest")
        .def(nb::init<In<int32_t>, Matrix<const double>, std::optional<Matrix<const double>>,
                      const std::optional<In<double>>&>(),
             nb::arg("parent").noconvert(), nb::arg("evidence").noconvert(), nb::arg("held").none().noconvert(),
             nb::arg("impurity").none().noconvert())
        .def("believe", &Forest::believe, nb::arg("strengths").noconvert())
        .def("loss", &Forest::loss, nb::arg("strengths").noconvert());
}
