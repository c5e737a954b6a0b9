// Tests MappedFile (src/files/mapped_file.hpp), which maps a file or copies it into memory.
#include <doctest/doctest.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "file_error.hpp"
#include "mapped_file.hpp"
#include "testing/fixtures.hpp"

namespace ladon::files {
namespace {

namespace fs = std::filesystem;
using examples::has, examples::TemporaryFolder;

constexpr std::array both{Load::map, Load::copy};

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

// Returns the text of the error that loading throws, or "" if loading succeeds.
std::string error_of_loading(const fs::path& path, Load load) {
  return examples::error_of<Error>([&] { static_cast<void>(MappedFile(path, load)); });
}

}  // namespace

TEST_SUITE_BEGIN("mapped_file");

TEST_CASE("a mapped file and a copy have equal bytes, and begin at a page") {
  const TemporaryFolder folder;
  const std::string content(10'000, 'x');
  const fs::path path = folder.file("file", content), empty = folder.file("empty", "");
  for (const Load load : both) {
    MappedFile first(path, load);
    CHECK(reinterpret_cast<std::uintptr_t>(first.bytes().data()) % 4096 == 0);
    MappedFile second = std::move(first);
    CHECK(text_of(second) == content);
    second = MappedFile(empty, load == Load::map ? Load::copy : Load::map);
    CHECK(text_of(second).empty());
  }
}

TEST_CASE("a copy does not change with the file") {
  const TemporaryFolder folder;
  const std::string content(10'000, 'x');
  const fs::path path = folder.file("file", content);
  const MappedFile copy(path, Load::copy);
  fs::resize_file(path, 0);
  CHECK(text_of(copy) == content);
}

#if !defined(_WIN32)  // where a mapped file cannot be replaced
TEST_CASE("a mapping keeps a file that is replaced by renaming") {
  const TemporaryFolder folder;
  const fs::path path = folder.file("file", "old"), other = folder.file("other", "a new file");
  const MappedFile mapped(path, Load::map);
  fs::rename(other, path);
  CHECK(text_of(mapped) == "old");
}
#endif

TEST_CASE("a path that is not a regular file is refused") {
  const TemporaryFolder folder;
  for (const Load load : both) {
    CHECK(error_of_loading(folder.path() / "absent", load) == (folder.path() / "absent").string() + ": no such file");
    CHECK(error_of_loading(folder.path(), load) == folder.path().string() + ": is not a regular file");
  }
}

#if defined(__linux__)
// A file can change while it is read, and its size then differs from the reported size. To test this without a race,
// the test reads files in /proc and /sys, for which Linux reports a wrong size.
TEST_CASE("a copy is refused if the size of the file changed, or if the file cannot be read") {
  const fs::path longer = "/proc/self/status", shorter = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (fs::exists(longer))
    CHECK(error_of_loading(longer, Load::copy) ==
          longer.string() + ": changed while it was read: expected 0 bytes, found more");
  if (fs::exists(shorter))
    CHECK(has(error_of_loading(shorter, Load::copy), ": changed while it was read: expected 4096 bytes, found "));
  const std::string reason = std::strerror(EIO);  // musl: "I/O error"
  if (fs::exists("/proc/self/mem"))
    CHECK(has(error_of_loading("/proc/self/mem", Load::copy), "/proc/self/mem: cannot be read: " + reason));
}
#endif

TEST_SUITE_END();

}  // namespace ladon::files
