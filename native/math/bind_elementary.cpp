// Bindings of exp and log, sums, and the minimisation of functions.
#include "math/elementary.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <algorithm>

#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"
#include "math/descent.hpp"

namespace hornbeam {
namespace {

template <class Function>
Out<double> each(const In<double>& values, Function function) {
    std::vector<double> found(values.shape(0));
    {
        nb::gil_scoped_release release;
        function(values.data(), values.data() + values.shape(0), found.data());
    }
    return to_numpy(std::move(found));
}

// A second version for processors with AVX2, chosen when the module is loaded. The operations are the same, four at a
// time instead of two, so the bits are the same. Not with sanitizers, which start after that choice; by GCC alone,
// because Clang 14 crashes on it at link time and zig lacks a symbol.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(HORNBEAM_SANITIZE)
#define HORNBEAM_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define HORNBEAM_WIDE
#endif

}  // namespace

// The check is the sign bit of a difference, not a branch.
HORNBEAM_WIDE bool exp_block(const double* x, int64_t n, double* found) {
    constexpr uint64_t kMost = 0x4086200000000000ULL;  // the bits of 708
    uint64_t outside = 0;
    for (int64_t i = 0; i < n; ++i) outside |= kMost - (elementary::to_bits(x[i]) & ~(1ULL << 63));
    if (outside >> 63) return false;
    for (int64_t i = 0; i < n; ++i) found[i] = exp_inside(x[i]);
    return true;
}

namespace {

// As `exp_block`.
HORNBEAM_WIDE bool log_block(const double* x, int64_t n, double* found) {
    constexpr uint64_t kLeast = 0x0010000000000000ULL, kMost = 0x7fefffffffffffffULL;  // normal numbers above 0
    uint64_t outside = 0;
    for (int64_t i = 0; i < n; ++i) {
        const uint64_t bits = elementary::to_bits(x[i]);
        outside |= (bits - kLeast) | (kMost - bits);
    }
    if (outside >> 63) return false;
    for (int64_t i = 0; i < n; ++i) found[i] = log_inside(x[i]);
    return true;
}

// Several numbers at a time if all of a block are in the range of the fast formula, else one by one.
template <class Block, class One>
Out<double> in_blocks(const In<double>& values, Block block, One one) {
    return each(values, [&](const double* begin, const double* end, double* found) {
        for (; begin < end; begin += kExpBlock, found += kExpBlock) {
            const int64_t n = std::min<int64_t>(kExpBlock, end - begin);
            if (!block(begin, n, found)) std::transform(begin, begin + n, found, one);
        }
    });
}

double dot_of(const In<double>& one, const In<double>& other) {
    expect(one.size() == other.size(), "arrays of one length expected");
    return dot(one.data(), other.data(), one.size());
}

using ValueAndGradient = std::pair<double, Plain<const double, 1>>;

Out<double> minimise(const nb::typed<nb::callable, ValueAndGradient(Out<double>)>& function, const In<double>& start,
                     double low, double high, double tolerance, double gradient_tolerance, int64_t max_steps) {
    expect(low <= high, "bounds in order expected");
    expect(tolerance >= 0 && gradient_tolerance >= 0 && max_steps >= 0, "limits of 0 or more expected");
    const auto evaluate = [&](const Numbers& at, Numbers& gradient) {
        const auto found = nb::cast<ValueAndGradient>(function(to_numpy(Numbers(at))));
        expect(found.second.size() == at.size(), "a gradient with one number per coordinate expected");
        std::copy_n(found.second.data(), at.size(), gradient.begin());
        return found.first;
    };
    const size_t n = start.size();
    const Descent descent{Numbers(n, low), Numbers(n, high), tolerance, gradient_tolerance, max_steps};
    return to_numpy(descent.minimise(evaluate, copied(start)));
}

}  // namespace
}  // namespace hornbeam

void bind_elementary(nanobind::module_& module) {
    namespace nb = nanobind;
    using namespace hornbeam;
    module.def("exp", [](const In<double>& values) { return in_blocks(values, exp_block, exp_of); }, nb::arg("values"));
    module.def(
        "exp2",
        [](const In<double>& values) {
            expect_within(values, -1000.0, 1000.0, "powers from -1000 to 1000 expected");
            return each(values, [](auto begin, auto end, auto found) { std::transform(begin, end, found, exp2_of); });
        },
        nb::arg("values"));
    module.def("log", [](const In<double>& values) { return in_blocks(values, log_block, log_of); }, nb::arg("values"));
    module.def(
        "log2",
        [](const In<double>& values) {
            return each(values, [](auto begin, auto end, auto found) { std::transform(begin, end, found, log2_of); });
        },
        nb::arg("values"));
    module.def("dot", &dot_of, nb::arg("one"), nb::arg("other"));
    module.def("minimise", &minimise, nb::arg("function"), nb::arg("start"), nb::arg("low"), nb::arg("high"),
               nb::arg("tolerance"), nb::arg("gradient_tolerance"), nb::arg("max_steps"));
}
