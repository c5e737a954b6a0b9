// Runs the program date_reader in a shell, as a user does, and checks its output.
#include <doctest/doctest.h>

#ifndef _WIN32  // arguments are quoted for a POSIX shell

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>

#include "reader.hpp"

namespace date_reader {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::random_device random;
    do {
      path_ = fs::temp_directory_path() / ("date-reader-test-" + std::to_string(random()));
    } while (!fs::create_directory(path_));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string content_of(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

void write(const std::string& path, std::string_view content) { std::ofstream(path, std::ios::binary) << content; }

struct Answer {
  std::string out;
  std::string err;
  int status;
};

Answer run(const std::string& arguments, const std::string& environment = "") {
  const TemporaryFolder folder;
  const std::string command = environment + " " DATE_READER_COMMAND " " + arguments;
  const int status = std::system(("{ " + command + "; } >'" + folder / "out" + "' 2>'" + folder / "err" + "'").c_str());
  return {content_of(folder / "out"), content_of(folder / "err"), WEXITSTATUS(status)};
}

// Runs the program with a pseudo-terminal as its standard output, and returns the output.
std::string run_in_terminal(const std::string& arguments, const std::string& environment) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  REQUIRE(grantpt(terminal) == 0);
  REQUIRE(unlockpt(terminal) == 0);
  const std::string name = ptsname(terminal);
  const int kept_open = open(name.c_str(), O_RDWR | O_NOCTTY);  // keeps the terminal open, so that read() waits
  std::string shown;
  std::thread reader([&] {
    std::array<char, 4096> part{};
    for (ssize_t n = 0; (n = ::read(terminal, part.data(), part.size())) > 0;) {
      shown.append(part.data(), static_cast<std::size_t>(n));
    }
  });
  const std::string command = environment + " " DATE_READER_COMMAND " " + arguments + " >'" + name + "'";
  const int status = std::system(command.c_str());
  close(kept_open);
  reader.join();
  close(terminal);
  CHECK(status == 0);
  return shown;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void check_refused(const Answer& answer, const std::string& words) {
  CAPTURE(answer.err);
  CHECK(answer.status == 2);
  CHECK(answer.out.empty());
  CHECK(has(answer.err, words));
}

}  // namespace

TEST_SUITE_BEGIN("program");

TEST_CASE("a date") {
  const Answer answer = run("'3rd of Feb, 2024'");
  CHECK(answer.status == 0);
  CHECK(answer.err.empty());
  CHECK(answer.out.starts_with("2024-02-03\n"));
  for (const char* part :
       {"microseconds", "GFLOP/s", "FMA peak", "bytes of weights", "bytes of workspace", "year   2 "}) {
    CAPTURE(part);
    CHECK(has(answer.out, part));
  }
  CHECK_FALSE(has(answer.out, "\033"));
  CHECK(run("3rd of Feb, 2024").out.starts_with("2024-02-03\n"));  // the shell splits the text into four words
  CHECK(run("-- 20240203").out.starts_with("2024-02-03\n"));
}

TEST_CASE("int8 weights") {
  const Answer answer = run("--precision int8 '3rd of Feb, 2024'");
  CHECK(answer.status == 0);
  CHECK(answer.out.starts_with("2024-02-03\n"));
  CHECK_FALSE(has(answer.out, "171,692 bytes of weights"));
  CHECK(has(run("--precision float32 '3rd of Feb, 2024'").out, "171,692 bytes of weights"));
  check_refused(run("--precision int4 20240203"), "int4 not in {float32,int8}");
}

TEST_CASE("without arguments, a table") {
  const Answer answer = run("");
  CHECK(answer.status == 0);
  CHECK(answer.err.empty());
  CHECK(has(answer.out, "3rd of Feb, 2024                    2024-02-03"));
  CHECK(has(answer.out, "31.4.2021                           not a date I can read"));
}

TEST_CASE("a text that is no date gives the exit status 1, and the answer is on standard output") {
  for (const char* text : {"'may 2024'", "192.168.0.1", "'[5 may 2001]'", "31.4.2021", "-- '-1'", "-"}) {
    CAPTURE(text);
    const Answer answer = run(text);
    CHECK(answer.status == 1);
    CHECK(answer.out == "not a date I can read\n");
    CHECK(answer.err.empty());
  }
}

TEST_CASE("a text that cannot be a date gives the exit status 2 and states the expected text") {
  const std::string expected = "expected a date of at most 40 ASCII characters";
  check_refused(run("''"), "the text is empty; " + expected);
  check_refused(run("'   '"), "the text is empty; " + expected);
  check_refused(run("'" + std::string(41, '1') + "'"), "the text is too long; " + expected);
  check_refused(run("'3 f\xc3\xa9vrier 2024'"), "the text holds a character that is not ASCII; " + expected);
}

TEST_CASE("wrong usage gives the exit status 2") {
  check_refused(run("--colour"), "--colour");
  check_refused(run("-5"), "no such option");
  check_refused(run("--batch"), "--batch");
  check_refused(run("--svg"), "--svg");
  check_refused(run("--batch /dev/null '3 feb 2024'"), "not allowed with --batch");
  check_refused(run("--batch /dev/null --svg x"), "excludes");
  const Answer help = run("--help");
  CHECK(help.status == 0);
  CHECK(help.err.empty());
  CHECK(has(help.out, "--batch"));
}

TEST_CASE("batches") {
  const TemporaryFolder folder;
  write(folder / "texts", "3rd of Feb, 2024\n\nmay 2024\n12/31/1999\r\n3 f\xc3\xa9vrier 2024\n" +
                              std::string(300, 'x') + "\n  \n20240203");
  const Answer answer = run("--batch '" + folder / "texts" + "'");
  CHECK(answer.status == 0);
  CHECK(answer.err.empty());
  CHECK(answer.out == "2024-02-03\n\n\n1999-12-31\n\n\n\n2024-02-03\n");
  CHECK(run("--batch - <'" + folder / "texts" + "'").out == answer.out);
  CHECK(run("--batch /dev/null").out.empty());
  CHECK(run("--batch /dev/null").status == 0);
  check_refused(run("--batch '" + folder / "absent" + "'"), "absent: cannot be opened");
  check_refused(run("--batch '" + folder.path().string() + "'"), "read");
}

TEST_CASE("the picture") {
  const TemporaryFolder folder;
  const Answer answer = run("'3rd of Feb, 2024' --svg '" + folder / "a.svg" + "'");
  CHECK(answer.status == 0);
  CHECK(answer.out.starts_with("2024-02-03\n"));
  CHECK(content_of(folder / "a.svg").starts_with("<svg "));
  CHECK(content_of(folder / "a.svg").ends_with("</svg>\n"));
  CHECK(run("--svg '" + folder / "a.svg" + "'").out.starts_with("3rd of Feb, 2024  "));
  write(folder / "b.svg", "an older one, and longer than nothing");
  fs::create_symlink(folder / "b.svg", folder / "link.svg");
  CHECK(run("'may 2024' --svg '" + folder / "link.svg" + "'").status == 1);
  CHECK(fs::is_symlink(folder / "link.svg"));
  CHECK(content_of(folder / "b.svg").starts_with("<svg "));
  CHECK(has(run("'3 feb 2024' --svg /dev/stdout | cat").out, "</svg>\n"));
  const std::string last = content_of(folder / "b.svg");
  check_refused(run("'' --svg '" + folder / "b.svg" + "'"), "the text is empty");
  CHECK(content_of(folder / "b.svg") == last);
  check_refused(run("'3 feb 2024' --svg '" + folder / "absent/a.svg" + "'"),
                "absent/a.svg: cannot be written: No such file or directory");
  check_refused(run("'3 feb 2024' --svg '" + folder.path().string() + "'"), "cannot be written: Is a directory");
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 3);  // no other file remains
}

TEST_CASE("output that cannot be written") {
  if (!fs::exists("/dev/full")) return;
  const TemporaryFolder folder;
  std::string dates;  // more than the buffer of the output stream holds
  for (int i = 0; i < 2000; ++i) dates += "20240203\n";
  write(folder / "texts", dates);
  for (const std::string& arguments : {std::string(), std::string("20240203"), "--batch '" + folder / "texts" + "'"}) {
    const Answer answer = run(arguments + " >/dev/full");
    CHECK(answer.status == 2);
    CHECK(has(answer.err, "the results could not be written: No space left on device"));
  }
  check_refused(run("20240203 --svg /dev/full"), "/dev/full: cannot be written: No space left on device");
}

TEST_CASE("colour") {
  const std::string text = "'3rd of Feb, 2024'", usual = "env -u NO_COLOR -u COLORTERM TERM=xterm";
  CHECK(has(run_in_terminal(text, usual), "\033[38;5;255;48;5;"));
  CHECK(has(run_in_terminal(text, usual + " COLORTERM=truecolor"), ";48;2;"));
  CHECK(has(run_in_terminal(text, usual + " NO_COLOR="), "\033["));  // no-color.org: NO_COLOR counts if it is not empty
  CHECK_FALSE(has(run_in_terminal(text, usual + " NO_COLOR=1"), "\033"));
  CHECK_FALSE(has(run_in_terminal(text, usual + " TERM=dumb"), "\033"));
  CHECK_FALSE(has(run(text, usual).out, "\033"));
}

TEST_SUITE_END();

}  // namespace date_reader

#endif
