#include "decoder_check.hpp"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "attention_check.hpp"
#include "variation.hpp"

namespace ladon_test {

namespace {

struct Active {
  std::size_t queries, tokens, memory;
  std::size_t longer() const { return std::max(queries, tokens); }
};

Active active_of(const Subject& subject, const Lengths& lengths) {
  const auto pick = [](std::size_t given, std::size_t capacity) { return given == ladon::all ? capacity : given; };
  return {pick(lengths.queries, subject.shape.queries), pick(lengths.tokens, subject.shape.queries),
          pick(lengths.keys, subject.shape.keys)};
}

oracle::MaySee self_mask(const DecoderForm& form, std::size_t tokens, const std::vector<std::uint8_t>& may_see) {
  return [=](std::size_t query, std::size_t key) {
    if (key >= tokens || (form.self_causal && key > query)) return false;
    return !form.self_padding || may_see.empty() || may_see[key] != 0;
  };
}
oracle::MaySee memory_mask(const DecoderForm& form, std::size_t memory, const std::vector<std::uint8_t>& may_see) {
  return [=](std::size_t, std::size_t key) {
    return key < memory && (!form.memory_padding || may_see.empty() || may_see[key] != 0);
  };
}

std::vector<Lengths> decoder_lengths(const ladon::Shape& shape) {
  const std::size_t tokens = shape.queries, memory = shape.keys;
  return {{},
          {.tokens = tokens * 2 / 3, .queries = tokens * 2 / 3, .keys = (memory + 1) / 2},
          {.tokens = 1, .queries = 1, .keys = 1},
          {.tokens = tokens, .queries = (tokens + 1) / 2, .keys = memory - 1},
          {.tokens = (tokens + 1) / 2, .queries = tokens, .keys = memory},
          {.keys = 0},
          {.tokens = 0, .queries = tokens},
          {.tokens = 0, .queries = 0, .keys = 0}};
}

std::vector<std::uint8_t> padding_to_try(std::size_t index, std::size_t keys) {
  std::vector<std::uint8_t> bytes(keys);
  for (std::size_t k = 0; k < keys; ++k) {
    const bool shown[] = {k % 3 != 1, k > 0, k < keys / 2, false};
    bytes[k] = shown[index % 4] ? 1 : 0;
  }
  if (index % 5 == 4) bytes.clear();
  return bytes;
}

// Writes NaN and infinity to the inactive tokens of problem.x, and to the tokens of problem.memory that no query sees.
void spoil_what_is_hidden(const Subject& subject, DecoderProblem& problem, const Active& active,
                          const std::vector<std::uint8_t>& may_see) {
  const oracle::MaySee seen = memory_mask(problem.form, active.memory, may_see);
  for (std::size_t k = 0; k < subject.shape.keys; ++k) {
    if (active.queries == 0 || !seen(0, k)) spoil_row(problem.memory, k, subject.shape.model);
  }
  for (std::size_t t = active.longer(); t < subject.shape.queries; ++t) {
    spoil_row(problem.x, t, subject.shape.model);
  }
}

void check_lengths(const Subject& subject, const DecoderForm& form, const Lengths& lengths, std::size_t index) {
  const std::vector<std::uint8_t> may_see = form.self_padding || form.memory_padding
                                                ? padding_to_try(index, subject.shape.keys)
                                                : std::vector<std::uint8_t>();
  DecoderProblem problem = random_decoder(subject.shape, form, index + 1);
  const Active active = active_of(subject, lengths);
  spoil_what_is_hidden(subject, problem, active, may_see);
  CAPTURE(active.queries);
  CAPTURE(active.tokens);
  CAPTURE(active.memory);
  CAPTURE(index);
  Task task = task_of(subject, problem, lengths, may_see);
  const Outcome outcome = run_guarded(subject, task);
  const ExpectedDecoder expected = expected_decoder(subject, problem, lengths, may_see);
  CHECK(worst_distance(outcome.y, expected.y) <= 1);
  const std::size_t maps = subject.maps == Maps::with ? expected.maps.size() : 0;
  for (std::size_t i = 0; i < maps; ++i) {
    CHECK(worst_distance(outcome.maps[i], expected.maps[i]) <= 1);
  }
  task.aliased = true;
  const Outcome aliased = run_guarded(subject, task);
  const std::span<const float> y(aliased.y);
  CHECK(same_bits(y.first(task.y_used), std::span(outcome.y).first(task.y_used)));
  CHECK(same_bits(y.subspan(task.y_used), std::span(task.x).subspan(task.y_used)));
}

}  // namespace

DecoderProblem random_decoder(const ladon::Shape& cross, const DecoderForm& form, std::uint64_t seed) {
  Random random(seed * 6271 + cross.queries + cross.model);
  DecoderProblem problem{form, {}, random_norm(random, cross.model, form.layer, form.epsilon), {}, {}};
  for (std::size_t i = 0; i < form.layers; ++i) {
    problem.layers.push_back(random_decoder_layer(random, cross, form.layer, form.epsilon));
    if (form.activation_bits != 0) quantise(problem.layers.back(), form.activation_bits);
  }
  problem.x = random.normals(cross.queries * cross.model);
  problem.memory = random.normals(cross.keys * cross.model);
  return problem;
}

Task task_of(const Subject& subject, const DecoderProblem& problem, const Lengths& lengths,
             const std::vector<std::uint8_t>& may_see) {
  const Active active = active_of(subject, lengths);
  Task task;
  task.x = problem.x;
  task.context = problem.memory;
  for (const auto& layer : problem.layers) append_tensors(task.weights, subject.layout, subject.shape, layer);
  if (problem.form.final_norm) append_tensors(task.weights, problem.final_norm);
  task.may_see = may_see;
  task.lengths = lengths;
  task.lengths.offset = 0;
  task.lengths.epsilon = problem.form.epsilon;
  task.x_used = active.longer() * subject.shape.model;
  task.context_used = active.memory * subject.shape.model;
  task.may_see_used = problem.form.self_padding ? active.tokens : active.memory;
  task.y_size = subject.shape.queries * subject.shape.model;
  task.y_used = active.queries * subject.shape.model;
  return task;
}

ExpectedDecoder expected_decoder(const Subject& subject, const DecoderProblem& problem, const Lengths& lengths,
                                 const std::vector<std::uint8_t>& may_see) {
  const ladon::Shape& cross = subject.shape;
  const DecoderForm& form = problem.form;
  const Active active = active_of(subject, lengths);
  ladon::Shape self = cross;
  self.keys = self.queries;
  oracle::Heads heads = heads_of(cross);
  heads.score.in_pairs = subject.in_pairs;
  heads.norms = form.layer.query_key_norm;
  oracle::Matrix x(active.longer(), cross.model, problem.x.data());
  const oracle::Matrix memory(active.memory, cross.model, problem.memory.data());
  ExpectedDecoder expected;
  for (std::size_t i = 0; i < form.layers; ++i) {
    const std::size_t queries = i + 1 < form.layers ? active.longer() : active.queries;
    auto decoded =
        oracle::decoder_layer(x, memory, problem.layers[i], heads, form.layer, queries, active.tokens,
                              self_mask(form, active.tokens, may_see), memory_mask(form, active.memory, may_see));
    expected.maps.push_back(expected_map(self, decoded.self_weights));
    expected.maps.push_back(expected_map(cross, decoded.memory_weights));
    expected.maps[2 * i].resize(expected.maps[2 * i + 1].size());
    x = std::move(decoded.out);
  }
  if (form.final_norm) x = oracle::normalized(form.layer.norm_kind, problem.final_norm, x);
  expected.y = Expected(x.data.begin(), x.data.end());
  expected.y.resize(cross.queries * cross.model);
  return expected;
}

void check_decoder(const Subject& subject, const DecoderForm& form) {
  REQUIRE(subject.shape.keys >= subject.shape.queries);
  std::size_t index = 0;
  for (const Lengths& lengths : decoder_lengths(subject.shape)) check_lengths(subject, form, lengths, index++);
}

}  // namespace ladon_test
