// SPDX-License-Identifier: Apache-2.0
// Tests the beginning of the names of a checkpoint: classes with a head have the base model as a member.
#include <initializer_list>

#include "describing.hpp"
#include "safetensors_file.hpp"
#include "step_tensors.hpp"
#include "testing/fixtures.hpp"

namespace ladon::families {
namespace {

using examples::TemporaryFolder;

// Describes a folder whose config.json has the members `config`. The folder has a safetensors file with tensors of the
// given names, or no such file without names.
Description described_folder(const std::string& config, std::initializer_list<const char*> names = {}) {
  const TemporaryFolder folder;
  (void)folder.file("config.json", "{" + config + "}");
  files::Checkpoint checkpoint;
  for (const char* name : names) checkpoint.add(name, 1, 1);
  if (names.size() > 0) (void)folder.file("model.safetensors", checkpoint.content());
  return describe(folder.path());
}

// Returns the members of a config.json whose sizes are the defaults.
std::string config(const std::string& model_type, const std::string& architecture) {
  return R"("model_type": ")" + model_type + R"(", "architectures": [")" + architecture + R"("])";
}

}  // namespace

TEST_SUITE_BEGIN("names");

TEST_CASE("without a file, architectures decides") {
  const struct {
    const char *model_type, *architecture, *prefix;
  } cases[] = {
      {"albert", "AlbertForMaskedLM", "albert.encoder.albert_layer_groups"},
      {"audio-spectrogram-transformer", "ASTForAudioClassification", "audio_spectrogram_transformer.encoder.layer"},
      {"bart", "BartForConditionalGeneration", "model.encoder.layers"},
      {"bert", "BertForMaskedLM", "bert.encoder.layer"},
      {"bert", "BertLMHeadModel", "bert.encoder.layer"},
      {"bert", "BertModel", "encoder.layer"},
      {"biogpt", "BioGptForCausalLM", "biogpt.layers"},
      {"bloom", "BloomForCausalLM", "transformer.h"},
      {"clip_text_model", "CLIPTextModelWithProjection", "encoder.layers"},
      {"distilbert", "DistilBertForSequenceClassification", "distilbert.transformer.layer"},
      {"falcon", "FalconForCausalLM", "transformer.h"},
      {"gemma3", "Gemma3ForConditionalGeneration", "model.language_model.layers"},
      {"gpt2", "GPT2DoubleHeadsModel", "transformer.h"},
      {"gpt2", "GPT2LMHeadModel", "transformer.h"},
      {"gpt2", "GPT2Model", "h"},
      {"gpt_neox", "GPTNeoXForCausalLM", "gpt_neox.layers"},
      {"llama", "LlamaForCausalLM", "model.layers"},
      {"marian", "MarianMTModel", "model.encoder.layers"},
      {"mpnet", "MPNetForMaskedLM", "mpnet.encoder.layer"},
      {"opt", "OPTForCausalLM", "model.decoder.layers"},
      {"t5", "T5ForConditionalGeneration", "encoder.block"},
      {"timesfm", "TimesFmModelForPrediction", "decoder.layers"},
      {"vit", "ViTForImageClassification", "vit.encoder.layer"},
      {"wav2vec2", "Wav2Vec2ForCTC", "wav2vec2.encoder.layers"},
      {"whisper", "WhisperForConditionalGeneration", "model.encoder.layers"},
      {"xlm-roberta", "XLMRobertaForMaskedLM", "roberta.encoder.layer"},
  };
  for (const auto& [model_type, architecture, prefix] : cases) {
    CAPTURE(architecture);
    CHECK(described_folder(config(model_type, architecture)).stacks[0].prefix == prefix);
  }
  CHECK(described_folder(config("whisper", "WhisperForConditionalGeneration")).stacks[1].prefix ==
        "model.decoder.layers");
  for (const char* absent : {"null", "[]", "[1]", "\"BertForMaskedLM\""})
    CHECK(described_folder(std::string(R"("model_type": "bert", "architectures": )") + absent).stacks[0].prefix ==
          "encoder.layer");
}

TEST_CASE("the names of the file decide before architectures") {
  const std::string gpt2 = config("gpt2", "GPT2LMHeadModel");
  const auto prefix = [&](std::initializer_list<const char*> names) {
    return described_folder(gpt2, names).stacks[0].prefix;
  };
  CHECK(prefix({"h.0.ln_1.weight", "wte.weight"}) == "h");
  CHECK(prefix({"transformer.h.0.ln_1.weight"}) == "transformer.h");
  CHECK(prefix({"_orig_mod.transformer.h.0.ln_1.weight"}) == "_orig_mod.transformer.h");
  CHECK(prefix({"a.teacher.h.0.ln_1.weight", "student.h.0.ln_1.weight"}) == "student.h");
  CHECK(prefix({"transformer.wh.0.ln_1.weight", "transformer.h.1.ln_1.weight"}) == "transformer.h");
  CHECK(described_folder(config("gpt2", "GPT2Model"), {"transformer.h.0.ln_1.weight"}).stacks[0].prefix ==
        "transformer.h");
}

TEST_CASE("a text model in a model of images has an old or a new beginning") {
  const std::string gemma = config("gemma3", "Gemma3ForConditionalGeneration");
  const char* image = "vision.layers.0.x";
  for (const std::string before : {"language_model.", "language_model.model.", "model.language_model."}) {
    const Stack stack = described_folder(gemma, {image, (before + "layers.0.x").c_str()}).stacks[0];
    CHECK(stack.prefix == before + "layers");
    CHECK(stack.final_norm == before + "norm");
  }
  CHECK(described_folder(gemma, {image}).stacks[0].prefix == "model.language_model.layers");
}

TEST_CASE("each stack of the file has its own beginning") {
  const Description whisper = described_folder(config("whisper", "WhisperModel"),
                                               {"encoder.layers.0.fc1.bias", "model.decoder.layers.0.fc1.bias"});
  CHECK(whisper.stacks[0].prefix == "encoder.layers");
  CHECK(whisper.stacks[1].prefix == "model.decoder.layers");
}

TEST_CASE("the last norm and the table of relative positions begin like the layers") {
  CHECK(described_folder(config("gpt2", "GPT2LMHeadModel")).stacks[0].final_norm == "transformer.ln_f");
  CHECK(described_folder(config("gpt2", "GPT2LMHeadModel"), {"h.0.ln_1.weight"}).stacks[0].final_norm == "ln_f");
  const Stack mpnet = described_folder(config("mpnet", "MPNetModel"), {"mpnet.encoder.layer.0.x"}).stacks[0];
  CHECK(mpnet.final_norm.empty());
  REQUIRE(mpnet.relative_bias);
  CHECK(mpnet.relative_bias->tensor == "mpnet.encoder.relative_attention_bias.weight");
}

TEST_CASE("the tables of the input begin like the layers, and heads do not") {
  const std::string bert = config("bert", "BertForSequenceClassification") + R"(, "vocab_size": 100)";
  const char *layer = "bert.encoder.layer.0.x", *pooler = "bert.pooler.dense.weight";
  const Stack stack = described_folder(bert, {layer, pooler, "bert.pooler.dense.bias"}).stacks[0];
  CHECK(std::get<Lookup>(stack.input.steps[0]).table == "bert.embeddings.word_embeddings.weight");
  CHECK(std::get<NormRows>(stack.input.steps[3]).name == "bert.embeddings.LayerNorm");
  CHECK(std::get<LinearRows>(stack.pooler.at(1)).name == "bert.pooler.dense");
  CHECK(std::get<LinearRows>(stack.head.at(0)).name == "classifier");
  CHECK(described_folder(bert, {layer}).stacks[0].pooler.empty());
}

TEST_CASE("steps follow the tensors of the file") {
  const Description marian =
      described_folder(config("marian", "MarianModel"), {"encoder.layers.0.x", "encoder.embed_positions.weight"});
  const auto table = [&](std::size_t i) { return std::get<AddPositions>(marian.stacks[i].input.steps.at(1)).table; };
  CHECK(table(0) == "encoder.embed_positions.weight");
  CHECK(table(1).empty());
  for (const bool older : {false, true}) {
    const char* name = older ? "encoder.pos_conv_embed.conv.weight_g" : "encoder.pos_conv_embed.conv.bias";
    const Stack speech = described_folder(config("wav2vec2", "Wav2Vec2Model"), {"encoder.layers.0.x", name}).stacks[0];
    CHECK(std::get<ConvolveRows>(speech.input.steps.at(speech.input.steps.size() - 2)).older_names == older);
    CHECK(tensors_of(speech).at(tensors_of(speech).size() - 5).name ==
          std::string("encoder.pos_conv_embed.conv") + (older ? ".weight_g" : ".parametrizations.weight.original0"));
  }
  const auto head = [](const std::string& text, std::initializer_list<const char*> names) {
    return described_folder(text, names).stacks.at(1).head;
  };
  const std::string bart = config("bart", "BartForConditionalGeneration");
  CHECK(head(bart, {}).size() == 2);
  CHECK(head(bart, {"final_logits_bias"}).size() == 2);
  CHECK(head(bart, {"model.shared.weight"}).size() == 1);
  const std::string t5 = config("t5", "T5ForConditionalGeneration");
  CHECK(std::holds_alternative<TiedHead>(head(t5, {"lm_head.weight"}).at(0)));
  const std::string t5_1_1 = t5 + R"(, "scale_decoder_outputs": false)";
  CHECK(std::holds_alternative<TiedHead>(head(t5_1_1, {"shared.weight"}).at(0)));
  CHECK(std::holds_alternative<LinearRows>(head(t5_1_1, {"lm_head.weight"}).at(0)));
}

TEST_CASE("a wrong file does not matter to a description") {
  const TemporaryFolder folder;
  (void)folder.file("config.json", "{" + config("gpt2", "GPT2LMHeadModel") + "}");
  (void)folder.file("model.safetensors", "short");
  CHECK(describe(folder.path()).stacks[0].prefix == "transformer.h");
}

TEST_SUITE_END();

}  // namespace ladon::families
