// Runs `ladon-weights convert` as a user does.
#include <doctest/doctest.h>

#ifndef _WIN32  // arguments are quoted for a POSIX shell

#include <limits>

#include "conversion_scene.hpp"

namespace ladon::weights {
namespace {

using examples::Answer, examples::check_refused, examples::has;

struct ConvertScene : ConversionScene {
  using ConversionScene::ConversionScene;

  [[nodiscard]] Answer convert(const std::string& options = "--type bfloat16") const {
    return run("convert", out, options);
  }
};

}  // namespace

TEST_SUITE_BEGIN("convert");

TEST_CASE("the program writes the output and prints a line for each converted tensor") {
  const ConvertScene scene({1, 0x1.01p0f, 2, 4});
  const Answer answer = scene.convert();
  CHECK(answer.status == 0);
  CHECK(answer.err.empty());
  CHECK(answer.out ==
        "name         shape  relative RMS  largest error\n"
        "fc.weight    [2,2]  0.000833           0.000977\n"
        "head.weight  [2,2]  0.000000           0.000000\n"
        "2 tensors converted, 1 copied; 48 bytes before, 32 after\n");
  CHECK(scene.dtype("fc.weight") == "BF16");
  CHECK(scene.dtype("embed.weight") == "F32");
  CHECK(std::distance(std::filesystem::directory_iterator(scene.folder.path()), {}) == 2);
}

TEST_CASE("options of the program choose the tensors") {
  const ConvertScene scene;
  CHECK(scene.convert("--embeddings --keep '^fc' --keep nothing --type bfloat16").status == 0);
  CHECK(scene.dtype("fc.weight") == "F32");
  CHECK(scene.dtype("embed.weight") == "BF16");
  CHECK(scene.dtype("head.weight") == "BF16");
}

TEST_CASE("after an error the output is unchanged") {
  const ConvertScene scene, too_large({1, 2, std::numeric_limits<float>::max(), 4});
  check_refused(too_large.convert(), 1,
                "tensor \"fc.weight\": expected weights that are finite in bfloat16, found 3.40282347e+38 at row 1, "
                "column 0, counted from 0");
  too_large.check_untouched();
  check_refused(scene.convert("--type bfloat16 --keep ."), 1, "in.safetensors: there is nothing to convert");
  std::filesystem::resize_file(scene.in, std::filesystem::file_size(scene.in) - 1);
  check_refused(scene.convert(), 1, "truncated");
  scene.check_untouched();
}

TEST_CASE("wrong usage of convert exits with 2, and lists the types") {
  const ConvertScene scene;
  check_refused(scene.convert(""), 2, "--type is required");
  check_refused(scene.convert("--type float16"), 2, "--type: expected bfloat16 or float32, found \"float16\"");
  check_refused(scene.convert("--type BF16"), 2, "--type: expected bfloat16 or float32, found \"BF16\"");
  check_refused(scene.convert("--type int8"), 2,
                "--type: expected bfloat16 or float32, found \"int8\"; the command quantise makes int8 weights");
  check_refused(scene.convert("--type bfloat16 --keep '('"), 2, "--keep: '(' is not a regular expression");
  check_refused(scene.run("convert", scene.in, "--type bfloat16"), 2, "in.safetensors: is named twice");
  scene.check_untouched();
}

TEST_CASE("convert --help describes the conversion") {
  const Answer answer = examples::run_in_shell(LADON_WEIGHTS_COMMAND " convert --help");
  CHECK(answer.status == 0);
  CHECK(has(answer.out, "Each weight becomes the\nnearest bfloat16"));
  CHECK(has(answer.out, "unless --embeddings is given"));
}

// The output has 100 MB, but run_on_200_mb allows only 32 MB of memory besides the mapped checkpoint.
TEST_CASE("the program keeps neither the output nor a copy of the input in memory") {
  const ConvertScene scene;
  const Answer answer = scene.run_on_200_mb("convert", "--type bfloat16");
  CHECK(answer.status == 0);
  CHECK(answer.err.empty());
  CHECK(has(answer.out, "1 tensor converted, 0 copied; 200000000 bytes before, 100000000 after"));
  CHECK(scene.dtype("a.weight") == "BF16");
}

TEST_SUITE_END();

}  // namespace ladon::weights

#endif
