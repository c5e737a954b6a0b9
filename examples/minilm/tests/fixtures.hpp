// Provides the paths of the model and the recorded results of transformers.
#pragma once

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "minilm.hpp"
#include "testing/fixtures.hpp"

namespace minilm {

using examples::TemporaryFolder;

inline std::filesystem::path model_file() { return default_folder() / "model.safetensors"; }

inline std::filesystem::path recorded_file() {
  const char* const folder = std::getenv("LADON_SHARED_DIR");
  return std::filesystem::path(folder != nullptr ? folder : LADON_SHARED_DIR) / "conformance" / "minilm.json";
}

inline nlohmann::json recorded() { return nlohmann::json::parse(examples::content_of(recorded_file())); }

// Copies a file of `model` into a folder that has other weights.
inline void add_description(const TemporaryFolder& folder, const char* name) {
  std::filesystem::copy_file(std::filesystem::path(MINILM_DESCRIPTION) / name, folder.path() / name);
}

}  // namespace minilm
