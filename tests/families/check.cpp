// SPDX-License-Identifier: Apache-2.0
// Checks folders whose models have the description in the header LADON_DESCRIPTION (describe.cmake). Prints a line for
// each folder: NAME ok, and the errors in float32, of a text that grows, with bfloat16 and with int8 weights. "-" means
// that there was no such comparison. Otherwise the line is NAME missing REASON, or NAME wrong REASON.
#include LADON_DESCRIPTION

#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#ifdef LADON_MISSING
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::printf("%s missing %s\n", std::filesystem::path(argv[i]).filename().string().c_str(), LADON_MISSING);
  }
}
#else
#include "check.hpp"

// The parts of a description as the members of a class. `fill` exists only for models with tables, `growing` only for
// models with windows.
#define LADON_DESCRIBED(stack)                                                                        \
  namespace stack {                                                                                   \
  struct Described {                                                                                  \
    using Stack = stack::Stack;                                                                       \
    static constexpr ladon::Model model = stack::model;                                               \
    static auto load(const ladon::safetensors::Folder& folder) { return stack::load(folder); }        \
    static constexpr auto fill_all = [](auto&... to) -> decltype(fill(to...)) { fill(to...); };       \
    static constexpr auto grown = [](auto... n) -> decltype(growing(n...)) { return growing(n...); }; \
  };                                                                                                  \
  }
LADON_STACKS(LADON_DESCRIBED)

namespace {

using families::Worst;

// Returns the bound of the errors of bfloat16 or int8, relative to the largest hidden value. A weight and an input of a
// product have independent errors, which are uniform between -u / 2 and u / 2. With bfloat16, u is 2^-8 to 2^-7 of a
// number, on average 0.7 * 2^-7. With int8, u is the largest magnitude of a row divided by 127. The largest magnitude
// is about 3 times the root of the mean square (RMS). So the RMS error of a product is sqrt(2 / 12) * u, relative to
// the RMS of the product. An activation that squares doubles a relative error. The relative error of an attention
// weight is the error of its score, so it is `scores` times as large, if the RMS of scores is `scores`. A layer has 8
// products: queries, keys, values, scores, weighted sums, output, and two of the feed-forward network. Their errors are
// independent, so the RMS error of n layers is 2 * scores * sqrt(8 n * 2 / 12) * u. The largest of some hundred errors
// is about 4 times the RMS error, and the largest hidden value is at least 2 times the RMS.
double bound(double u, const families::Results& results) {
  return 2.0 * results.scores * 4.0 / 2.0 * std::sqrt(8.0 * static_cast<double>(results.layers) * 2.0 / 12.0) * u;
}

// Prints the errors, or the first error above its bound.
bool print(const std::string& name, const families::Results& results) {
  const struct {
    const Worst& worst;
    double most;
  } all[] = {{results.float32, 2e-5},
             {results.grown, 2e-5},
             {results.bfloat16, bound(0.7 / 128, results)},
             {results.int8, bound(3.0 / 127, results)}};
  std::string line = name + " ok";
  for (const auto& [worst, most] : all) {
    char error[16];
    std::snprintf(error, sizeof error, " %.1e", worst.error);
    if (worst.error > most) {
      std::printf("%s wrong error%s in %s, more than %.1e\n", name.c_str(), error, worst.where.c_str(), most);
      return false;
    }
    line += worst.where.empty() ? " -" : error;
  }
  std::printf("%s\n", line.c_str());
  return true;
}

bool check(const std::filesystem::path& path) {
  const ladon::safetensors::Folder folder(path);
  const families::Recorded recorded{ladon::safetensors::File(path / "io.safetensors")};
  families::Results results;
#define LADON_CHECK(stack) families::check_stack<stack::Described>(folder, recorded, results);
  LADON_STACKS(LADON_CHECK)
  return print(path.filename().string(), results);
}

}  // namespace

int main(int argc, char** argv) {
  bool ok = true;
  for (int i = 1; i < argc; ++i) {
    try {
      ok = check(argv[i]) && ok;
    } catch (const std::exception& error) {
      std::printf("%s wrong %s\n", std::filesystem::path(argv[i]).filename().string().c_str(), error.what());
      ok = false;
    }
  }
  return ok ? 0 : 1;
}
#endif
