// Finds the files of the model.
#pragma once

#include <filesystem>

#include "error.hpp"
#include "user_folders.hpp"

namespace minilm {

using ModelError = examples::Error;

inline constexpr const char* model_file_name = "model.safetensors";
inline constexpr const char* tokenizer_file_name = "tokenizer.json";

// Returns the folder to which fetch_model downloads: $LADON_MINILM_DIR if set, else ladon/minilm in the user's cache
// folder.
inline std::filesystem::path default_model_folder() {
  if (auto folder = examples::environment_path("LADON_MINILM_DIR"); !folder.empty()) return folder;
  return examples::cache_folder() / "ladon" / "minilm";
}

}  // namespace minilm
