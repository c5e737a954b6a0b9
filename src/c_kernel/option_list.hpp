// SPDX-License-Identifier: Apache-2.0
// Defines the struct Option, which describes one member of NAME_options. The C header and the description of a
// WebAssembly module are made from lists of Option.
#pragma once

#include <cstddef>
#include <string_view>

#include "element_types.hpp"
#include "text.hpp"

namespace c_kernel::inline LADON_ABI {

// A member of NAME_options. In NAME.h, the comment of the member consists of the text `before`, the extents of the
// array such as "[4][20]", and the text `after`.
struct Option {
  std::string_view name;
  Type type;
  std::string_view before = "";
  Extents extents{};
  Axes axes{};
  std::string_view after = "";
  bool required = false;              // a null pointer is an error
  std::size_t count = 0;              // number of pointers if the member is an array of pointers
  std::string_view of = "";           // the option that this option belongs to: "boolean" for boolean_keys
  List<std::string_view, 8> masks{};  // the masks that use the option; empty if no mask uses the option
};
using Options = List<Option, 24>;

}  // namespace c_kernel::inline LADON_ABI
