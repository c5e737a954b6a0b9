// What several tests need: a folder for files of their own, and the data that may be absent.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>

#include "model_folder.hpp"

namespace minilm {

// A folder that goes with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::random_device random;
    do {
      path_ = std::filesystem::temp_directory_path() / ("minilm-test-" + std::to_string(random()));
    } while (!std::filesystem::create_directory(path_));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Writes a file and returns its path.
  [[nodiscard]] std::filesystem::path file(const std::string& name, std::string_view content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::filesystem::path conformance_file() {
  const char* folder = std::getenv("LADON_SHARED_DIR");
  return std::filesystem::path(folder != nullptr ? folder : LADON_SHARED_DIR) / "conformance" / "minilm.json";
}

inline nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

}  // namespace minilm

// Leaves the test case, with the words that CTest knows a skipped test by, where a file is not there.
#define MINILM_SKIP_WITHOUT(path)                        \
  if (!std::filesystem::exists(path)) {                  \
    MESSAGE("skipped: there is no " << (path).string()); \
    return;                                              \
  }                                                      \
  static_assert(true)
