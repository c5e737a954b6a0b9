// SPDX-License-Identifier: Apache-2.0
// Causal masks: a query sees no key whose position is after the position of the query.
#pragma once

#include <cstddef>

#include <ladon/mask/window.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::mask {

// Query i sees keys 0 to i + `offset`. `offset` is a member of Data. By default, the last query of the shape sees all
// keys (default_offset, offset.hpp). PyTorch's is_causal uses the offset 0 instead. Both offsets are equal if
// shape.queries equals shape.keys.
struct Causal : Window<all, 0> {};

// Like Causal, but the offset is a template argument.
template <std::ptrdiff_t Offset>
struct CausalAt : WindowAt<all, 0, Offset> {};

}  // namespace LADON_NAMESPACE::mask
