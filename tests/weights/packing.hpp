// Packs the tensors of small checkpoints for a kernel, and reads the results.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "file_error.hpp"
#include "pack.hpp"
#include "safetensors_file.hpp"
#include "testing/fixtures.hpp"

namespace ladon::weights {

struct Result {
  Packed packed;
  std::vector<std::string> left_out;
  std::string convention;

  // Returns the value of the constant `name` in the generated header `packed.offsets`.
  [[nodiscard]] std::size_t constant(const std::string& name) const {
    const std::string before = "inline constexpr unsigned long " + name + " = ";
    const auto at = packed.offsets.find(before);
    CAPTURE(name);
    REQUIRE(at != std::string::npos);
    return std::stoul(packed.offsets.substr(at + before.size()));
  }

  template <class T>
  [[nodiscard]] std::vector<T> elements(const std::string& name, std::size_t size) const {
    const std::size_t begin = constant(name) * sizeof(T);
    CHECK(begin % 64 == 0);
    std::vector<T> found(size);
    REQUIRE(begin + size * sizeof(T) <= packed.data.size());
    std::memcpy(found.data(), packed.data.data() + begin, size * sizeof(T));
    return found;
  }
  [[nodiscard]] std::vector<float> values(const std::string& name, std::size_t size) const {
    return elements<float>(name, size);
  }
};

// Packs the tensors of a safetensors file whose bytes are `content`.
inline Result packed_file(const std::string& content, const std::string& spec_text, const std::string& prefix) {
  const examples::TemporaryFolder folder;
  const files::Safetensors file(folder.file("m.safetensors", content));
  const Spec spec = read_spec(folder.file("spec", spec_text));
  const Found found = find_tensors(file, "m.safetensors", spec, prefix);
  return {pack(file, spec, found, {"m.safetensors", prefix, "some::weights"}), found.left_out,
          std::string(found.convention)};
}

inline Result packed(const files::Checkpoint& checkpoint, const std::string& spec_text, const std::string& prefix) {
  return packed_file(checkpoint.content(), spec_text, prefix);
}

// Packs the tensors of `checkpoint`. Returns the text of the error, or "" if packing succeeds.
inline std::string complaint(const files::Checkpoint& checkpoint, const std::string& spec_text,
                             const std::string& prefix) {
  return examples::error_of<files::Error>([&] { static_cast<void>(packed(checkpoint, spec_text, prefix)); });
}

// The query projection has four rows, but the key and value projections have only two rows each. So a test fails if
// `pack` confuses query and key.
inline const std::string in_proj_spec =
    "in_proj_weight 4+2+2 4\nin_proj_bias 4+2+2\nout_proj_weight 4 4\nout_proj_bias 4\n";
inline const std::string separate_spec =
    "query_proj_weight 4 4\nquery_proj_bias 4\nkey_proj_weight 2 4\nkey_proj_bias 2\nvalue_proj_weight 2 4\n"
    "value_proj_bias 2\nout_proj_weight 4 4\nout_proj_bias 4\n";

inline void add_pytorch_attention(files::Checkpoint& checkpoint, const std::string& below) {
  checkpoint.add(below + "in_proj_weight", 8, 4, 0).add(below + "in_proj_bias", 8, 100);
  checkpoint.add(below + "out_proj.weight", 4, 4, 200).add(below + "out_proj.bias", 4, 300);
}

inline void add_bert_attention(files::Checkpoint& checkpoint, const std::string& below) {
  checkpoint.add(below + "self.value.weight", 2, 4, 24).add(below + "self.value.bias", 2, 106);
  checkpoint.add(below + "self.query.weight", 4, 4, 0).add(below + "self.query.bias", 4, 100);
  checkpoint.add(below + "self.key.weight", 2, 4, 16).add(below + "self.key.bias", 2, 104);
  checkpoint.add(below + "output.dense.weight", 4, 4, 200).add(below + "output.dense.bias", 4, 300);
}

inline void add_llama_attention(files::Checkpoint& checkpoint, const std::string& below) {
  checkpoint.add(below + "q_proj.weight", 4, 4, 0).add(below + "q_proj.bias", 4, 100);
  checkpoint.add(below + "k_proj.weight", 2, 4, 16).add(below + "k_proj.bias", 2, 104);
  checkpoint.add(below + "v_proj.weight", 2, 4, 24).add(below + "v_proj.bias", 2, 106);
  checkpoint.add(below + "o_proj.weight", 4, 4, 200).add(below + "o_proj.bias", 4, 300);
}

inline void check_packed_attention(const Result& result, const std::string& before = "") {
  CHECK(result.values(before + "in_proj_weight", 32) == files::counted(32, 0));
  CHECK(result.values(before + "in_proj_bias", 8) == files::counted(8, 100));
  CHECK(result.values(before + "out_proj_weight", 16) == files::counted(16, 200));
  CHECK(result.values(before + "out_proj_bias", 4) == files::counted(4, 300));
}

inline void check_separate_attention(const Result& result, const std::string& before = "") {
  CHECK(result.values(before + "query_proj_weight", 16) == files::counted(16, 0));
  CHECK(result.values(before + "query_proj_bias", 4) == files::counted(4, 100));
  CHECK(result.values(before + "key_proj_weight", 8) == files::counted(8, 16));
  CHECK(result.values(before + "key_proj_bias", 2) == files::counted(2, 104));
  CHECK(result.values(before + "value_proj_weight", 8) == files::counted(8, 24));
  CHECK(result.values(before + "value_proj_bias", 2) == files::counted(2, 106));
  CHECK(result.values(before + "out_proj_weight", 16) == files::counted(16, 200));
  CHECK(result.values(before + "out_proj_bias", 4) == files::counted(4, 300));
}

}  // namespace ladon::weights
