#include "model_folder.hpp"

#include "user_folders.hpp"

namespace minilm {

std::filesystem::path default_model_folder() {
  if (auto folder = examples::environment_path("LADON_MINILM_DIR"); !folder.empty()) return folder;
  return examples::cache_folder() / "ladon" / "minilm";
}

}  // namespace minilm
