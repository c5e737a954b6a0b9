// --json FILE of the benchmarks: where figures go besides the table on stdout.
#pragma once

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace ladon_bench {

// Takes --json FILE out of the arguments; without it nothing is written.
inline std::string take_json_path(std::vector<char*>& arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const bool joined = argument.starts_with("--json=");
    if (!joined && (argument != "--json" || i + 1 == arguments.size())) continue;
    const std::string path = joined ? arguments[i] + 7 : arguments[i + 1];
    const auto first = arguments.begin() + static_cast<std::ptrdiff_t>(i);
    arguments.erase(first, first + (joined ? 1 : 2));
    return path;
  }
  return "";
}

class JsonFile {
 public:
  JsonFile(std::vector<char*>& arguments, const char* program) : path_(take_json_path(arguments)), program_(program) {
    if (!path_.empty()) file_.open(path_);
  }

  // Asked before hours of measuring, not after.
  bool opened() const {
    if (path_.empty() || file_) return true;
    std::fprintf(stderr, "%s: cannot write %s\n", program_, path_.c_str());
    return false;
  }

  // What main returns.
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
