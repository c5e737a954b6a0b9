// SPDX-License-Identifier: Apache-2.0
// Tests which programs write texts, and where a text ends.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "file_error.hpp"
#include "generation.hpp"
#include "testing/fixtures.hpp"
#include "text_program.hpp"

namespace ladon::import {
namespace {

using examples::TemporaryFolder, examples::error_of;
using Ids = std::vector<std::int32_t>;

families::Stack language_model() {
  families::Stack stack;
  stack.name = "decoder", stack.prefix = "layers";
  stack.model = {.layers = 2, .tokens = 8, .model = 4, .heads = 2, .feed_forward = 8, .mask = {.causal = true}};
  stack.input = {
      "input_ids",
      {families::Lookup{"words.weight", 100, 4}, families::AddPositions{.table = "places", .rows = 10, .first = 2}}};
  stack.head = {families::TiedHead{}};
  return stack;
}

Program text_program_of(const families::Stack& stack, const std::vector<std::int32_t>& ends = {}) {
  Description description{.model_type = "test"};
  description.stacks = {stack};
  return program_of(description, {}, {.name = "test", .source = "config.json", .end_tokens = ends});
}

bool has_part(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_SUITE_BEGIN("generation");

TEST_CASE("a causal model with a head writes texts") {
  const Program program = text_program_of(language_model(), {2, 7});
  REQUIRE(program.generation);
  CHECK(program.generation->vocabulary == 100);
  CHECK(program.headers.contains("model/generation.hpp"));
  const Function& embed = program.functions.back();
  CHECK(has_part(embed.signature, "void embed(const std::int32_t* input_ids, std::size_t first, std::size_t tokens, "));
  CHECK(embed.body == Lines{"ladon::embed(weights.words, input_ids, tokens, embedded);",
                            "ladon::add_positions(weights.places, first + 2, tokens, embedded);"});
  const std::string types = text_types(program);
  CHECK(has_part(types, "using Text = ladon::TextGenerator<TextParts, 8>;"));
  CHECK(has_part(types, "return token == ladon::no_token || token == 2 || token == 7;"));
  CHECK(program.weights.size() == 3);  // as without texts
}

TEST_CASE("other models write no texts") {
  families::Stack without_head = language_model(), both_ways = language_model(), pooled = language_model(),
                  classes = language_model();
  without_head.head.clear();
  both_ways.model.mask.causal = false;
  pooled.pooler = {families::Pool{}};
  classes.head = {families::LinearRows{"score", 10}};
  for (const auto& stack : {without_head, both_ways, pooled, classes}) {
    const Program program = text_program_of(stack);
    CHECK_FALSE(program.generation);
    CHECK(text_types(program).empty());
    CHECK(text_functions(program).empty());
  }
}

TEST_CASE("the tokens that end a text") {
  const TemporaryFolder folder;
  CHECK(end_tokens_of(folder.path()).empty());
  (void)folder.file("config.json", R"({"eos_token_id": 5})");
  CHECK(end_tokens_of(folder.path()) == Ids{5});
  (void)folder.file("generation_config.json", R"({"eos_token_id": [6, 7]})");
  CHECK(end_tokens_of(folder.path()) == Ids{6, 7});
  (void)folder.file("generation_config.json", R"({"eos_token_id": null})");
  CHECK(end_tokens_of(folder.path()) == Ids{5});
  const auto path = folder.file("generation_config.json", R"({"eos_token_id": "</s>"})");
  CHECK(error_of<files::Error>([&] { (void)end_tokens_of(folder.path()); }) ==
        path.string() + ": \"eos_token_id\" is \"</s>\", and not a token id");
}

TEST_SUITE_END();

}  // namespace ladon::import
