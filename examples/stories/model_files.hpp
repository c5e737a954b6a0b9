// Declares the names of the model's two files, and finds the two files.
#pragma once

#include <filesystem>

namespace stories {

inline constexpr const char* model_file_name = "stories260K.bin";
inline constexpr const char* tokenizer_file_name = "tok512.bin";

// Returns $LADON_STORIES_DIR if set, else shared/models/stories260K beside the checkout.
std::filesystem::path default_folder();

// Returns the path `file` if it names an existing file. Otherwise, throws Error. The error states where to get the
// file.
std::filesystem::path existing(std::filesystem::path file);

}  // namespace stories
