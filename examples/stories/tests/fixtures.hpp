// What several tests need: a folder for files of their own, files that are almost right, and data that may be absent.
#pragma once

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "model_files.hpp"
#include "testing/fixtures.hpp"

namespace stories {

using examples::TemporaryFolder;

template <class Number>
std::string bytes_of(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

inline std::filesystem::path conformance_file() {
  const char* folder = std::getenv("LADON_SHARED_DIR");
  return std::filesystem::path(folder != nullptr ? folder : LADON_SHARED_DIR) / "conformance" / "stories260K.json";
}

inline std::filesystem::path model_file() { return default_folder() / model_file_name; }
inline std::filesystem::path tokenizer_file() { return default_folder() / tokenizer_file_name; }

}  // namespace stories
