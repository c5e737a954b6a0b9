#include "replace_file.hpp"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "file_error.hpp"

namespace files {
namespace {

namespace fs = std::filesystem;

bool write(const fs::path& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  return !file.fail();
}

// A file on its way: `beside` goes with it unless it came to its place.
class Part {
 public:
  explicit Part(const Replacement& replacement) : replacement_(replacement) {
    std::error_code error;
    // the file that a link leads to is replaced, not the link
    target_ = fs::weakly_canonical(replacement.path, error);
    if (error) target_ = replacement.path;
    is_special_ = fs::exists(target_, error) && !fs::is_regular_file(target_, error);
  }
  ~Part() {
    std::error_code ignored;
    if (!beside_.empty()) fs::remove(beside_, ignored);
  }
  Part(Part&& other) noexcept = default;
  Part& operator=(Part&&) = delete;

  void write_beside() {
    if (is_special_) return;
    beside_ = target_;
    beside_ += ".part";
    if (!write(beside_, replacement_.content)) fail();
  }

  void put_in_place() {
    if (is_special_) {
      if (!write(target_, replacement_.content)) fail();
      return;
    }
    std::error_code error;
    fs::rename(beside_, target_, error);
    if (error) fail();
    beside_.clear();
  }

 private:
  [[noreturn]] void fail() const { throw Error(replacement_.path + ": cannot be written"); }

  const Replacement& replacement_;
  fs::path target_;
  fs::path beside_;  // empty: there is none
  bool is_special_ = false;
};

}  // namespace

void replace_files(std::span<const Replacement> replacements) {
  std::vector<Part> parts;
  for (const Replacement& replacement : replacements) parts.emplace_back(replacement);
  for (Part& part : parts) part.write_beside();
  for (Part& part : parts) part.put_in_place();
}

void replace_file(const std::string& path, std::string_view content) {
  const Replacement one{path, content};
  replace_files({&one, 1});
}

}  // namespace files
