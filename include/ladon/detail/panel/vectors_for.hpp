// SPDX-License-Identifier: Apache-2.0
// Chooses the vectors with which a layer computes (detail/vec/choose.hpp), by the precision of its weights.
#pragma once

#include <type_traits>

#include <ladon/detail/vec/choose.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE::detail {

template <class Precision>
using VectorsFor = std::conditional_t<precision::is_int8<Precision>, vec::Int8Vectors, vec::NativeVectors>;

}  // namespace LADON_NAMESPACE::detail
