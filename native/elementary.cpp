// Bindings of exp and log.
#include "elementary.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>

#include "arrays.hpp"
#include "checks.hpp"

namespace hornbeam {
namespace {

template <class Function>
Out<double> each(const In<double>& values, Function function) {
    std::vector<double> found(values.shape(0));
    {
        nb::gil_scoped_release release;
        function(values.data(), values.data() + values.shape(0), found.data());
    }
    return give(std::move(found));
}

// In blocks: those without extreme numbers are computed several at a time.
void exp_block(const double* begin, const double* end, double* found) {
    constexpr int64_t kBlock = 256;
    for (; begin < end; begin += kBlock, found += kBlock) {
        const int64_t n = std::min<int64_t>(kBlock, end - begin);
        bool inside = true;
        for (int64_t i = 0; i < n; ++i) inside &= begin[i] >= -708 && begin[i] <= 709;
        if (inside) {
            for (int64_t i = 0; i < n; ++i) found[i] = exp_inside(begin[i]);
        } else {
            for (int64_t i = 0; i < n; ++i) found[i] = exp_of(begin[i]);
        }
    }
}

}  // namespace
}  // namespace hornbeam

void bind_elementary(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    module.def("exp", [](const In<double>& values) { return each(values, exp_block); }, nb::arg("values"));
    module.def("exp2", [](const In<double>& values) {
        expect_within(values, -1000.0, 1000.0, "powers from -1000 to 1000 expected");
        return each(values, [](auto begin, auto end, auto found) { std::transform(begin, end, found, exp2_of); });
    }, nb::arg("values"));
    module.def("log", [](const In<double>& values) {
        return each(values, [](auto begin, auto end, auto found) { std::transform(begin, end, found, log_of); });
    }, nb::arg("values"));
    module.def("log2", [](const In<double>& values) {
        return each(values, [](auto begin, auto end, auto found) { std::transform(begin, end, found, log2_of); });
    }, nb::arg("values"));
}
