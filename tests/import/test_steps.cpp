// SPDX-License-Identifier: Apache-2.0
// Tests the functions that steps become.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "program.hpp"
#include "testing/fixtures.hpp"

namespace ladon::import {
namespace {

using families::Stack, families::Step;

Stack stack_with(std::string input, std::vector<Step> steps) {
  Stack stack;
  stack.name = "encoder", stack.prefix = "layers";
  stack.model = {.layers = 2, .tokens = 8, .model = 4, .heads = 2, .feed_forward = 8};
  stack.input = {std::move(input), std::move(steps)};
  return stack;
}

const std::string tokens_check =
    R"(LADON_EXPECTS(tokens <= most_tokens, "ladon: more tokens than most_tokens", {}, {{"tokens", tokens}});)";
const std::string frames_check =
    R"(LADON_EXPECTS(frames <= most_frames, "ladon: more frames than most_frames", {}, {{"frames", frames}});)";

Program program_with_stacks(const std::vector<Stack>& stacks, const families::Tensors& tensors = {},
                            PrecisionKind precision = PrecisionKind::float32) {
  Description description{.model_type = "test"};
  description.stacks = stacks;
  return program_of(description, tensors, {.name = "test", .precision = precision, .source = "config.json"});
}
Program program_with(const Stack& stack, const families::Tensors& tensors = {},
                     PrecisionKind precision = PrecisionKind::float32) {
  return program_with_stacks({stack}, tensors, precision);
}

const Function& function(const Program& program, const std::string& name) {
  const auto found = std::find_if(program.functions.begin(), program.functions.end(), [&](const Function& f) {
    return f.signature.find(" " + name + "(") != std::string::npos;
  });
  REQUIRE(found != program.functions.end());
  return *found;
}

std::string member(const Program& program, const std::string& name) {
  for (const Member& m : program.weights)
    if (m.name == name) return m.type;
  return "";
}

const Step words = families::Lookup{"words.weight", 100, 4};

}  // namespace

TEST_SUITE_BEGIN("steps");

TEST_CASE("types of tokens: a call with them, and one without") {
  const Step types = families::AddRow{.table = "types", .rows = 2, .ids = "token_type_ids"};
  const Program program = program_with(stack_with("input_ids", {words, types}));
  const Function& run = function(program, "run");
  CHECK(run.signature ==
        "inline std::size_t run(const std::int32_t* input_ids, const std::int32_t* token_type_ids, std::size_t tokens, "
        "const Weights& weights, float* last, Workspace& workspace) noexcept");
  CHECK(run.body[3] == "ladon::add_types(weights.types, token_type_ids, tokens, x);");
  CHECK(member(program, "types") == "ladon::MatrixView<const float, 2, 4>");
  REQUIRE(program.functions.size() == 2);
  CHECK(
      program.functions[1].signature ==
      "inline std::size_t run(const std::int32_t* input_ids, std::size_t tokens, const Weights& weights, float* last, "
      "Workspace& workspace) noexcept");
  CHECK(program.functions[1].body == Lines{"return run(input_ids, nullptr, tokens, weights, last, workspace);"});
}

TEST_CASE("stacks for two texts: the lengths have names of their own, and each result belongs to a stack") {
  Stack question = stack_with("question_ids", {words}), answer = stack_with("answer_ids", {words});
  question.name = "question", answer.name = "answers", answer.model.tokens = 6;
  answer.pooler = {families::Pool{}};
  answer.head = {families::LinearRows{"classifier", 3}};
  const Program program = program_with_stacks({question, answer});
  CHECK(function(program, "run_question").signature.find("std::size_t question_tokens") != std::string::npos);
  const std::vector<Argument> inputs = inputs_of(program);
  REQUIRE(inputs.size() == 2);
  CHECK(inputs[1].count == "answers_tokens");
  CHECK(inputs[1].most == 6);
  const Result* const head = result_of(program, "head_answers");
  REQUIRE(head != nullptr);
  CHECK(source_of(program, *head)->name == "pooled_answers");
  CHECK(run_of(program, *head).name == "last_answers");
  CHECK(runs_of(program).size() == 2);
}

TEST_CASE("token ids, positions and a norm") {
  const Program program = program_with(
      stack_with("input_ids", {words, families::AddPositions{.table = "places", .rows = 10, .first = 2},
                               families::NormRows{.name = "norm", .kind = NormKind::rms, .epsilon = 1e-6f}}));
  const Function& run = function(program, "run");
  CHECK(
      run.signature ==
      "inline std::size_t run(const std::int32_t* input_ids, std::size_t tokens, const Weights& weights, float* last, "
      "Workspace& workspace) noexcept");
  CHECK(run.body ==
        Lines{tokens_check, "float* const x = workspace.x;", "ladon::embed(weights.words, input_ids, tokens, x);",
              "ladon::add_positions(weights.places, 2, tokens, x);", "ladon::normalise(weights.norm, tokens, x, x);",
              "encoder::Stack::Options options;", "options.tokens = tokens;",
              "ladon::run_text(x, weights.layers, last, workspace.layers, workspace.short_layers, options);",
              "return tokens;"});
  CHECK(member(program, "words") == "ladon::EmbeddingTable<100, 4>");
  CHECK(member(program, "places") == "ladon::MatrixView<const float, 10, 4>");
  CHECK(member(program, "norm") == "ladon::Norm<4, ladon::NormKind::rms>");
  CHECK(program.workspace == Lines{"float x[32];", "encoder::Stack::Workspace layers;",
                                   "ladon::ShortTextWorkspace<encoder::Stack> short_layers;"});
  CHECK(program.tables.empty());
}

TEST_CASE("patches of an image behind a class token") {
  families::Patches patches{.name = "patches", .rows = 4, .columns = 4, .patch_rows = 2, .patch_columns = 2};
  patches.outputs = 4;
  const Program program =
      program_with(stack_with("pixel_values", {patches, families::Prepend{{{"cls"}}}}), {}, PrecisionKind::int8);
  CHECK(function(program, "run").body ==
        Lines{"float* const x = workspace.x;", "Patches::run(pixel_values, weights.patches, x + 4, workspace.patches);",
              "std::copy_n(weights.cls.data, 4, x);", "encoder::Stack::Options options;", "options.tokens = 5;",
              "encoder::Stack::run(x, weights.layers, last, workspace.layers, options);", "return 5;"});
  CHECK(program.parts.find(".tokens = 5,\n") != std::string::npos);  // the layers have room for no more
  CHECK(program.parts.find(".precision = ladon::PrecisionKind::int8") != std::string::npos);
  CHECK(program.workspace.front() == "float x[20];");
}

TEST_CASE("a second Prepend leaves the class token in front") {
  families::Patches patches{.name = "patches", .rows = 4, .columns = 4, .patch_rows = 2, .patch_columns = 2};
  patches.outputs = 4;
  const Program program = program_with(
      stack_with("pixel_values", {patches, families::Prepend{{{"cls"}}}, families::Prepend{{{"registers", 2}}, 1}}));
  const Lines& body = function(program, "run").body;
  CHECK(Lines(body.begin() + 1, body.begin() + 5) ==
        Lines{"Patches::run(pixel_values, weights.patches, x + 12, workspace.patches);",
              "std::copy_n(weights.cls.data, 4, x + 8);", "std::copy_n(x + 8, 4, x);",
              "std::copy_n(weights.registers.data, 8, x + 4);"});
}

TEST_CASE("convolutions over sound: rows depend on the number of frames") {
  Stack stack = stack_with(
      "input_values",
      {families::Frames{.frames = 34},
       families::ConvolveRows{.name = "conv.0", .outputs = 4, .width = 4, .stride = 4, .after = families::After::gelu},
       families::ConvolveRows{.name = "places", .outputs = 4, .width = 3, .before = 1, .behind = 1, .residual = true}});
  const Program program = program_with(stack);
  CHECK(function(program, "run").body ==
        Lines{frames_check, "float* const y = workspace.y;", "float* const x = workspace.x;",
              "const std::size_t rows_of_conv_0 = conv_0_model.length_of(frames);",
              "Conv0::run(input_values, frames, weights.conv_0, x, workspace.conv_0);",
              "ladon::activate<ladon::Activation::gelu>(x, rows_of_conv_0 * 4);",
              "Places::run(x, rows_of_conv_0, weights.places, y, workspace.places);",
              "for (std::size_t i = 0; i < rows_of_conv_0 * 4; ++i) x[i] += y[i];", "encoder::Stack::Options options;",
              "options.tokens = rows_of_conv_0;",
              "encoder::Stack::run(x, weights.layers, last, workspace.layers, options);", "return rows_of_conv_0;"});
}

TEST_CASE("a series with masks and a residual block") {
  const Program program = program_with(
      stack_with("past_values", {families::Frames{.frames = 14}, families::MaskedPatches{.patch = 5, .least = 0.5f},
                                 families::ResidualBlock{"block", 6, 4}, families::AddRow{"kinds", 3, 2}}));
  CHECK(function(program, "run").body ==
        Lines{frames_check, "float* const y = workspace.y;", "float* const x = workspace.x;",
              "ladon::masked_series_patches<series_model>(past_values, frames, x, "
              "ladon::masked_series_scale<series_model>(past_values, frames, 0.5f));",
              "const std::size_t rows_of_series = series_model.patches_of(frames);",
              "ResidualLayer::run(x, weights.residual_layer, y + 18, workspace.residual_layer, rows_of_series);",
              "InputLayer::run(x, weights.input_layer, y, workspace.input_layer, rows_of_series);",
              "ladon::activate<ladon::Activation::silu>(y, rows_of_series * 6);",
              "OutputLayer::run(y, weights.output_layer, x, workspace.output_layer, rows_of_series);",
              "for (std::size_t i = 0; i < rows_of_series * 4; ++i) x[i] += y[18 + i];",
              "ladon::add_row<4>(weights.kinds.data + 8, rows_of_series, x);", "encoder::Stack::Options options;",
              "options.tokens = rows_of_series;",
              "encoder::Stack::run(x, weights.layers, last, workspace.layers, options);", "return rows_of_series;"});
  CHECK(program.parts.find("ladon::MaskedSeriesModel series_model{.length = 14, .patch = 5};") != std::string::npos);
  CHECK(program.workspace[0] == "float x[30];");
  CHECK(program.workspace[1] == "float y[30];");
}

TEST_CASE("a projection behind the layers, a pooler and a tied head") {
  Stack stack = stack_with("input_ids", {words});
  stack.behind = {families::LinearRows{"project", 4, Bias::without}};
  stack.pooler = {families::Pool{families::Pooling::mean}, families::UnitLength{}};
  const Program program = program_with(stack);
  const Lines& body = function(program, "run").body;
  CHECK(Lines(body.end() - 3, body.end()) ==
        Lines{"ladon::run_text(x, weights.layers, y, workspace.layers, workspace.short_layers, options);",
              "Project::run(y, weights.project, last, workspace.project, tokens);", "return tokens;"});
  CHECK(function(program, "pool").body ==
        Lines{"ladon::mean_pool<4>(last, rows, pooled);", "ladon::unit_length<4>(1, pooled);"});

  stack.pooler.clear();
  stack.head = {families::TiedHead{}};
  CHECK(function(program_with(stack), "head").body ==
        Lines{"TiedHead::run(last, weights.words, answer, workspace.tied_head);"});

  stack.head = {families::LinearRows{"classifier", 3}};
  stack.head_of_rows = true;
  const Program classes = program_with(stack);
  CHECK(function(classes, "head").signature ==
        "inline void head(const float* last, std::size_t rows, const Weights& weights, float* answer, Workspace& "
        "workspace) noexcept");
  CHECK(function(classes, "head").body ==
        Lines{"Classifier::run(last, weights.classifier, answer, workspace.classifier, rows);"});
  CHECK(classes.results.back().most == 8);
}

TEST_CASE("batches: texts share a call if scores depend on the distance of tokens") {
  Stack stack = stack_with("input_ids", {words, families::AddPositions{.table = "places", .rows = 8}});
  stack.pooler = {families::Pool{families::Pooling::mean}};
  const Program shared = program_with(stack);
  CHECK(function(shared, "embed").body == Lines{"ladon::embed(weights.words, input_ids, tokens, embedded);",
                                                "ladon::add_positions(weights.places, 0, tokens, embedded);"});
  CHECK(function(shared, "run_batch").body.back() == "ladon::for_each_call(texts, 128, share, compute);");
  CHECK(shared.parts.find("using Together = ladon::Encoder<ladon::model_of_texts(encoder::model, 128)>;") !=
        std::string::npos);

  Stack causal = stack;
  causal.model.mask = {.causal = true, .left = 3};
  causal.rotary = {{.scaling = {.base = 100}}};
  causal.model.position = {.width = 2, .positions = 8};
  const auto limit = [](const Stack& of) { return function(program_with(of), "run_batch").body.back(); };
  const Lines body = function(program_with(causal), "run_batch").body;
  CHECK(std::find(body.begin(), body.end(), "    options.position.table = &tables.encoder_rotary;") != body.end());
  CHECK(limit(causal) == "ladon::for_each_call(texts, 8, share, compute);");  // the table has 8 positions
  for (const RotaryKind kind : {RotaryKind::dynamic, RotaryKind::longrope}) {
    Stack scaled = causal;
    scaled.rotary[0] = {.scaling = {.kind = kind, .factor = 2, .original_positions = 4}, .factors = {1}};
    CHECK(limit(scaled) == "ladon::for_each_call(texts, 0, share, compute);");
  }

  Stack relative = stack;
  relative.model.mask.relative = true;
  relative.relative_bias = {.tensor = "bias", .buckets = {}};
  const Program biased = program_with(relative);
  CHECK(biased.tables == Lines{"ladon::RelativeTable<2, 8> encoder_relative;",
                               "ladon::RelativeTable<2, 128> encoder_relative_together;"});
  const Lines biased_body = function(biased, "run_batch").body;
  CHECK(std::find(biased_body.begin(), biased_body.end(),
                  "    options.mask.second.table = &tables.encoder_relative_together;") != biased_body.end());

  Stack projected = stack;
  projected.behind = {families::NormRows{.name = "norm"}};
  const Program apart = program_with(projected);
  CHECK(function(apart, "run_batch").body ==
        Lines{"const auto compute = [&](const ladon::Texts& part, std::size_t number) {",
              "  const std::size_t rows = run(part.ids, part.lengths[0], weights, workspace.last, workspace.single);",
              "  pool(workspace.last, rows, weights, pooled + number * 4, workspace.single);", "};",
              "ladon::for_each_call(texts, 0, share, compute);"});
  CHECK(apart.parts.find("Together") == std::string::npos);

  stack.pooler.clear();
  CHECK(program_with(stack).batch_workspace.empty());
}

TEST_CASE("batches of a classifier: the answers") {
  Stack stack = stack_with("input_ids", {words});
  stack.behind = {families::NormRows{.name = "norm"}};  // texts share no calls
  stack.head = {families::LinearRows{"classifier", 3}};
  const auto body = [&] { return function(program_with(stack), "run_batch").body; };
  CHECK(body() == Lines{"const auto compute = [&](const ladon::Texts& part, std::size_t number) {",
                        "  run(part.ids, part.lengths[0], weights, workspace.last, workspace.single);",
                        "  head(workspace.last, weights, answer + number * 3, workspace.single);", "};",
                        "ladon::for_each_call(texts, 0, share, compute);"});

  stack.pooler = {families::Pool{families::Pooling::mean}};
  const Lines pooled = body();
  CHECK(Lines(pooled.begin() + 1, pooled.begin() + 4) ==
        Lines{"  const std::size_t rows = run(part.ids, part.lengths[0], weights, workspace.last, workspace.single);",
              "  pool(workspace.last, rows, weights, workspace.pooled, workspace.single);",
              "  head(workspace.pooled, weights, answer + number * 3, workspace.single);"});
  CHECK(program_with(stack).batch_workspace.back() == "float pooled[4];");

  stack.head_of_rows = true;
  CHECK(function(program_with(stack), "run_batch").signature.find("float* pooled") != std::string::npos);
}

TEST_CASE("a part from a folder inside the model's folder") {
  Stack stack = stack_with("input_ids", {words});
  stack.pooler = {families::Pool{}, families::LinearRows{"2_Dense/linear", 2, Bias::without}};
  const Program program = program_with(stack);
  CHECK(program.files == std::map<std::string, std::string>{{"2_Dense", "of_2_dense"}});
  CHECK(program.weights.back().load ==
        Lines{"ladon::safetensors::take(of_2_dense, \"linear\", weights.model_2_dense_linear);"});
}

TEST_CASE("a pooler whose tensors the checkpoint lacks is left out") {
  Stack stack = stack_with("input_ids", {words});
  stack.pooler = {families::Pool{families::Pooling::first}, families::LinearRows{"dense", 4}};
  families::Tensors tensors;
  tensors["words.weight"] = {"F32", {100, 4}, 0, 1600};
  const Program program = program_with(stack, tensors);
  CHECK(program.functions.size() == 1);
  CHECK(program.rows.back().what == "left out, because the checkpoint lacks dense.bias");
  CHECK(member(program, "dense").empty());
}

TEST_CASE("a pooler that is the attention of a learned query") {
  Stack stack = stack_with("input_ids", {words});
  stack.pooler = {families::AttentionPool{.name = "head", .heads = 2, .feed_forward = 3}};
  const Program program = program_with(stack, {}, PrecisionKind::bfloat16);
  CHECK(function(program, "pool").body == Lines{"Head::run(last, weights.head_, pooled, workspace.head_, rows);"});
  CHECK(function(program, "pool").signature.find("std::size_t rows, ") != std::string::npos);
  CHECK(program.parts.find(
            "inline constexpr ladon::Model head_model{\n    .tokens = 8,\n    .model = 4,\n    .heads = 2,\n"
            "    .feed_forward = 3,\n    .activation = ladon::Activation::gelu_tanh,\n"
            "    .precision = ladon::PrecisionKind::bfloat16,\n};\n"
            "using Head = ladon::AttentionPool<head_model>;\n") != std::string::npos);
  const auto head = std::find_if(program.weights.begin(), program.weights.end(),
                                 [](const Member& each) { return each.name == "head_"; });
  REQUIRE(head != program.weights.end());
  CHECK(head->type == "Head::Weights");
  CHECK(head->load ==
        Lines{"ladon::safetensors::take(file, \"head.probe\", weights.head_.query);",
              "weights.head_.attention = ladon::safetensors::load<Head::Attention>(file, \"head.attention\");",
              "ladon::safetensors::take(file, \"head.layernorm\", weights.head_.norm);",
              "weights.head_.norm.epsilon = 1e-06f;",
              "ladon::safetensors::take(file, \"head.mlp.fc1\", weights.head_.linear1);",
              "ladon::safetensors::take(file, \"head.mlp.fc2\", weights.head_.linear2);"});
  for (const char* tensor : {"head.probe", "head.attention.in_proj_weight", "head.attention.out_proj.bias"})
    CHECK(program.used.contains(tensor));

  stack.pooler = {families::AttentionPool{.name = "head", .heads = 3, .feed_forward = 3}};
  CHECK(examples::error_of<safetensors::Error>([&] { (void)program_with(stack); }) ==
        R"(config.json: "model_type" is "test": the attention pool "head" needs heads that divide its 4 features, )"
        "and a feed_forward of at least 1");
}

TEST_CASE("sinusoids of each kind") {
  const auto prepare = [](const families::AddPositions& positions) {
    const Program program = program_with(stack_with("input_ids", {words, positions}));
    REQUIRE(program.prepare.size() == 1);
    return program.prepare[0];
  };
  CHECK(prepare({.rows = 8}) == "ladon::fill_sinusoids(tables.positions);");
  CHECK(prepare({.rows = 8, .interleaved = true}) == "ladon::fill_sinusoids(tables.positions, {.interleaved = true});");
  CHECK(prepare({.rows = 10, .first = 2, .closed = true}) ==
        "ladon::fill_sinusoids(tables.positions, {.closed = true});");
}

TEST_CASE("errors name the model and what it lacks") {
  const auto error = [](const Stack& stack, const families::Tensors& tensors) {
    return examples::error_of<safetensors::Error>([&] { (void)program_with(stack, tensors); });
  };
  Stack stack = stack_with("input_values", {});
  stack.input.missing = "Ladon lacks X";
  CHECK(error(stack, {}) == R"(config.json: "model_type" is "test": Ladon lacks X)");
  CHECK(error(stack_with("input_ids", {words}), {{"other", {"F32", {1}, 0, 4}}}) ==
        R"(config.json: "model_type" is "test": the checkpoint lacks the tensor "words.weight")");
  CHECK(error(stack_with("input_ids", {words}), {{"a", {"I8", {1}, 0, 1}}}) ==
        R"(config.json: "model_type" is "test": the tensor "a" has int8 weights, which need --precision int8)");
}

TEST_SUITE_END();

}  // namespace ladon::import
