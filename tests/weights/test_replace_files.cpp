#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "file_error.hpp"
#include "replace_file.hpp"
#include "testing/program.hpp"

namespace files {
namespace {

namespace fs = std::filesystem;
using examples::content_of, examples::TemporaryFolder;

std::ptrdiff_t files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

}  // namespace

TEST_SUITE_BEGIN("replace_files");

TEST_CASE("files are made and replaced, and nothing is left beside them") {
  const TemporaryFolder folder;
  const fs::path a = folder.file("a", "old, and longer"), b = folder.path() / "b";
  replace_files(std::array{Replacement{a.string(), "new"}, Replacement{b.string(), std::string_view("\0\n", 2)}});
  CHECK(content_of(a) == "new");
  CHECK(content_of(b) == std::string("\0\n", 2));
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("where one cannot be written, none is") {
  const TemporaryFolder folder;
  const fs::path a = folder.file("a", "old"), absent = folder.path() / "absent" / "b";
  CHECK_THROWS_WITH_AS(replace_files(std::array{Replacement{a.string(), "new"}, Replacement{absent.string(), "new"}}),
                       (absent.string() + ": cannot be written").c_str(), Error);
  CHECK(content_of(a) == "old");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("the file that a link leads to is replaced") {
  const TemporaryFolder folder;
  const fs::path file = folder.file("file", "old"), link = folder.path() / "link";
  fs::create_symlink(file, link);
  replace_file(link.string(), "new");
  CHECK(fs::is_symlink(link));
  CHECK(content_of(file) == "new");
}

#ifndef _WIN32
TEST_CASE("a device is written as it is") {
  replace_file("/dev/null", "new");
  CHECK(fs::is_character_file("/dev/null"));
}
#endif

TEST_SUITE_END();

}  // namespace files
