// Runs the conformance cases below folders: ladon_conformance [--onnx | --pytorch] FOLDER... Prints one line for each
// case, with its largest error, and then the numbers of passed and failed cases. The exit status is not 0 if a case
// fails or no case is found.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "runners.hpp"

namespace {

using conformance::Outcome;
using nlohmann::json;
namespace fs = std::filesystem;

struct Wanted {
  bool onnx = true;
  bool pytorch = true;
};

struct Tally {
  int passed = 0;
  int failed = 0;
  int of_the_other_kind = 0;
};

void report(const std::string& name, const std::function<Outcome()>& run, Tally& tally) {
  Outcome outcome;
  try {
    outcome = run();
  } catch (const std::exception& error) {
    outcome.failure = error.what();
  }
  ++(outcome.passed() ? tally.passed : tally.failed);
  std::printf("%s  %-68s  largest error %.1e%s%s\n", outcome.passed() ? "passed" : "FAILED", name.c_str(),
              static_cast<double>(outcome.largest_error), outcome.passed() ? "" : "  ", outcome.failure.c_str());
}

void run_file(const fs::path& path, Wanted wanted, Tally& tally) {
  std::ifstream file(path);
  const json document = json::parse(file, nullptr, false);
  if (document.is_discarded()) {
    report(path.filename().string(), [&]() -> Outcome { throw conformance::Failure("this is not JSON"); }, tally);
  } else if (conformance::is_onnx(document)) {
    if (!wanted.onnx) return void(++tally.of_the_other_kind);
    report(document.value("name", path.stem().string()), [&] { return conformance::run_onnx(document); }, tally);
  } else if (conformance::is_pytorch(document) || conformance::is_decoding(document)) {
    if (!wanted.pytorch) return void(++tally.of_the_other_kind);
    const auto for_cases =
        conformance::is_pytorch(document) ? conformance::for_pytorch_cases : conformance::for_decoding_cases;
    for_cases(document, [&](const std::string& name, const std::function<Outcome()>& run) {
      report(path.stem().string() + ": " + name, run, tally);
    });
  } else {
    std::printf("left to other tests: %s\n", path.filename().string().c_str());
  }
}

std::vector<fs::path> json_files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder, fs::directory_options::follow_directory_symlink)) {
    if (entry.is_regular_file() && entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Runs the cases of the wanted kinds in all JSON files below a folder. Returns the number of cases.
int run_folder(const fs::path& folder, Wanted wanted, Tally& total) {
  if (!fs::is_directory(folder)) {
    std::printf("skipped: there is no folder %s; -DLADON_CONFORMANCE_DIR=<folder> names one\n",
                folder.string().c_str());
    return 0;
  }
  Tally tally;
  for (const fs::path& path : json_files_below(folder)) run_file(path, wanted, tally);
  const int found = tally.passed + tally.failed;
  if (found == 0) {
    std::printf(tally.of_the_other_kind > 0 ? "skipped: %s has cases of the other kind only\n"
                                            : "failed: there is no case below %s\n",
                folder.string().c_str());
  }
  total.passed += tally.passed;
  total.failed += tally.failed;
  return found;
}

}  // namespace

int main(int count, char** arguments) {
  Wanted wanted;
  std::vector<fs::path> folders;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--onnx") {
      wanted.pytorch = false;
    } else if (argument == "--pytorch") {
      wanted.onnx = false;
    } else {
      folders.emplace_back(argument);
    }
  }
  if (folders.empty()) {
    std::fputs("usage: ladon_conformance [--onnx | --pytorch] FOLDER...\n", stderr);
    return 2;
  }
  Tally total;
  bool some_in_each = true;
  for (const fs::path& folder : folders) some_in_each &= run_folder(folder, wanted, total) > 0;
  std::printf("%d passed, %d failed\n", total.passed, total.failed);
  return some_in_each && total.failed == 0 ? 0 : 1;
}
