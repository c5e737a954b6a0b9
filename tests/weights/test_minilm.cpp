// Packs the checkpoint of examples/minilm, if the checkpoint is present.
#include <doctest/doctest.h>

#include <cstdlib>

#include "packing.hpp"

namespace ladon::weights {
namespace {

// Returns the path to which examples/minilm/fetch_model writes the checkpoint.
std::filesystem::path minilm_file() {
  const auto environment = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  auto folder = environment("LADON_MINILM_DIR");
  if (folder.empty()) {
    const auto cache = environment("XDG_CACHE_HOME");
    folder = (cache.empty() ? environment("HOME") / ".cache" : cache) / "ladon" / "minilm";
  }
  return folder / "model.safetensors";
}

std::string spec_of_six_layers() {
  std::string text;
  for (int layer = 0; layer < 6; ++layer) {
    const std::string before = "layers." + std::to_string(layer) + ".";
    for (const char* line :
         {"attention.in_proj_weight 384+384+384 384", "attention.in_proj_bias 384+384+384",
          "attention.out_proj_weight 384 384", "attention.out_proj_bias 384", "linear1_weight 1536 384",
          "linear1_bias 1536", "linear2_weight 384 1536", "linear2_bias 384", "norm1_weight 384", "norm1_bias 384",
          "norm2_weight 384", "norm2_bias 384"})
      text += before + line + "\n";
  }
  return text;
}

}  // namespace

TEST_SUITE_BEGIN("minilm");

TEST_CASE("all of MiniLM's layers") {
  LADON_SKIP_WITHOUT(minilm_file());
  const examples::TemporaryFolder folder;
  const files::Safetensors file(minilm_file());
  const Spec spec = read_spec(folder.file("spec", spec_of_six_layers()));
  const Found found = find_tensors(file, "model.safetensors", spec, "encoder.layer");
  CHECK(found.left_out.empty());
  const Result result{pack(file, spec, found, {"model.safetensors", "encoder.layer", "weights"}), {}, {}};
  for (std::size_t layer = 0; layer < 6; ++layer) {
    const std::string number = std::to_string(layer), name = "encoder.layer." + number + ".";
    const auto same = [&](const std::string& member, std::size_t offset, const std::string& tensor, std::size_t size) {
      const auto bytes = file.bytes(file.tensors().at(name + tensor));
      const std::size_t begin = (result.constant("layers_" + number + "_" + member) + offset) * sizeof(float);
      CAPTURE(tensor);
      REQUIRE(bytes.size() == size * sizeof(float));
      CHECK(std::memcmp(result.packed.data.data() + begin, bytes.data(), bytes.size()) == 0);
    };
    same("attention_in_proj_weight", 0, "attention.self.query.weight", 384 * 384);
    same("attention_in_proj_weight", 384 * 384, "attention.self.key.weight", 384 * 384);
    same("attention_in_proj_weight", 2 * 384 * 384, "attention.self.value.weight", 384 * 384);
    same("attention_in_proj_bias", 768, "attention.self.value.bias", 384);
    same("attention_out_proj_weight", 0, "attention.output.dense.weight", 384 * 384);
    same("linear1_weight", 0, "intermediate.dense.weight", 1536 * 384);
    same("linear2_weight", 0, "output.dense.weight", 384 * 1536);
    same("norm1_bias", 0, "attention.output.LayerNorm.bias", 384);
    same("norm2_weight", 0, "output.LayerNorm.weight", 384);
  }
}

TEST_SUITE_END();

}  // namespace ladon::weights
