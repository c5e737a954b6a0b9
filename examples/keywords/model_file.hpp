// Finds the model's file, kwt1.safetensors.
#pragma once

#include <filesystem>

namespace keywords {

inline constexpr const char* model_file_name = "kwt1.safetensors";

// Returns the file in the folder that LADON_KEYWORDS_DIR names, if the file exists there. Otherwise, returns the path
// of the file in ladon/keywords of the user's cache folder. fetch_model puts the file into one of these two folders.
std::filesystem::path default_model_file();

}  // namespace keywords
