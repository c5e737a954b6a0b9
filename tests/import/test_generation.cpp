// SPDX-License-Identifier: Apache-2.0
// Tests which programs write texts, and where a text ends.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "file_error.hpp"
#include "generation.hpp"
#include "testing/fixtures.hpp"
#include "text_program.hpp"
#include "text_tokens.hpp"

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
  return program_of(description, {}, {.name = "test", .source = "config.json", .text_tokens = {.ends = ends}});
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
    CHECK(text_include(program).empty());
  }
}

// An encoder, and the language model above as a decoder.
Program seq2seq_program_of(const TextTokens& tokens) {
  families::Stack decoder = language_model(), encoder = decoder;
  decoder.attends_memory = true;
  decoder.input.name = "decoder_input_ids";
  encoder.name = "encoder", encoder.prefix = "encoder.layers", encoder.head.clear();
  encoder.model.mask.causal = false;
  Description description{.model_type = "test"};
  description.stacks = {encoder, decoder};
  return program_of(description, {}, {.name = "test", .source = "config.json", .text_tokens = tokens});
}

TEST_CASE("a decoder writes texts behind its encoder") {
  const Program program = seq2seq_program_of({.starts = {5, 6}, .suppressed_first = {7}});
  REQUIRE(program.generation);
  CHECK(result_of(program, "head") != nullptr);
  REQUIRE(program.generation->source);
  CHECK(program.generation->source->name == "input_ids");
  const std::string types = text_types(program);
  CHECK(has_part(types, "using Stack = ladon::Decoder<decoder::text_model(Tokens)>;"));
  CHECK(has_part(types, "start_tokens[] = {5, 6};"));
  CHECK(has_part(types, "text.start(parts, workspace.memory, rows);"));
  CHECK(has_part(types, "for (const std::int32_t id : suppressed_first_tokens) text.logits()[id] ="));
  CHECK_FALSE(has_part(types, "suppressed_tokens"));
  CHECK(has_part(text_writing(program), "records.has(\"decoder_input_ids\")"));
  CHECK(has_part(text_writing(seq2seq_program_of({})), "= records.ids(\"decoder_input_ids\""));
}

TEST_CASE("tokens outside of the vocabulary are refused") {
  const std::string message = error_of<files::Error>([] { (void)seq2seq_program_of({.suppressed = {99, 100}}); });
  CHECK(has_part(message, "has the id 100, and the vocabulary has 100 tokens"));
}

TEST_CASE("the tokens of a text's settings") {
  const TemporaryFolder folder;
  CHECK(text_tokens_of(folder.path()).ends.empty());
  (void)folder.file("config.json", R"({"eos_token_id": 5, "decoder_start_token_id": 3, "forced_bos_token_id": null})");
  CHECK(text_tokens_of(folder.path()).ends == Ids{5});
  CHECK(text_tokens_of(folder.path()).starts == Ids{3});
  (void)folder.file("generation_config.json", R"({"eos_token_id": [6, 7], "forced_bos_token_id": 4,
    "suppress_tokens": [8], "begin_suppress_tokens": [9], "bad_words_ids": [[10], [11, 12]]})");
  TextTokens tokens = text_tokens_of(folder.path());
  CHECK(tokens.ends == Ids{6, 7});
  CHECK(tokens.starts == Ids{3, 4});
  CHECK(tokens.suppressed == Ids{8, 10});
  CHECK(tokens.suppressed_first == Ids{9});
  (void)folder.file("generation_config.json", R"({"eos_token_id": null, "forced_decoder_ids": [[1, 20], [2, null]]})");
  tokens = text_tokens_of(folder.path());
  CHECK(tokens.ends == Ids{5});
  CHECK(tokens.starts == Ids{3, 20});
  const auto path = folder.file("generation_config.json", R"({"eos_token_id": "</s>"})");
  CHECK(error_of<files::Error>([&] { (void)text_tokens_of(folder.path()); }) ==
        path.string() + ": \"eos_token_id\" has \"</s>\", which is not a token id");
}

TEST_SUITE_END();

}  // namespace ladon::import
