#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "file_error.hpp"
#include "replace_file.hpp"
#include "testing/fixtures.hpp"

namespace ladon::files {
namespace {

namespace fs = std::filesystem;
using examples::content_of, examples::TemporaryFolder;

std::ptrdiff_t files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

// Returns how the error message of replace_file must end if the operating system reports the error `reason`.
std::string because(std::errc reason) { return ": cannot be written: " + std::make_error_code(reason).message(); }

// Calls replace_file for `path`. Returns the text of the error that replace_file throws, or "" if it succeeds.
std::string error_of_writing(const fs::path& path) {
  return examples::error_of<Error>([&] { replace_file(path.string(), "new"); });
}

}  // namespace

TEST_SUITE_BEGIN("replace_files");

TEST_CASE("files are created and replaced, and no other file remains") {
  const TemporaryFolder folder;
  const fs::path a = folder.file("a", "old, and longer"), b = folder.path() / "b";
  replace_files(std::array{Replacement{a.string(), "new"}, Replacement{b.string(), std::string_view("\0\n", 2)}});
  CHECK(content_of(a) == "new");
  CHECK(content_of(b) == std::string("\0\n", 2));
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("a file of the longest name is replaced") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / std::string(255, 'a');
  replace_file(file.string(), "new");
  CHECK(content_of(file) == "new");
}

// The reason why a path below a file cannot be written.
#if defined(_WIN32)
constexpr std::errc below_a_file = std::errc::no_such_file_or_directory;
#else
constexpr std::errc below_a_file = std::errc::not_a_directory;
#endif

TEST_CASE("if one file cannot be written, no file is, and the error states the reason") {
  const TemporaryFolder folder;
  const fs::path a = folder.file("a", "old"), absent = folder.path() / "absent" / "b";
  CHECK_THROWS_WITH_AS(replace_files(std::array{Replacement{a.string(), "new"}, Replacement{absent.string(), "new"}}),
                       (absent.string() + because(std::errc::no_such_file_or_directory)).c_str(), Error);
  CHECK(content_of(a) == "old");
  CHECK(files_in(folder.path()) == 1);
  CHECK(error_of_writing(folder.path()) == folder.path().string() + because(std::errc::is_a_directory));
  CHECK(error_of_writing(a / "b") == (a / "b").string() + because(below_a_file));
}

TEST_CASE("a check in advance gives equal errors, and changes nothing") {
  const TemporaryFolder folder;
  const fs::path a = folder.file("a", "old");
  const auto checked = [](const fs::path& path) { check_replaceable(path.string()); };
  const auto said = [](const fs::path& path, std::errc reason) { return path.string() + because(reason); };
  CHECK_NOTHROW(checked(a));
  CHECK_NOTHROW(checked(folder.path() / "new"));
  CHECK(content_of(a) == "old");
  CHECK(files_in(folder.path()) == 1);
  const fs::path absent = folder.path() / "absent" / "b";
  CHECK_THROWS_WITH_AS(checked(absent), said(absent, std::errc::no_such_file_or_directory).c_str(), Error);
  CHECK_THROWS_WITH_AS(checked(folder.path()), said(folder.path(), std::errc::is_a_directory).c_str(), Error);
  CHECK_THROWS_WITH_AS(checked(a / "b"), said(a / "b", below_a_file).c_str(), Error);
}

TEST_CASE("content is written piece by piece, and the file changes when the content is complete") {
  const TemporaryFolder folder;
  const fs::path file = folder.file("file", "old");
  std::string meanwhile;
  replace_file(file.string(), [&](const Sink& sink) {
    sink("one, ");
    sink("");
    meanwhile = content_of(file);
    sink("two");
  });
  CHECK(meanwhile == "old");
  CHECK(content_of(file) == "one, two");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("content that throws leaves the file unchanged") {
  const TemporaryFolder folder;
  const fs::path file = folder.file("file", "old");
  const auto throwing = [](const Sink& sink) {
    sink("new");
    throw Error("no more");
  };
  CHECK_THROWS_WITH_AS(replace_file(file.string(), throwing), "no more", Error);
  CHECK_THROWS_WITH_AS(replace_file((folder.path() / "absent").string(), throwing), "no more", Error);
  CHECK(content_of(file) == "old");
  CHECK(files_in(folder.path()) == 1);
}

#if !defined(_WIN32)  // where only an administrator makes links
TEST_CASE("the target of a link is replaced") {
  const TemporaryFolder folder;
  const fs::path file = folder.file("file", "old"), link = folder.path() / "link";
  fs::create_symlink("file", link);
  fs::create_symlink("link", folder.path() / "second link");
  replace_file(link.string(), "new");
  CHECK(content_of(file) == "new");
  replace_file((folder.path() / "second link").string(), "newer");
  CHECK(content_of(file) == "newer");
  CHECK(fs::is_symlink(link));
  CHECK(fs::is_symlink(folder.path() / "second link"));
}

TEST_CASE("a link to a file that does not exist creates the file") {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "below");
  fs::create_symlink("below/file", folder.path() / "link");
  replace_file((folder.path() / "link").string(), "new");
  CHECK(fs::is_symlink(folder.path() / "link"));
  CHECK(content_of(folder.path() / "below" / "file") == "new");
}

TEST_CASE("a link to itself is an error") {
  const TemporaryFolder folder;
  fs::create_symlink("link", folder.path() / "link");
  CHECK(error_of_writing(folder.path() / "link").ends_with(because(std::errc::too_many_symbolic_link_levels)));
}
#endif

TEST_SUITE_END();

}  // namespace ladon::files
