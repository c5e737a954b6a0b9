// Where the model's two files are.
#pragma once

#include <filesystem>

namespace stories {

inline constexpr const char* model_file_name = "stories260K.bin";
inline constexpr const char* tokenizer_file_name = "tok512.bin";

// $LADON_STORIES_DIR if set, else shared/models/stories260K beside the checkout.
std::filesystem::path default_folder();

// `file`, or throws Error that says where such a file is to be had.
std::filesystem::path existing(std::filesystem::path file);

}  // namespace stories
