// SPDX-License-Identifier: Apache-2.0
// Implements the checks of a C call at run time: null pointers, alignment, lengths and overlaps. All checks are done
// before the call writes anything. The status of the call is the first error, or LADON_OK if there is no error. Kernels
// with ARGUMENT_CHECKS OFF check nothing, so the status is always LADON_OK.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/config/compiler.hpp>

#if !defined(LADON_ARGUMENT_CHECKS)
#define LADON_ARGUMENT_CHECKS 1
#endif

namespace c_kernel::inline LADON_ABI {

#if !LADON_ARGUMENT_CHECKS
template <std::size_t>
class Check {
 public:
  constexpr ladon_status status() const { return LADON_OK; }
  constexpr bool ok() const { return true; }
  constexpr void expect(bool, ladon_status) {}
  constexpr void aligned(const void*, ladon_status) {}
  template <class T>
  constexpr void writes(const T*, std::size_t) {}
  template <class T>
  constexpr void reads(const T*, std::size_t) {}
  constexpr void reads_weights(const void*, std::size_t) {}
  constexpr void reads_x(const float*, std::size_t) {}
};
#else
// Collects the checks of one call. MostWritten is the largest number of memory regions that the call writes.
template <std::size_t MostWritten>
class Check {
 public:
  ladon_status status() const { return status_; }
  bool ok() const { return status_ == LADON_OK; }
  // Records the error status `otherwise` if `holds` is false and no earlier check of the call has failed.
  void expect(bool holds, ladon_status otherwise) {
    if (!holds && status_ == LADON_OK) status_ = otherwise;
  }

  // Checks that a workspace, a cache or the memory for int8 weights is not null and is aligned to 64 bytes, as NAME.h
  // requires.
  void aligned(const void* memory, ladon_status if_null) {
    expect(memory != nullptr, if_null);
    expect(reinterpret_cast<std::uintptr_t>(memory) % 64 == 0, LADON_MISALIGNED);
  }
  // Registers `count` elements at `memory` as written memory: memory that the call writes. The elements must not
  // overlap with memory that was registered before. All written memory must be registered before the first call of
  // `reads` or `reads_x`.
  template <class T>
  void writes(const T* memory, std::size_t count) {
    const Piece piece = piece_of(memory, count);
    expect(apart(piece), LADON_OVERLAP);
    if (count_ < MostWritten) written_[count_++] = piece;
  }
  // Checks that `count` elements at `memory` do not overlap with written memory. A null pointer always passes.
  template <class T>
  void reads(const T* memory, std::size_t count) {
    if (memory != nullptr) expect(apart(piece_of(memory, count)), LADON_OVERLAP);
  }
  // Like `reads`, but for a tensor of the weights, which must not be null. This function is not inlined, because
  // kernels with int8 weights have many tensors.
  LADON_NOINLINE void reads_weights(const void* memory, std::size_t bytes) {
    expect(memory != nullptr, LADON_NULL_WEIGHTS);
    reads(static_cast<const std::byte*>(memory), bytes);
  }
  // Checks that `x` does not overlap with written memory. There is one exception: `x` may begin at the same address as
  // `y`. `y` must be the first piece of memory that was registered with `writes`.
  void reads_x(const float* x, std::size_t count) {
    const Piece piece = piece_of(x, count);
    for (std::size_t i = 0; i < count_; ++i) {
      const bool same = i == 0 && piece.begin == written_[0].begin;
      expect(same || !piece.meets(written_[i]), LADON_OVERLAP);
    }
  }

 private:
  // A region of memory: the addresses from `begin` up to, but not including, `end`.
  struct Piece {
    std::uintptr_t begin, end;
    bool meets(const Piece& other) const { return begin < other.end && other.begin < end; }
  };
  template <class T>
  static Piece piece_of(const T* memory, std::size_t count) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    return {begin, begin + count * sizeof(T)};
  }
  // Returns whether `piece` (a region of memory) is disjoint from all memory that the call writes. The function is not
  // inlined: with an inlined copy for every tensor, a gzipped WebAssembly module is about 100 bytes larger.
  LADON_NOINLINE bool apart(const Piece& piece) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (piece.meets(written_[i])) return false;
    }
    return true;
  }

  ladon_status status_ = LADON_OK;
  Piece written_[MostWritten] = {};
  std::size_t count_ = 0;
};
#endif

}  // namespace c_kernel::inline LADON_ABI
