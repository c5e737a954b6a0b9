// SPDX-License-Identifier: Apache-2.0
// Tests that ladon-import refuses steps that do not fit each other, the layers or the checkpoint.
#include <doctest/doctest.h>

#ifndef _WIN32  // arguments are quoted for a POSIX shell

#include <filesystem>
#include <string>

#include "safetensors_file.hpp"
#include "testing/fixtures.hpp"
#include "testing/program.hpp"

namespace ladon::import {
namespace {

// A stack of the type "ladon" for 8 frames of 3 numbers, with these steps before its layers.
std::string stack_of_steps(const std::string& steps, const std::string& name = "encoder") {
  return R"({"name": ")" + name +
         R"(", "model": {"layers": 1, "tokens": 8, "model": 4, "heads": 2, "feed_forward": 8},
             "prefix": "layers", "input": {"name": ")" +
         name + R"(_x", "steps": [)" + steps + "]}}";
}
const std::string audio = R"({"step": "frames", "frames": 8, "channels": 3})",
                  map = R"({"step": "linear_rows", "name": "map", "outputs": 4})",
                  positions = R"({"step": "add_positions", "table": "positions", "rows": 8})";

// Returns what `ladon-import --option` says of a folder whose checkpoint has the tensors of these steps.
// All but the tensor `without`.
examples::Answer import_of(const std::string& stacks, const std::string& option = "--cpp",
                           const std::string& without = "") {
  const examples::TemporaryFolder folder;
  (void)folder.file("config.json", R"({"model_type": "ladon", "stacks": [)" + stacks + "]}");
  files::Checkpoint checkpoint;
  checkpoint.add("map.weight", 4, 3, 1).add("map.bias", 4, 1).add("positions", 8, 4, 1).add("words.weight", 8, 4, 1);
  checkpoint.add("layers.0.self_attn.in_proj_weight", 12, 4, 1).add("layers.0.self_attn.in_proj_bias", 12, 1);
  checkpoint.add("layers.0.self_attn.out_proj.weight", 4, 4, 1).add("layers.0.self_attn.out_proj.bias", 4, 1);
  checkpoint.add("layers.0.linear1.weight", 8, 4, 1).add("layers.0.linear1.bias", 8, 1);
  checkpoint.add("layers.0.linear2.weight", 4, 8, 1).add("layers.0.linear2.bias", 4, 1);
  for (const char* norm :
       {"layers.0.norm1.weight", "layers.0.norm1.bias", "layers.0.norm2.weight", "layers.0.norm2.bias"})
    if (norm != without) checkpoint.add(norm, 4, 1);
  (void)folder.file("model.safetensors", checkpoint.content());
  const auto out = folder.path() / "out";
  const examples::Answer answer = examples::run_in_shell(LADON_IMPORT_COMMAND " '" + folder.path().string() + "' " +
                                                         option + " '" + out.string() + "'");
  CHECK(std::filesystem::exists(out) == (answer.status == 0));
  return answer;
}
bool refuses(const std::string& steps, const std::string& why) {
  const examples::Answer answer = import_of(stack_of_steps(steps));
  INFO(answer.err);
  return answer.status == 1 && answer.err.find(why) != std::string::npos;
}

}  // namespace

TEST_SUITE_BEGIN("refusals");

TEST_CASE("rotation needs a multiple of 8 inputs") {
  const std::string stack = stack_of_steps(audio + "," + map);
  const examples::Answer answer = import_of(stack, "--precision rotated_int4 --cpp");
  CHECK(answer.status == 1);
  CHECK(answer.err.find("a linear map of the layers has 4 inputs, and rotation needs a multiple of 8; take --precision "
                        "int4") != std::string::npos);
  CHECK(import_of(stack, "--precision int4 --cpp").status == 0);
}

TEST_CASE("steps that fit are accepted") {
  CHECK(import_of(stack_of_steps(audio + ", " + map + ", " + positions)).status == 0);
  CHECK(import_of(stack_of_steps(audio + ", " + map + ", " + positions), "--c").status == 0);
}

TEST_CASE("steps that do not fit are refused with a reason") {
  CHECK(refuses(audio, R"(give rows of 3 numbers, and the layers take 4)"));
  CHECK(refuses(map, "begins with a step that makes no rows"));
  CHECK(refuses(audio + ", " + map + ", " + audio, "has a step that makes rows behind other steps"));
  CHECK(refuses(audio + ", " + map + R"(, {"step": "add_positions", "table": "positions", "rows": 7})",
                R"(the positions "positions" have 7 rows, too few for 8 tokens)"));
  CHECK(refuses(audio + ", " + map + R"(, {"step": "add_positions", "table": "positions", "rows": 9})",
                R"(the tensor "positions" has the shape [8,4], and the model needs [9,4])"));
  CHECK(refuses(audio + R"(, {"step": "convolve_rows", "name": "map", "outputs": 4, "stride": 0})",
                "needs a width and a stride of at least 1"));
  CHECK(refuses(audio + ", " + map + R"(, {"step": "masked_patches", "patch": 4})", "takes rows of one number"));
  CHECK(refuses(audio + R"(, {"step": "residual_block", "name": "map", "outputs": 4})",
                "needs a hidden size and outputs"));
  CHECK(refuses(audio + ", " + map + R"(, {"step": "add_row", "table": "positions", "rows": 8, "row": 8})",
                R"(the table "positions" has no row 8)"));
  CHECK(refuses(audio + ", " + map + R"(, {"step": "pool", "tokens": 9})", "takes more than the 8 rows before it"));
  CHECK(refuses(audio + R"(, {"step": "convolve_rows", "name": "map", "outputs": 4, "residual": true})",
                "is added to rows of another size"));
  CHECK(refuses(audio + ", " + map + R"(, {"step": "linear_rows", "name": "absent", "outputs": 4})",
                R"(the checkpoint lacks the tensor "absent)"));
}

TEST_CASE("types of tokens need token ids, a name and a default") {
  const std::string ids = R"({"step": "lookup", "table": "words.weight", "rows": 8, "features": 4}, )";
  const auto types = [](const std::string& name, int row = 0) {
    return R"({"step": "add_row", "table": "positions", "rows": 8, "row": )" + std::to_string(row) + R"(, "ids": ")" +
           name + "\"}";
  };
  CHECK(import_of(stack_of_steps(ids + types("kinds")), "--c").status == 0);
  CHECK(refuses(audio + ", " + map + ", " + types("kinds"), "need a model of one stack that reads token ids"));
  CHECK(refuses(ids + types("kinds") + ", " + types("others"), "and one table of types"));
  CHECK(refuses(ids + types("tokens"), R"(the token types "tokens" need a name that the program does not have)"));
  CHECK(refuses(ids + types("encoder_x"), R"(the token types "encoder_x" need a name that)"));
  CHECK(refuses(ids + types("kinds", 1), R"(the token types "kinds" need the row 0 as their default)"));
  CHECK(refuses(ids + R"({"step": "prepend", "tensors": [{"tensor": "positions", "rows": 1}]}, )" + types("kinds"),
                R"(the token types "kinds" need the row 0 as their default, and a row for each token)"));
}

TEST_CASE("a tensor that all layers lack is named") {
  const examples::Answer answer = import_of(stack_of_steps(audio + ", " + map), "--cpp", "layers.0.norm2.weight");
  CHECK(answer.status == 1);
  INFO(answer.err);
  CHECK(answer.err.find("there is no \"layers.0.norm2.weight\"") != std::string::npos);
}

TEST_CASE("names that the program needs are refused") {
  CHECK(import_of(stack_of_steps(audio + ", " + map, "run")).err.find("needs another name") != std::string::npos);
  CHECK(import_of(stack_of_steps(audio + ", " + map, "a b")).err.find("needs another name") != std::string::npos);
  CHECK(import_of(stack_of_steps(audio + ", " + map) + ", " + stack_of_steps(audio + ", " + map))
            .err.find("has the name of another stack") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace ladon::import

#else
TEST_SUITE_BEGIN("refusals");
TEST_CASE("arguments are quoted for a POSIX shell") { MESSAGE("skipped: there is no POSIX shell"); }
TEST_SUITE_END();
#endif
