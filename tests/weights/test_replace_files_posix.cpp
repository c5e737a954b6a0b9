// Tests replace_files on POSIX: modes of files, symbolic links that an attacker planted, devices, pipes, several
// writers, and fsync.
#include <doctest/doctest.h>

#ifndef _WIN32

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <system_error>
#include <thread>

#include "file_error.hpp"
#include "replace_file.hpp"
#include "testing/program.hpp"

#ifdef __linux__
#include <sys/syscall.h>

namespace {
std::atomic<int> synced_files{0}, synced_folders{0};
}

// Replaces fsync of the C library, and counts the synchronised files and folders.
extern "C" int fsync(int descriptor) {
  struct stat status{};
  if (fstat(descriptor, &status) == 0) ++(S_ISDIR(status.st_mode) ? synced_folders : synced_files);
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}
#endif

namespace ladon::files {
namespace {

namespace fs = std::filesystem;
using examples::content_of, examples::TemporaryFolder;

// Returns the permission bits of a file.
unsigned mode_of(const fs::path& file) { return static_cast<unsigned>(fs::status(file).permissions()); }

}  // namespace

TEST_SUITE_BEGIN("replace_files");

TEST_CASE("a replaced file keeps its mode, and a new file gets the default mode") {
  const TemporaryFolder folder;
  const fs::path file = folder.file("file", "old");
  for (const unsigned mode : {0600U, 0640U, 0444U, 0755U}) {
    fs::permissions(file, static_cast<fs::perms>(mode));
    replace_file(file.string(), "new");
    CHECK(mode_of(file) == mode);
  }
  replace_file((folder.path() / "new").string(), "new");
  CHECK(mode_of(folder.path() / "new") == mode_of(folder.file("usual", "")));
}

TEST_CASE("a link with a name that an attacker can guess is not followed") {
  const TemporaryFolder folder;
  const fs::path victim = folder.file("victim", "old"), file = folder.path() / "file";
  fs::create_symlink(victim, folder.path() / "file.part");
  replace_file(file.string(), "new");
  CHECK(content_of(file) == "new");
  CHECK(content_of(victim) == "old");
  CHECK(fs::is_symlink(folder.path() / "file.part"));
}

TEST_CASE("a reader beside two writers always finds a whole file") {
  const TemporaryFolder folder;
  const std::string one(200'000, '1'), two(300'000, '2');
  const fs::path file = folder.file("file", one);
  std::atomic<int> finished{0}, failures{0};
  const auto writer = [&](const std::string& content) {
    for (int i = 0; i < 100; ++i) {
      try {
        replace_file(file.string(), content);
      } catch (const Error&) {
        ++failures;
      }
    }
    ++finished;
  };
  std::thread first(writer, one), second(writer, two);
  int wrong = 0;
  while (finished < 2) {
    const std::string found = content_of(file);
    wrong += found == one || found == two ? 0 : 1;
  }
  first.join();
  second.join();
  CHECK(wrong == 0);
  CHECK(failures == 0);
  const std::string last = content_of(file);
  CHECK((last == one || last == two));
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a device and a pipe are written in place") {
  replace_file("/dev/null", "new");
  CHECK(fs::is_character_file("/dev/null"));
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const std::string content(200'000, 'x');  // more than a pipe holds
  std::string found;
  std::thread reader([&] { found = content_of(pipe); });
  replace_file(pipe.string(), content);
  reader.join();
  CHECK(found == content);
  CHECK(fs::is_fifo(pipe));
}

#ifdef __linux__
TEST_CASE("the error for a full device states the reason") {
  const std::string reason = std::make_error_code(std::errc::no_space_on_device).message();
  CHECK_THROWS_WITH_AS(replace_file("/dev/full", "new"), ("/dev/full: cannot be written: " + reason).c_str(), Error);
}

TEST_CASE("each file, and its folder, is synchronised") {
  const TemporaryFolder folder;
  synced_files = 0;
  synced_folders = 0;
  replace_file((folder.path() / "file").string(), "new");
  CHECK(synced_files == 1);
  CHECK(synced_folders == 1);
}
#endif

TEST_SUITE_END();

}  // namespace ladon::files

#endif
