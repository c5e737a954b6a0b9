#include "replace_file.hpp"

#include <filesystem>
#include <fstream>
#include <system_error>

#include "reports.hpp"

namespace date_reader {
namespace {

bool write(const std::filesystem::path& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  return !file.fail();
}

}  // namespace

void replace_file(const std::string& path, std::string_view content) {
  namespace fs = std::filesystem;
  std::error_code error;
  // the file that a link leads to is replaced, not the link
  fs::path target = fs::weakly_canonical(path, error);
  if (error) target = path;
  if (fs::exists(target, error) && !fs::is_regular_file(target, error)) {
    if (!write(target, content)) throw Failure(path + ": cannot be written");
    return;
  }
  fs::path beside = target;
  beside += ".part";
  if (write(beside, content)) {
    fs::rename(beside, target, error);
    if (!error) return;
  }
  std::error_code ignored;
  fs::remove(beside, ignored);
  throw Failure(path + ": cannot be written");
}

}  // namespace date_reader
