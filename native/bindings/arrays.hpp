// NumPy arrays as arguments and results of the kernels.
//
// An array is used as it is, or refused with a TypeError. It is never converted: a number could be rounded or wrapped,
// and results would be written to a copy. The C++ type states the dtype, the dimensions and C order; for arrays that a
// kernel writes also that they are aligned and writeable; for bools that each byte is 0 or 1. An unaligned array that
// is only read is copied, because arrays in the messages of a cluster start at any address.
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

// Whether the address is aligned for T.
template <class T>
bool aligned(const void* data) {
    return reinterpret_cast<uintptr_t>(data) % alignof(T) == 0;
}

// A copy at an aligned address.
template <class T, size_t N>
Array<T, N> realigned(const Array<T, N>& array) {
    using Number = std::remove_const_t<T>;
    auto owned = std::make_unique<Number[]>(array.size());
    std::memcpy(owned.get(), array.data(), array.size() * sizeof(Number));
    std::array<size_t, N> shape;
    for (size_t i = 0; i < N; ++i) shape[i] = array.shape(i);
    Number* data = owned.release();
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

// A NumPy array that owns the vector's memory, without a copy.
template <class T>
Out<T> to_numpy(std::vector<T>&& values, std::vector<size_t> shape = {}) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    if (shape.empty()) shape = {owned->size()};
    return Out<T>(owned->data(), shape.size(), shape.data(), owner);
}

// Bytes of 0 and 1 as a NumPy array of bools.
inline Out<bool> bools_to_numpy(std::vector<uint8_t>&& values) {
    auto* owned = new std::vector<uint8_t>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<uint8_t>*>(p); });
    const size_t n = owned->size();
    return Out<bool>(reinterpret_cast<bool*>(owned->data()), {n}, owner);
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
