// SPDX-License-Identifier: Apache-2.0
// Tests the steps before and behind the layers of models of texts.
#include <cmath>

#include "describing.hpp"

namespace ladon::families {
namespace {

std::string with_tokens(const std::string& model_type, const std::string& more = "") {
  return small(model_type, R"("vocab_size": 100)" + (more.empty() ? "" : ", " + more));
}
std::vector<Step> input_of(const std::string& text) { return stack(text).input.steps; }
template <class S>
const S& step_at(const std::vector<Step>& steps, std::size_t number) {
  REQUIRE(number < steps.size());
  REQUIRE(std::holds_alternative<S>(steps[number]));
  return *std::get_if<S>(&steps[number]);
}

}  // namespace

TEST_SUITE_BEGIN("inputs");

TEST_CASE("BERT: words, types, positions and a norm") {
  const Stack bert = stack(with_tokens("bert", R"("layer_norm_eps": 1e-6)"));
  CHECK(bert.input.name == "input_ids");
  CHECK(bert.input.missing.empty());
  const std::vector<Step>& steps = bert.input.steps;
  REQUIRE(steps.size() == 4);
  const auto& words = step_at<Lookup>(steps, 0);
  CHECK(words.table == "embeddings.word_embeddings.weight");
  CHECK(words.rows == 100);
  CHECK(words.features == 32);
  CHECK(words.scale == 1);
  CHECK(step_at<AddRow>(steps, 1).table == "embeddings.token_type_embeddings.weight");
  CHECK(step_at<AddRow>(steps, 1).rows == 2);
  CHECK(step_at<AddRow>(steps, 1).ids == "token_type_ids");
  CHECK(step_at<AddRow>(input_of(with_tokens("bert", R"("type_vocab_size": 1)")), 1).ids.empty());
  CHECK(step_at<AddPositions>(steps, 2).table == "embeddings.position_embeddings.weight");
  CHECK(step_at<AddPositions>(steps, 2).rows == 64);
  CHECK(step_at<AddPositions>(steps, 2).first == 0);
  CHECK(step_at<NormRows>(steps, 3).name == "embeddings.LayerNorm");
  CHECK(step_at<NormRows>(steps, 3).epsilon == 1e-6f);
  CHECK(input_of(with_tokens("bert", R"("type_vocab_size": 0)")).size() == 3);
  const std::vector<Step> ernie = input_of(with_tokens("ernie", R"("use_task_id": true)"));
  CHECK(step_at<AddRow>(ernie, 3).rows == 3);
  CHECK(step_at<AddRow>(ernie, 3).ids.empty());
}

TEST_CASE("a table of positions with rows for padding") {
  const Stack roberta = stack(with_tokens("roberta", R"("pad_token_id": 3)"));
  CHECK(step_at<AddPositions>(roberta.input.steps, 2).rows == 64);
  CHECK(step_at<AddPositions>(roberta.input.steps, 2).first == 4);
  CHECK(roberta.positions == 60);
  CHECK(step_at<AddPositions>(input_of(with_tokens("mpnet")), 1).first == 2);
  CHECK(
      says(error(with_tokens("roberta", R"("pad_token_id": 63)")), "\"max_position_embeddings\": expected more rows"));
  const Stack opt = stack(with_tokens("opt"));
  CHECK(step_at<AddPositions>(opt.input.steps, 1).rows == 66);
  CHECK(step_at<AddPositions>(opt.input.steps, 1).first == 2);
  CHECK(opt.positions == 64);
  CHECK(step_at<AddPositions>(input_of(with_tokens("biogpt")), 1).table == "embed_positions.weight");
  const auto sinusoids = step_at<AddPositions>(input_of(with_tokens("xglm")), 1);
  CHECK(sinusoids.table.empty());
  CHECK(sinusoids.first == 2);
  CHECK(sinusoids.closed);
}

TEST_CASE("narrow embeddings are projected") {
  const auto albert = input_of(with_tokens("albert", R"("embedding_size": 16)"));
  CHECK(step_at<Lookup>(albert, 0).features == 16);
  CHECK(step_at<LinearRows>(albert, 4).name == "encoder.embedding_hidden_mapping_in");
  CHECK(step_at<LinearRows>(albert, 4).outputs == 32);
  CHECK(step_at<LinearRows>(input_of(with_tokens("electra", R"("embedding_size": 16)")), 4).name ==
        "embeddings_project");
  CHECK(input_of(with_tokens("electra", R"("embedding_size": 32)")).size() == 4);
  const Stack opt = stack(with_tokens("opt", R"("word_embed_proj_dim": 16)"));
  CHECK(step_at<Lookup>(opt.input.steps, 0).features == 16);
  CHECK(step_at<LinearRows>(opt.input.steps, 1).name == "decoder.project_in");
  CHECK(step_at<LinearRows>(opt.input.steps, 1).bias == Bias::without);
  CHECK(step_at<LinearRows>(opt.behind, 0).name == "decoder.project_out");
  CHECK(step_at<LinearRows>(opt.behind, 0).outputs == 16);
}

TEST_CASE("scales of embeddings") {
  CHECK(step_at<Lookup>(input_of(with_tokens("granite", R"("embedding_multiplier": 12)")), 0).scale == 12);
  CHECK(input_scale(stack(with_tokens("granite", R"("embedding_multiplier": 12)"))) == 12);
  CHECK(step_at<Lookup>(input_of(with_tokens("gemma2")), 0).scale == std::sqrt(32.0f));
  CHECK(step_at<Lookup>(input_of(with_tokens("xglm")), 0).scale == std::sqrt(32.0f));
  CHECK(step_at<Lookup>(input_of(with_tokens("xglm", R"("scale_embedding": false)")), 0).scale == 1);
  const auto esm =
      input_of(with_tokens("esm", R"("token_dropout": true, "mask_token_id": 5, "emb_layer_norm_before": true)"));
  CHECK(step_at<Lookup>(esm, 0).scale == 0.88f);
  CHECK(step_at<DropToken>(esm, 1).id == 5);
  CHECK(step_at<AddPositions>(esm, 2).first == 2);
  CHECK(step_at<NormRows>(esm, 3).name == "embeddings.layer_norm");
  CHECK(input_of(with_tokens("esm", R"("position_embedding_type": "rotary")")).size() == 1);
}

TEST_CASE("norms of embeddings") {
  CHECK(step_at<NormRows>(input_of(with_tokens("bloom")), 1).name == "word_embeddings_layernorm");
  CHECK(step_at<NormRows>(input_of(with_tokens("modernbert")), 1).bias == Bias::without);
  CHECK(step_at<NormRows>(input_of(with_tokens("nanochat")), 1).name.empty());
  CHECK(step_at<NormRows>(input_of(with_tokens("nanochat")), 1).kind == NormKind::rms);
  CHECK(step_at<NormRows>(input_of(with_tokens("nomic_bert")), 2).name == "emb_ln");
}

TEST_CASE("decoders have a table of words, and some have a table of positions") {
  CHECK(step_at<Lookup>(input_of(with_tokens("llama")), 0).table == "embed_tokens.weight");
  CHECK(step_at<Lookup>(input_of(with_tokens("gpt_neox")), 0).table == "embed_in.weight");
  CHECK(step_at<Lookup>(input_of(with_tokens("falcon")), 0).table == "word_embeddings.weight");
  for (const char* family : {"gpt2", "gpt_neo", "gpt_bigcode"}) {
    CHECK(step_at<Lookup>(input_of(with_tokens(family)), 0).table == "wte.weight");
    CHECK(step_at<AddPositions>(input_of(with_tokens(family)), 1).table == "wpe.weight");
  }
  CHECK(step_at<AddPositions>(input_of(with_tokens("openai-gpt")), 1).table == "positions_embed.weight");
  CHECK(input_of(with_tokens("gptj", R"("rotary_dim": 4)")).size() == 1);
}

TEST_CASE("without the size of the vocabulary, the input is missing") {
  const Stack unknown = stack(small("llama", R"("architectures": ["LlamaForCausalLM"])"));
  CHECK(unknown.input.missing == "config.json: \"vocab_size\" is absent");
  CHECK(unknown.input.steps.empty());
  CHECK(unknown.head.empty());
  CHECK(stack(small("gpt2")).input.steps.empty());
}

TEST_SUITE_END();

}  // namespace ladon::families
