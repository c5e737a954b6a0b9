// The option --json FILE of the benchmarks: the file for the figures, besides the table on stdout.
#pragma once

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "arguments.hpp"

namespace ladon_bench {

class JsonFile {
 public:
  JsonFile(std::vector<char*>& arguments, const char* program)
      : path_(take_option(arguments, "--json").value_or("")), program_(program) {
    if (!path_.empty()) file_.open(path_);
  }

  // Returns whether the file can be written. Asked before hours of measuring.
  bool opened() const {
    if (path_.empty() || file_) return true;
    std::fprintf(stderr, "%s: cannot write %s\n", program_, path_.c_str());
    return false;
  }

  // Writes the figures and returns the exit status of main.
  int write(const nlohmann::ordered_json& figures) {
    if (path_.empty()) return 0;
    file_ << figures.dump(1) << '\n';
    if (file_.flush()) return 0;
    std::fprintf(stderr, "%s: could not write all of %s\n", program_, path_.c_str());
    return 1;
  }

 private:
  std::string path_;
  const char* program_;
  std::ofstream file_;
};

}  // namespace ladon_bench
