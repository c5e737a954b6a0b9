// SPDX-License-Identifier: Apache-2.0
// AMX is the matrix unit of Intel's servers since Sapphire Rapids. It has eight registers of 16 rows of 64 bytes: 0 to
// 3 for sums, 4 and 5 for weights, 6 and 7 for features. Each of these functions is one instruction, with register
// numbers as template arguments:
//     load<Tile>(from, stride)    loads rows that begin `stride` bytes apart
//     store<Tile>(to, stride)     stores them
//     zero<Tile>()                fills a register with 0
//     add<Weight, Sums, W, X>()   adds W times X to the sums: 32-bit integers, or floats if Weight is BFloat16
//         Sums    [16 rows of weights][Lanes tokens]
//         W       [16 rows of weights][16 tuples][tuple size]
//         X       [16 tuples][Lanes tokens][tuple size]         features as they lie in a panel
//
// Registers are valid between begin<Lanes>() and end(). Callers first test `fits` and ready().
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/bfloat16.hpp>
#include <ladon/detail/config/compiler.hpp>

namespace LADON_NAMESPACE::detail::vec {

struct NoMatrixUnit {
  static constexpr std::size_t rows = 1, row_bytes = 1;
  template <class Element, std::size_t Features, std::size_t Lanes>
  static constexpr bool fits = false;
  static constexpr bool ready() noexcept { return false; }
};

#if LADON_AMX
struct MatrixUnit {
  static constexpr std::size_t rows = 16, row_bytes = 64;

  // Whether the unit multiplies rows of Features features in whole steps. The unit adds floats in its own order, so
  // deterministic builds multiply only integers.
  template <class Element, std::size_t Features, std::size_t Lanes>
  static constexpr bool fits = (sizeof(Element) == 1 || (std::is_same_v<Element, BFloat16> && !LADON_DETERMINISTIC)) &&
                               Features * sizeof(Element) % row_bytes == 0 && Lanes > 1 && Lanes <= 16;

  // Whether the processor has the unit and the system permits it. Linux saves the registers only for a process that has
  // asked for the unit, and refuses if a thread's signal stack is too small.
  static LADON_INLINE bool ready() noexcept {
    const int known = __atomic_load_n(&permitted, __ATOMIC_RELAXED);
    return known == unknown ? ask() : known == yes;
  }

  template <std::size_t Lanes>
  static LADON_INLINE void begin() noexcept {
    struct alignas(64) Configuration {
      std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
      std::uint16_t bytes_of_rows[16] = {4 * Lanes, 4 * Lanes, 4 * Lanes, 4 * Lanes, 64, 64, 4 * Lanes, 4 * Lanes};
      std::uint8_t rows_of_tile[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    };
    static constexpr Configuration configuration;
    asm volatile("ldtilecfg %0" : : "m"(configuration));
  }
  // Releases the registers, so that the system need not save them.
  static LADON_INLINE void end() noexcept { asm volatile("tilerelease"); }

  // Assembly: the intrinsics of g++ take no template arguments.
  template <int Tile>
  static LADON_INLINE void zero() noexcept {
    asm volatile("tilezero {%%tmm%c0|tmm%c0}" : : "n"(Tile));
  }
  template <int Tile>
  static LADON_INLINE void load(const void* from, std::size_t stride) noexcept {
    asm volatile("tileloadd {(%1,%2,1), %%tmm%c0|tmm%c0, [%1+%2*1]}" : : "n"(Tile), "r"(from), "r"(stride) : "memory");
  }
  template <int Tile>
  static LADON_INLINE void store(void* to, std::size_t stride) noexcept {
    asm volatile("tilestored {%%tmm%c0, (%1,%2,1)|[%1+%2*1], tmm%c0}" : : "n"(Tile), "r"(to), "r"(stride) : "memory");
  }
  template <class Weight, int Sums, int W, int X>
  static LADON_INLINE void add() noexcept {
    if constexpr (std::is_same_v<Weight, std::int8_t>) {
      asm volatile("tdpbsud {%%tmm%c2, %%tmm%c1, %%tmm%c0|tmm%c0, tmm%c1, tmm%c2}" : : "n"(Sums), "n"(W), "n"(X));
    } else {
      asm volatile("tdpbf16ps {%%tmm%c2, %%tmm%c1, %%tmm%c0|tmm%c0, tmm%c1, tmm%c2}" : : "n"(Sums), "n"(W), "n"(X));
    }
  }

 private:
  enum : int { unknown, no, yes };
  static inline int permitted = unknown;

  // Asks the processor whether it has the unit, and Linux for permission to use it. Several threads may ask at the same
  // time, and Linux may answer differently, because the sizes of signal stacks may change. All steps of a call must
  // agree, so the first answer is stored for all threads.
  static LADON_NOINLINE bool ask() noexcept {
    constexpr unsigned features = 7, bfloat16 = 1u << 22, tiles = 1u << 24, int8 = 1u << 25,
                       all = bfloat16 | tiles | int8;
    unsigned a = features, b, c = 0, d;
    asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    long error = -1;
    if ((d & all) == all) {
      constexpr long arch_prctl = 158, request_permission = 0x1023, tile_data = 18;
      asm volatile("syscall"
                   : "=a"(error)
                   : "a"(arch_prctl), "D"(request_permission), "S"(tile_data)
                   : "rcx", "r11", "memory");
    }
    int stored = unknown;
    const int answer = error == 0 ? yes : no;
    const bool first =
        __atomic_compare_exchange_n(&permitted, &stored, answer, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return (first ? answer : stored) == yes;
  }
};
#else
using MatrixUnit = NoMatrixUnit;
#endif

}  // namespace LADON_NAMESPACE::detail::vec
