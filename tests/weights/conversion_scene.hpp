// Runs `ladon-weights quantise` and `ladon-weights convert` as a user does. Arguments are quoted for a POSIX shell.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "safetensors.hpp"
#include "safetensors_file.hpp"
#include "testing/program.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WEIGHTS_TESTS_ARE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define WEIGHTS_TESTS_ARE_SANITIZED 1
#endif
#endif

namespace ladon::weights {

// A folder with a checkpoint (`in`), and with an old output file (`out`). A command that fails must not change the old
// file.
struct ConversionScene {
  examples::TemporaryFolder folder;
  std::filesystem::path in, out;

  explicit ConversionScene(const std::vector<float>& weight = {1, 2, 3, 4}) {
    files::Checkpoint content;
    content.add("fc.weight", "F32", "[2,2]", files::floats(weight)).add("embed.weight", 2, 2, 9);
    content.add("head.weight", 2, 2, 5);
    in = folder.file("in.safetensors", content.content());
    out = folder.file("out.safetensors", "old");
  }

  [[nodiscard]] examples::Answer run(const std::string& command, const std::filesystem::path& to,
                                     const std::string& options) const {
    return examples::run_in_shell(line(command, in, to, options));
  }

  // Runs `command` with `options` on a checkpoint with 200 MB of weights. The command writes `out`, and may use only 32
  // MB of memory besides the mapped checkpoint. So the command must not hold the output or a copy of the weights in
  // memory. The checkpoint is a sparse file, which takes no disk space.
  [[nodiscard]] examples::Answer run_on_200_mb(const std::string& command, const std::string& options) const {
    constexpr std::size_t weight_bytes = 200'000'000;
    const std::string header = R"({"a.weight":{"dtype":"F32","shape":[1000,50000],"data_offsets":[0,200000000]}})";
    const std::string beginning = files::safetensors(header, "");
    const auto large = folder.file("in.safetensors", beginning);
    std::filesystem::resize_file(large, beginning.size() + weight_bytes);
    std::string limit;
#ifndef WEIGHTS_TESTS_ARE_SANITIZED
    const bool is_native = std::string_view(LADON_WEIGHTS_COMMAND).starts_with(" ");  // no emulator runs the program
    if (is_native) limit = "ulimit -v 228000 && ";
#endif
    return examples::run_in_shell(limit + line(command, large, out, options));
  }

  [[nodiscard]] std::string dtype(const std::string& name) const {
    return files::Safetensors(out).tensors().at(name).dtype;
  }
  void check_untouched() const {
    CHECK(examples::content_of(out) == "old");
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
  }

 private:
  static std::string line(const std::string& command, const std::filesystem::path& from,
                          const std::filesystem::path& to, const std::string& options) {
    return LADON_WEIGHTS_COMMAND " " + command + " '" + from.string() + "' '" + to.string() + "' " + options;
  }
};

}  // namespace ladon::weights
