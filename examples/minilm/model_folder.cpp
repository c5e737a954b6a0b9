#include "model_folder.hpp"

#include <cstdlib>

namespace minilm {
namespace {

std::filesystem::path environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::filesystem::path() : std::filesystem::path(value);
}

std::filesystem::path cache_folder() {
#ifdef _WIN32
  if (auto folder = environment("LOCALAPPDATA"); !folder.empty()) return folder;
#endif
  if (auto folder = environment("XDG_CACHE_HOME"); !folder.empty()) return folder;
  return environment("HOME") / ".cache";
}

}  // namespace

std::filesystem::path default_model_folder() {
  if (auto folder = environment("LADON_MINILM_DIR"); !folder.empty()) return folder;
  return cache_folder() / "ladon" / "minilm";
}

}  // namespace minilm
