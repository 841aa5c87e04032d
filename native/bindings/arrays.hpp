// NumPy arrays as arguments and results of the kernels.
//
// An array is taken as it is or refused with a TypeError. Its numbers are never converted: one could be rounded or
// wrapped, and a result would be written to a copy. Type, dimensions, C order and, where a kernel writes, alignment and
// that it may be written to are part of the C++ type; so is that the bytes of bools are 0 or 1. What a kernel only
// reads may begin at any address, as arrays in the messages of a cluster do: it is copied.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace hornbeam {

namespace nb = nanobind;

template <class T, size_t N>
using Plain = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

template <class T, size_t N>
struct Array : Plain<T, N> {
    Array() = default;
    explicit Array(const Plain<T, N>& plain) : Plain<T, N>(plain) {}
    T* begin() const { return this->data(); }
    T* end() const { return this->data() + this->size(); }
};

template <class T>
using In = Array<const T, 1>;
template <class T>
using InOut = Array<T, 1>;
template <class T>
using Matrix = Array<T, 2>;
template <class T>
using Out = nb::ndarray<nb::numpy, T>;

// Whether numbers of this type may be read from the address.
template <class T>
bool aligned(const void* data) {
    return reinterpret_cast<uintptr_t>(data) % alignof(T) == 0;
}

// The same numbers at an address where they may be read.
template <class T, size_t N>
Array<T, N> realigned(const Array<T, N>& array) {
    using Number = std::remove_const_t<T>;
    auto kept = std::make_unique<Number[]>(array.size());
    std::memcpy(kept.get(), array.data(), array.size() * sizeof(Number));
    std::array<size_t, N> shape;
    for (size_t i = 0; i < N; ++i) shape[i] = array.shape(i);
    Number* data = kept.release();
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<Number*>(p); });
    return Array<T, N>(Plain<T, N>(data, N, shape.data(), owner));
}

template <class T, size_t N>
bool readable(const Array<T, N>& array) {
    if constexpr (std::is_same_v<std::remove_const_t<T>, bool>) {
        const auto* byte = reinterpret_cast<const uint8_t*>(array.data());
        return std::all_of(byte, byte + array.size(), [](uint8_t b) { return b <= 1; });
    }
    return aligned<T>(array.data()) || array.size() == 0;
}

// A vector's memory handed over to NumPy without a copy.
template <class T>
Out<T> give(std::vector<T>&& values, std::vector<size_t> shape = {}) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    if (shape.empty()) shape = {kept->size()};
    return Out<T>(kept->data(), shape.size(), shape.data(), owner);
}

// Bytes of 0 and 1 as NumPy's bools.
inline Out<bool> give_bools(std::vector<uint8_t>&& values) {
    auto* kept = new std::vector<uint8_t>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<uint8_t>*>(p); });
    const size_t n = kept->size();
    return Out<bool>(reinterpret_cast<bool*>(kept->data()), {n}, owner);
}

template <class T, size_t N>
std::vector<std::remove_const_t<T>> copied(const Array<T, N>& array) {
    return {array.begin(), array.end()};
}

}  // namespace hornbeam

namespace nanobind::detail {

template <class T, size_t N>
struct type_caster<hornbeam::Array<T, N>> {
    using Given = hornbeam::Array<T, N>;
    using Caster = make_caster<hornbeam::Plain<T, N>>;
    NB_TYPE_CASTER(Given, Caster::Name)

    template <class Flags>
    bool from_python(handle source, Flags flags, cleanup_list* cleanup) noexcept {
        Caster caster;
        if (!caster.from_python(source, flags & ~static_cast<Flags>(cast_flags::convert), cleanup)) return false;
        value = Given(caster.value);
        if (!value.is_valid()) return false;
        if constexpr (std::is_const_v<T>) {
            try {
                if (!hornbeam::aligned<T>(value.data()) && value.size()) value = hornbeam::realigned(value);
            } catch (const std::bad_alloc&) {
                return false;
            }
        }
        return hornbeam::readable(value);
    }
};

}  // namespace nanobind::detail
