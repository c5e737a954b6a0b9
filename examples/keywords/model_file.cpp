#include "model_file.hpp"

#include "user_folders.hpp"

namespace keywords {

std::filesystem::path default_model_file() {
  if (const auto folder = examples::environment_path("LADON_KEYWORDS_DIR"); !folder.empty()) {
    if (std::filesystem::exists(folder / model_file_name)) return folder / model_file_name;
  }
  return examples::cache_folder() / "ladon" / "keywords" / model_file_name;
}

}  // namespace keywords
