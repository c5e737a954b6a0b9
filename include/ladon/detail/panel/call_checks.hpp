// SPDX-License-Identifier: Apache-2.0
// Checks the memory of a call in checked builds (checks.hpp): no pointer is null, and the workspace is aligned. The
// output, the inputs, the workspace and the cache do not overlap, but the output may begin where the input x begins.
// Also reads from the memory argument what one thread computes (threads.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/config/compiler.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/threads.hpp>

namespace LADON_NAMESPACE::detail {

// The call is not divided: one thread computes all parts of every phase.
struct WholeCall {
  static constexpr bool whole = true;
  static constexpr bool has(std::size_t) noexcept { return true; }
  static constexpr Range of(std::size_t parts) noexcept { return {0, parts}; }
};

struct ShareOfPhase {
  static constexpr bool whole = false;
  std::size_t phase;
  Share share;
  constexpr bool has(std::size_t which) const noexcept { return which == phase; }
  constexpr Range of(std::size_t parts) const noexcept { return share.of(parts); }
};

template <class Memory, class Shared, class Scratch>
concept MemoryOf = std::is_same_v<std::remove_reference_t<Memory>, Workspace<Shared, Scratch>> ||
                   std::is_same_v<std::remove_cvref_t<Memory>, Part<Shared, Scratch>>;
// The type of the memory in overloads that report mistakes (LADON_REJECT_MISTAKES). These overloads are not templates,
// because clang++ prints template arguments before a message.
template <class Shared, class Scratch>
struct AnyMemory {
  AnyMemory(const Workspace<Shared, Scratch>&);
  AnyMemory(const Part<Shared, Scratch>&);
};

// Returns the share of the call that this thread computes. Precondition: part.phase < `phases`.
template <class Shared, class Scratch>
LADON_INLINE constexpr WholeCall share_of(const Workspace<Shared, Scratch>&, Caller, std::size_t) noexcept {
  return {};
}
template <class Shared, class Scratch>
LADON_INLINE constexpr ShareOfPhase share_of(const Part<Shared, Scratch>& part, [[maybe_unused]] Caller caller,
                                             [[maybe_unused]] std::size_t phases) noexcept {
  LADON_EXPECTS(part.phase < phases, "ladon: there are fewer phases", caller,
                {{"phase", part.phase}, {"phases", phases}});
  return {part.phase, part.share};
}

// If `count` is 0, `data` may be null.
struct Floats {
  const float* data = nullptr;
  std::size_t count = 0;
};

// The arrays of a call, which writes only `y`.
struct CallMemory {
  Floats y;
  Floats x;
  Floats inputs[2] = {};
};

inline bool overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) noexcept {
  const auto a_begin = reinterpret_cast<std::uintptr_t>(a), b_begin = reinterpret_cast<std::uintptr_t>(b);
  return a_begin < b_begin + b_bytes && b_begin < a_begin + a_bytes;
}
inline bool overlap(const Floats& a, const Floats& b) noexcept {
  return overlap(a.data, a.count * sizeof(float), b.data, b.count * sizeof(float));
}

inline std::ptrdiff_t bytes_between(const void* a, const void* b) noexcept {
  return static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(b) - reinterpret_cast<std::uintptr_t>(a));
}

// Checks the arrays of `call`, and `owned`: the workspace or its members, and the cache.
template <class... Owned>
LADON_INLINE constexpr void expect_memory([[maybe_unused]] Caller caller, [[maybe_unused]] const CallMemory& call,
                                          [[maybe_unused]] const Owned&... owned) noexcept {
#if LADON_CHECKED
  if (std::is_constant_evaluated()) return;
  LADON_EXPECTS(call.y.data != nullptr || call.y.count == 0, "ladon: the output is a null pointer", caller);
  LADON_EXPECTS(call.y.data == call.x.data || !overlap(call.y, call.x),
                "ladon: y overlaps x and does not begin where x begins", caller,
                {{"bytes from x to y", bytes_between(call.x.data, call.y.data)}});
  for (const Floats& input : {call.x, call.inputs[0], call.inputs[1]}) {
    LADON_EXPECTS(input.data != nullptr || input.count == 0, "ladon: an input is a null pointer", caller);
  }
  for (const Floats& input : call.inputs) {
    LADON_EXPECTS(!overlap(call.y, input), "ladon: y overlaps an input", caller,
                  {{"bytes from the input to y", bytes_between(input.data, call.y.data)}});
  }
  const auto expect_apart = [&]<class T>(const T& object) {
    // Without `opaque`, the compiler assumes that a reference is aligned, and removes the check.
    const void* const address = opaque(static_cast<const void*>(&object));
    LADON_EXPECTS(reinterpret_cast<std::uintptr_t>(address) % alignof(T) == 0,
                  "ladon: a workspace or cache is not aligned to 64 bytes", caller,
                  {{"address % 64", reinterpret_cast<std::uintptr_t>(address) % 64}});
    for (const Floats& array : {call.y, call.x, call.inputs[0], call.inputs[1]}) {
      LADON_EXPECTS(!overlap(array.data, array.count * sizeof(float), address, sizeof(T)),
                    "ladon: an array overlaps the workspace or the cache", caller,
                    {{"bytes from the workspace or the cache to the array", bytes_between(address, array.data)}});
    }
  };
  (expect_apart(owned), ...);
#endif
}

}  // namespace LADON_NAMESPACE::detail
