#include "model_files.hpp"

#include <cstdlib>
#include <utility>

#include "error.hpp"

namespace stories {

std::filesystem::path default_folder() {
  const char* named = std::getenv("LADON_STORIES_DIR");
  if (named != nullptr && *named != '\0') return named;
  return std::filesystem::path(LADON_SHARED_DIR) / "models" / "stories260K";
}

std::filesystem::path existing(std::filesystem::path file) {
  std::error_code unknown;
  if (std::filesystem::exists(file, unknown)) return file;
  throw examples::Error("there is no " + file.string() + ": get " + model_file_name + " and " + tokenizer_file_name +
                        " from the model's page (karpathy/tinyllamas, folder stories260K) and name them with --model "
                        "and --tokenizer, or their folder in LADON_STORIES_DIR");
}

}  // namespace stories
