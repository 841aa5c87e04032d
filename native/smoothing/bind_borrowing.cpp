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
          evidence_(copied(evidence)) {
        if (impurity) impurity_.assign(impurity->data(), impurity->data() + n_);
        if (!held) return;
        expect(held->shape(0) == n_ && held->shape(1) == K_, "held must have the shape of evidence");
        expect_finite(*held, "held: finite numbers expected");
        passed_.emplace(parent_, evidence_, held->data(), impurity_of(impurity_), K_);
    }

    nb::tuple probabilities(const In<double>& strengths) {
        std::vector<double> theta(n_ * K_), borrowed(n_);
        const auto w = read(strengths);
        {
            nb::gil_scoped_release release;
            const std::lock_guard<std::mutex> lock(in_use_);
            if (!borrowing_)
                borrowing_.emplace(parent_.data(), evidence_.data(), impurity_of(impurity_), static_cast<int64_t>(n_),
                                   static_cast<int64_t>(K_));
            borrowing_->probabilities(w, theta.data(), borrowed.data());
        }
        return nb::make_tuple(to_numpy(std::move(theta), {n_, K_}), to_numpy(std::move(borrowed)));
    }

    nb::tuple loss(const In<double>& strengths) {
        if (!passed_) throw std::invalid_argument("no rows were held out");
        const auto w = read(strengths);
        Borrowing::Strengths slope;
        double loss = 0.0;
        {
            nb::gil_scoped_release release;
            const std::lock_guard<std::mutex> lock(in_use_);
            loss = passed_->borrowing.loss(w, passed_->held.data(), slope);
        }
        return nb::make_tuple(loss, to_numpy(std::vector<double>(slope.begin(), slope.end())));
    }

  private:
    static const double* impurity_of(const std::vector<double>& impurity) {
        return impurity.empty() ? nullptr : impurity.data();
    }

    // The nodes that held-out rows pass. The loss does not depend on others, often half of all nodes.
    struct Passed {
        std::vector<int32_t> parent;
        std::vector<double> evidence, held, impurity;
        Borrowing borrowing;

        Passed(const std::vector<int32_t>& all, const std::vector<double>& evidence_of_all, const double* held_of_all,
               const double* impurity_of_all, size_t K)
            : borrowing(gather(all, evidence_of_all, held_of_all, impurity_of_all, K)) {}
        Passed(const Passed&) = delete;  // `borrowing` reads the other members

      private:
        Borrowing gather(const std::vector<int32_t>& all, const std::vector<double>& evidence_of_all,
                         const double* held_of_all, const double* impurity_of_all, size_t K) {
            std::vector<int32_t> number(all.size(), -1);  // 0: passed, not yet numbered
            for (size_t v = all.size(); v-- > 0;) {
                for (size_t k = 0; k < K; ++k)
                    if (held_of_all[v * K + k] != 0) number[v] = 0;
                if (number[v] == 0 && all[v] >= 0) number[all[v]] = 0;
            }
            for (size_t v = 0; v < all.size(); ++v) {
                if (number[v] < 0) continue;
                number[v] = static_cast<int32_t>(parent.size());
                parent.push_back(all[v] < 0 ? -1 : number[all[v]]);
                evidence.insert(evidence.end(), evidence_of_all.begin() + v * K, evidence_of_all.begin() + (v + 1) * K);
                held.insert(held.end(), held_of_all + v * K, held_of_all + (v + 1) * K);
                if (impurity_of_all) impurity.push_back(impurity_of_all[v]);
            }
            return {parent.data(), evidence.data(), impurity_of(impurity), static_cast<int64_t>(parent.size()),
                    static_cast<int64_t>(K)};
        }
    };

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
    std::vector<double> impurity_;
    std::optional<Borrowing> borrowing_;  // of all nodes; made for the first prediction
    std::optional<Passed> passed_;
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
