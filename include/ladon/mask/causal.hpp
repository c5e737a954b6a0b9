// SPDX-License-Identifier: Apache-2.0
// Causal masks: a query sees no key whose position is after the position of the query.
#pragma once

#include <cstddef>

#include <ladon/mask/window.hpp>
#include <ladon/shape.hpp>

namespace ladon::inline LADON_ABI::mask {

// Query i sees keys 0 to i + `offset`. `offset` is a member of Data and defaults to default_offset (offset.hpp).
// PyTorch's is_causal always has the offset 0. The default offset differs from PyTorch's offset if shape.queries and
// shape.keys differ.
struct Causal : Window<all, 0> {};

// Like Causal, but the offset is a template argument.
template <std::ptrdiff_t Offset>
struct CausalAt : WindowAt<all, 0, Offset> {};

}  // namespace ladon::inline LADON_ABI::mask
