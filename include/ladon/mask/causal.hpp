// Causal masks: no query sees a key after the query's own position.
#pragma once

#include <cstddef>

#include <ladon/mask/window.hpp>
#include <ladon/shape.hpp>

namespace ladon::inline LADON_ABI::mask {

// Query i sees keys 0 to i + `offset`. `offset` is a member of Data and defaults to default_offset (offset.hpp). If the
// numbers of queries and keys differ, PyTorch's is_causal corresponds to `offset` 0.
struct Causal : Window<all, 0> {};

// Like Causal, but the offset is a template argument.
template <std::ptrdiff_t Offset>
struct CausalAt : WindowAt<all, 0, Offset> {};

}  // namespace ladon::inline LADON_ABI::mask
