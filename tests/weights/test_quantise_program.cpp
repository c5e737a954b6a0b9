// Runs `ladon-weights quantise` as a user does.
#include <doctest/doctest.h>

#ifndef _WIN32  // arguments are quoted for a POSIX shell

#include <cmath>
#include <string_view>

#include "conversion_scene.hpp"

namespace ladon::weights {
namespace {

using examples::Answer, examples::check_refused, examples::content_of, examples::has;

struct QuantiseScene : ConversionScene {
  using ConversionScene::ConversionScene;

  [[nodiscard]] Answer quantise(const std::string& options = "") const { return run("quantise", out, options); }
  [[nodiscard]] Answer quantise(const std::string& options, const std::filesystem::path& to) const {
    return run("quantise", to, options);
  }
};

}  // namespace

TEST_SUITE_BEGIN("quantise");

TEST_CASE("the program writes the output and prints a line for each quantised tensor") {
  const QuantiseScene scene, other;
  const Answer answer = scene.quantise();
  CHECK(answer.status == 0);
  CHECK(answer.err.empty());
  CHECK(answer.out ==
        "name         shape  relative RMS  largest error\n"
        "fc.weight    [2,2]  0.002033           0.001969\n"
        "head.weight  [2,2]  0.000844           0.000984\n"
        "2 tensors quantised, 1 copied; 48 bytes before, 40 after\n");
  CHECK(scene.dtype("fc.weight") == "I8");
  CHECK(scene.dtype("fc.weight_scale") == "F32");
  CHECK(scene.dtype("embed.weight") == "F32");
  CHECK(std::distance(std::filesystem::directory_iterator(scene.folder.path()), {}) == 2);
  CHECK(other.quantise().status == 0);
  CHECK(content_of(scene.out) == content_of(other.out));
}

TEST_CASE("options of the program choose the tensors") {
  const QuantiseScene scene;
  CHECK(scene.quantise("--embeddings --keep '^fc' --keep nothing").status == 0);
  CHECK(scene.dtype("fc.weight") == "F32");
  CHECK(scene.dtype("embed.weight") == "I8");
  CHECK(scene.dtype("head.weight") == "I8");
  const Answer all_kept = QuantiseScene().quantise("--keep .");
  check_refused(all_kept, 1, "in.safetensors: there is nothing to quantise");
}

TEST_CASE("--bits 4 writes 4-bit weights") {
  const QuantiseScene scene;
  CHECK(scene.quantise("--bits 4").status == 0);
  CHECK(scene.dtype("fc.weight") == "U8");
  CHECK(scene.dtype("embed.weight") == "F32");
  check_refused(scene.quantise("--bits 5"), 2, "--bits");
}

TEST_CASE("after an error the output is unchanged") {
  const QuantiseScene with_nan({1, 2, NAN, 4});
  check_refused(with_nan.quantise(), 1,
                "tensor \"fc.weight\": expected finite weights, found NaN at row 1, column 0, counted from 0");
  with_nan.check_untouched();
  const QuantiseScene scene;
  check_refused(scene.quantise("", scene.folder.path() / "absent" / "out"), 1,
                "out: cannot be written: No such file or directory");
  std::filesystem::resize_file(scene.in, std::filesystem::file_size(scene.in) - 1);
  check_refused(scene.quantise(), 1, "truncated");
  scene.check_untouched();
}

TEST_CASE("a full output device is an error, and a report that cannot be printed is an error") {
  if (!std::filesystem::exists("/dev/full")) return;
  const QuantiseScene scene;
  check_refused(scene.quantise("", "/dev/full"), 1, "/dev/full: cannot be written: No space left on device");
  check_refused(scene.quantise(">/dev/full"), 1, "the report could not be written: No space left on device");
}

TEST_CASE("a pipe receives the whole output, or nothing") {
  const QuantiseScene scene;
  REQUIRE(scene.quantise().status == 0);
  const auto piped = [](const QuantiseScene& from) {
    const std::string pipe = (from.folder.path() / "pipe").string(), copy = (from.folder.path() / "copy").string();
    // `exec 3>` makes the shell open the pipe for writing, too. Without it, `cat` would wait forever if ladon-weights
    // does not open the pipe.
    const Answer answer =
        examples::run_in_shell("mkfifo '" + pipe + "' && { cat '" + pipe + "' >'" + copy + "' & } && exec 3>'" + pipe +
                               "' && " + LADON_WEIGHTS_COMMAND " quantise '" + from.in.string() + "' '" + pipe +
                               "' 3>&-; status=$?; exec 3>&-; wait; " + "(exit $status)");
    return std::pair(answer.status, content_of(copy));
  };
  CHECK(piped(scene) == std::pair(0, content_of(scene.out)));
  CHECK(piped(QuantiseScene({1, 2, 3, NAN})) == std::pair(1, std::string()));
}

TEST_CASE("wrong usage of quantise gives the exit status 2") {
  const QuantiseScene scene;
  check_refused(scene.quantise("--keep '('"), 2, "--keep: '(' is not a regular expression");
  check_refused(scene.quantise("", scene.in), 2, "in.safetensors: is named twice");
  check_refused(scene.quantise("", scene.folder.path() / "." / "in.safetensors"), 2, "is named twice");
  std::filesystem::create_symlink(scene.in, scene.folder.path() / "link");
  check_refused(scene.quantise("", scene.folder.path() / "link"), 2, "is named twice");
  std::filesystem::remove(scene.folder.path() / "link");
  check_refused(scene.quantise("third"), 2, "third");
  check_refused(examples::run_in_shell(LADON_WEIGHTS_COMMAND " quantise x"), 2, "out is required");
  scene.check_untouched();
}

TEST_CASE("quantise --help describes the output") {
  const Answer answer = examples::run_in_shell(LADON_WEIGHTS_COMMAND " quantise --help");
  CHECK(answer.status == 0);
  CHECK(has(answer.out, "X.weight_scale  F32  [out,1]"));
}

// The output has 50 MB, but run_on_200_mb allows only 32 MB of memory besides the mapped checkpoint.
TEST_CASE("the program keeps neither the output nor a copy of the input in memory") {
  const QuantiseScene scene;
  const Answer answer = scene.run_on_200_mb("quantise", "");
  CHECK(answer.status == 0);
  CHECK(answer.err.empty());
  CHECK(has(answer.out, "1 tensor quantised, 0 copied; 200000000 bytes before, 50004000 after"));
  CHECK(files::Safetensors(scene.out).tensor("a.weight_scale", {1000, 1})[999] == 1);
}

TEST_SUITE_END();

}  // namespace ladon::weights

#endif
