// Declares the names of the model's two files, and finds the folder of the two files.
#pragma once

#include <filesystem>

namespace minilm {

inline constexpr const char* model_file_name = "model.safetensors";
inline constexpr const char* vocabulary_file_name = "vocab.txt";

// Returns the folder to which fetch_model downloads: $LADON_MINILM_DIR if set, else ladon/minilm in the user's cache
// folder.
std::filesystem::path default_model_folder();

}  // namespace minilm
