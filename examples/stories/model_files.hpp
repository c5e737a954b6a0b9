// Declares the names of the model's two files, and finds the two files.
#pragma once

#include <filesystem>

namespace stories {

inline constexpr const char* model_file_name = "stories260K.bin";
inline constexpr const char* tokenizer_file_name = "tok512.bin";

// Returns $LADON_STORIES_DIR if set, else shared/models/stories260K beside the checkout.
std::filesystem::path default_folder();

// Returns the path `file`. Throws Error if no file has this path. The error states where to get the file.
std::filesystem::path existing(std::filesystem::path file);

}  // namespace stories
