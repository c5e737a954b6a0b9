// SPDX-License-Identifier: Apache-2.0
// What a kernel needs: its members, a line each, as CMake writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ladon::weights {

// The type of a member. An int8 weight has a scale and a sum for each row.
enum class Element { float32, bfloat16, int8 };

// One tensor of the kernel. Its name in the SPEC is [layers.N.][attention.]role.
struct Member {
  std::string name;
  std::optional<std::size_t> layer;  // of a stack
  bool in_attention = false;
  std::string role;                 // in_proj_weight, norm1_bias, ..
  std::vector<std::uint64_t> rows;  // the parts of the first dimension: three for in_proj, else one
  std::vector<std::uint64_t> shape;
  Element element = Element::float32;
};

enum class Kind { attention, layer, stack };

struct Spec {
  Kind kind = Kind::attention;
  std::vector<Member> members;  // at least one, no name twice

  // The member that differs from this one by its role alone; null where the kernel has none.
  [[nodiscard]] const Member* beside(const Member& member, std::string_view role) const;
};

// Reads lines of `<member> <dim> [<dim>] [bfloat16|int8]`, where the first dim of in_proj is the sum of its three
// parts, such as 384+384+384. Only a weight of two dimensions may be bfloat16 or int8. Throws files::Error, whose text
// has a line for each wrong one.
Spec read_spec(const std::filesystem::path& file);

// Reads the same lines from a text. `name` is the name of the text in errors.
Spec parse_spec(const std::string& text, const std::string& name);

}  // namespace ladon::weights
