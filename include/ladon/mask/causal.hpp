// Causal masks: no query sees a key after its own position.
#pragma once

#include <cstddef>

#include <ladon/mask/window.hpp>
#include <ladon/shape.hpp>

namespace ladon::inline LADON_ABI::mask {

// Query i sees keys 0 to i + offset. `offset` is a member of Data, by default default_offset (offset.hpp). PyTorch's
// is_causal with unequal lengths is offset 0.
struct Causal : Window<all, 0> {};

// Like Causal, with an offset that the compiler knows.
template <std::ptrdiff_t Offset>
struct CausalAt : WindowAt<all, 0, Offset> {};

}  // namespace ladon::inline LADON_ABI::mask
