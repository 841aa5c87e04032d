// Extensions of GCC and Clang that the kernels use, in one place. Another compiler has to bring these five.
#pragma once

#include <cstdint>

#if !defined(__SIZEOF_INT128__)
#error "Hornbeam needs 128-bit integers: use GCC or Clang for a 64-bit system, on Windows zig or mingw-w64"
#endif

namespace hornbeam {

using Wide = __int128;  // products and squares of 64-bit integers
using UnsignedWide = unsigned __int128;

typedef int64_t PairOfSums __attribute__((vector_size(16)));  // two sums that are added in one step

inline int lowest_bit(uint64_t bits) { return __builtin_ctzll(bits); }

inline void prefetch(const void* address) { __builtin_prefetch(address); }

}  // namespace hornbeam
