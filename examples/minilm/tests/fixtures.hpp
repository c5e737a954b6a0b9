// Provides the paths of the model and of the conformance data, and a reader of JSON files, for several tests.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "model_files.hpp"
#include "testing/fixtures.hpp"

namespace minilm {

using examples::TemporaryFolder;

inline std::filesystem::path conformance_file() {
  const char* folder = std::getenv("LADON_SHARED_DIR");
  return std::filesystem::path(folder != nullptr ? folder : LADON_SHARED_DIR) / "conformance" / "minilm.json";
}

inline std::filesystem::path model_file() { return default_model_folder() / model_file_name; }

// Copies config.json into a folder that has other weights.
inline void add_config(const TemporaryFolder& folder) {
  std::filesystem::copy_file(std::filesystem::path(MINILM_DESCRIPTION) / "config.json", folder.path() / "config.json");
}

inline nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

}  // namespace minilm
