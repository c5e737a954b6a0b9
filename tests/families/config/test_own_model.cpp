// SPDX-License-Identifier: Apache-2.0
// Tests descriptions that users write by hand.
#include "describing.hpp"

namespace ladon::families {
namespace {

// A classifier of sensor data, as the text of its stack.
const std::string layers = R"("model": {"layers": 2, "tokens": 64, "model": 32, "heads": 4, "feed_forward": 64,
  "activation": "gelu", "norm": "pre", "mask": {"causal": true, "left": 7}, "kinds": [{"window": 3}, {}],
  "kind_of_layer": [0, 1]})";
const std::string input = R"("input": {"name": "x", "steps": [{"step": "frames", "frames": 64, "channels": 6},
  {"step": "linear_rows", "name": "input", "outputs": 32}, {"step": "add_positions", "table": "positions", "rows": 64},
  {"step": "prepend", "tensors": [{"tensor": "cls"}]}]})";
const std::string head = R"("head": [{"step": "pool", "pooling": "maximum"},
  {"step": "linear_rows", "name": "classifier", "outputs": 10, "bias": "without", "after": "tanh"}])";

std::string with(const std::string& members) { return R"("model_type": "ladon", "stacks": [{)" + members + "}]"; }

}  // namespace

TEST_SUITE_BEGIN("own_model");

TEST_CASE("config.json states the members of a description by their names") {
  const Stack read = stack(with(layers + ", " + input + ", " + head + R"(, "final_norm": "norm", "epsilon": 0.25)"));
  CHECK(read.prefix == "layers");
  CHECK(read.epsilon == 0.25f);
  CHECK(read.model.final_norm == FinalNorm::with);
  CHECK(read.model.layers == 2);
  CHECK(read.model.tokens == 64);
  CHECK(read.model.norm == NormOrder::pre);
  CHECK(read.model.activation == Activation::gelu);
  CHECK(read.model.mask.causal);
  CHECK(read.model.mask.left == 7);
  REQUIRE(read.model.kinds.count == 2);
  CHECK(read.model.kinds.items[0].window == 3);
  CHECK(read.model.kind_of_layer.count == 2);
  REQUIRE(read.input.steps.size() == 4);
  CHECK(std::get<Frames>(read.input.steps[0]).channels == 6);
  CHECK(std::get<LinearRows>(read.input.steps[1]).outputs == 32);
  CHECK(std::get<AddPositions>(read.input.steps[2]).table == "positions");
  CHECK(std::get<Prepend>(read.input.steps[3]).tensors.at(0).tensor == "cls");
  REQUIRE(read.head.size() == 2);
  CHECK(std::get<Pool>(read.head[0]).pooling == Pooling::maximum);
  CHECK(std::get<LinearRows>(read.head[1]).bias == Bias::without);
  CHECK(std::get<LinearRows>(read.head[1]).after == After::tanh);
  CHECK_FALSE(read.head_of_rows);
  const std::string classes = R"("head": [{"step": "linear_rows", "name": "classifier", "outputs": 9}])";
  CHECK(stack(with(layers + ", " + input + ", " + classes + R"(, "head_of_rows": true)")).head_of_rows);
}

TEST_CASE("errors name the place of a wrong key or value, and the allowed ones") {
  CHECK(error(R"("model_type": "ladon")") ==
        R"(config.json: "stacks": expected a list of at least one stack, found nothing)");
  CHECK(says(error(with(R"("modle": {})")), R"("stacks"[0]: "modle": expected no such key, but name, )"));
  CHECK(says(error(with(R"("model": {"norm": "before"})")),
             R"("norm": expected one of post, pre, both, output, found "before")"));
  CHECK(says(error(with(R"("model": {"mask": {"causl": true}})")), R"("mask": "causl": expected no such key)"));
  CHECK(says(error(with(layers + R"(, "head": [{"step": "pull"}])")),
             R"("head"[0]: "step": expected one of lookup, drop_token, add_positions, )"));
  for (const std::string& end : {std::string(), ", " + head})
    CHECK(says(error(with(layers + ", " + input + end + R"(, "head_of_rows": true)")),
               R"("head_of_rows": expected a head, and no step "pool" before or in it)"));
  CHECK(says(error(with(R"("model": {"layers": 0})")), R"("layers": expected from 1 to 4096)"));
  CHECK(error(with(R"("model": {"layers": 1, "tokens": 4, "model": 8, "feed_forward": 8})")) ==
        R"(config.json: "stacks"[0]: "heads": expected at least 1, found nothing)");
  CHECK(says(error(with(R"("model": {"kinds": [{}], "kind_of_layer": [1]})")), "a list of numbers of kinds"));
}

TEST_SUITE_END();

}  // namespace ladon::families
