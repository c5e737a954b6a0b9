// Implements the option --json FILE of the benchmarks: a file with the figures, besides the table on stdout.
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "arguments.hpp"
#include "file_error.hpp"
#include "replace_file.hpp"

namespace ladon_bench {

// Replaces the file only at the end of the program, so that the file keeps its old content after an interrupt.
class JsonFile {
 public:
  JsonFile(std::string path, const char* program) : path_(std::move(path)), program_(program) {}

  // Removes the option --json FILE from the arguments.
  JsonFile(std::vector<char*>& arguments, const char* program)
      : JsonFile(take_option(arguments, "--json").value_or(""), program) {}

  // Returns whether the file can be written. A program calls this function before the measurements, which can take
  // hours.
  bool writable() const {
    return attempt([&] { files::check_replaceable(path_); });
  }

  // Writes the figures and returns the exit status of main.
  int write(const nlohmann::ordered_json& figures) const {
    return attempt([&] { files::replace_file(path_, figures.dump(1) + '\n'); }) ? 0 : 1;
  }

 private:
  template <class Action>
  bool attempt(Action action) const {
    if (path_.empty()) return true;
    try {
      action();
      return true;
    } catch (const files::Error& error) {
      std::fprintf(stderr, "%s: %s\n", program_, error.what());
      return false;
    }
  }

  std::string path_;  // empty: no file is written
  const char* program_;
};

}  // namespace ladon_bench
