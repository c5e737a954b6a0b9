// Finds folders of the user through environment variables.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace examples {

// Returns the path in an environment variable. The path is empty if the variable is not set.
inline std::filesystem::path environment_path(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::filesystem::path() : std::filesystem::path(value);
}

inline std::filesystem::path cache_folder() {
#ifdef _WIN32
  if (auto folder = environment_path("LOCALAPPDATA"); !folder.empty()) return folder;
#endif
  if (auto folder = environment_path("XDG_CACHE_HOME"); !folder.empty()) return folder;
  return environment_path("HOME") / ".cache";
}

}  // namespace examples
