// Where the model's file is.
#pragma once

#include <filesystem>

namespace keywords {

inline constexpr const char* model_file_name = "kwt1.safetensors";

// Returns the file in the folder that LADON_KEYWORDS_DIR names, or in ladon/keywords of the user's cache folder.
// fetch_model puts the file into one of them. If neither has the file, returns the file in the cache folder.
std::filesystem::path default_model_file();

}  // namespace keywords
