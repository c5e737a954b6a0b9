// Finds the folder of the model.
#pragma once

#include <filesystem>

namespace minilm {

inline constexpr const char* model_file_name = "model.safetensors";
inline constexpr const char* tokenizer_file_name = "tokenizer.json";

// Returns the folder to which fetch_model downloads: $LADON_MINILM_DIR if set, else ladon/minilm in the user's cache
// folder.
std::filesystem::path default_model_folder();

}  // namespace minilm
