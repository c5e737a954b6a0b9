// Defines helpers for several tests: error_of_loading, and the paths of the model and of the conformance data.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "error.hpp"
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

// Writes a file with this name and content, and makes an object of the type `Loaded` from the file. Returns the message
// of the error, or "" if there is no error.
template <class Loaded>
std::string error_of_loading(const std::string& name, const std::string& content) {
  const TemporaryFolder folder;
  return examples::error_of<examples::Error>([&] { const Loaded loaded(folder.file(name, content)); });
}

inline void check_says(const std::string& message, const std::string& part) {
  CAPTURE(message);
  CHECK(message.find(part) != std::string::npos);
}

inline std::filesystem::path conformance_file() {
  const char* folder = std::getenv("LADON_SHARED_DIR");
  return std::filesystem::path(folder != nullptr ? folder : LADON_SHARED_DIR) / "conformance" / "stories260K.json";
}

inline std::filesystem::path model_file() { return default_folder() / model_file_name; }
inline std::filesystem::path tokenizer_file() { return default_folder() / tokenizer_file_name; }

}  // namespace stories
