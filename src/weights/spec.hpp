// SPDX-License-Identifier: Apache-2.0
// Reads the SPEC of a kernel: a text with a line for each tensor of the kernel, which CMake writes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ladon::weights {

// The element type of a tensor of the kernel. An int8 or int4 weight also has a scale and a sum for each row.
enum class Element { float32, bfloat16, int8, int4 };

// One tensor of the kernel. Its name in the SPEC ends with its role, such as in_proj_weight. For a tensor of a layer's
// attention, "attention." comes before the role. In a decoder, "self_attention." or "cross_attention." comes before the
// role. For a tensor of a stack's layer, the name begins with "layers.N.".
struct Member {
  std::string name;
  std::optional<std::size_t> layer;  // the number of the layer in a stack
  bool in_attention = false;
  bool in_cross_attention = false;   // then in_attention is true, too
  std::string role;                  // in_proj_weight, norm1_bias, ..
  std::vector<std::uint64_t> rows;   // the parts of the first dimension: three for in_proj, else one
  std::vector<std::uint64_t> shape;  // (outputs, inputs), also if in_out is true
  bool in_out = false;               // the matrix is (inputs, outputs) in memory
  std::uint64_t blocks = 1;          // in_proj: the blocks, each with rows of queries, keys and values
  bool values_first = false;         // in_proj: in a block, values are before keys
  Element element = Element::float32;
  bool rotated = false;  // int8 and int4: the weights are rotated (ladon::layout::RotatedInt8)

  bool is_quantised() const { return element == Element::int8 || element == Element::int4; }
};

enum class Kind { attention, layer, stack };

struct Spec {
  Kind kind = Kind::attention;
  std::vector<Member> members;                          // at least one member, and no duplicate names
  std::unordered_map<std::string, std::size_t> places;  // the index of each member by its name
  std::uint64_t kv_heads = 0;                           // or 0, if the SPEC does not say the number

  // Returns the member with the role `role` in the same attention, layer or stack as `member`, or null if the SPEC has
  // no such member.
  [[nodiscard]] const Member* beside(const Member& member, std::string_view role) const;

  [[nodiscard]] bool is_decoder() const { return std::ranges::any_of(members, &Member::in_cross_attention); }

  // Adds a member. Returns false if the SPEC has a member of this name.
  bool add(const Member& member);

  // Returns the members of the first layer of a stack and the members beside the layers, or the whole SPEC if these are
  // no members.
  [[nodiscard]] Spec first_layer() const;
};

// Reads lines of `<member> <outputs> [<inputs>] [in_out] [blocks <n>] [values_first] [bfloat16|int8|int8
// rotated|int4|int4 rotated]`, where the outputs of in_proj are a sum of three parts, such as 384+384+384. Only a
// weight of two dimensions may be bfloat16, int8 or int4. A line `kv_heads <n>` says the number of key/value heads.
// Throws files::Error, whose text has a line for each wrong line.
Spec read_spec(const std::filesystem::path& file);

// Like read_spec, but reads the lines from a text. `name` is the name of the text in errors.
Spec parse_spec(const std::string& text, const std::string& name);

}  // namespace ladon::weights
