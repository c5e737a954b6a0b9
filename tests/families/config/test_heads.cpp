// SPDX-License-Identifier: Apache-2.0
// Tests the poolers and heads of models of texts, which follow from `architectures`.
#include "describing.hpp"

namespace ladon::families {
namespace {

// Describes a model of a class in `architectures`, with 100 words.
Description of_class(const std::string& model_type, const std::string& name, const std::string& more = "") {
  return described(small(
      model_type, R"("vocab_size": 100, "architectures": [")" + name + "\"]" + (more.empty() ? "" : ", ") + more));
}
std::vector<Step> head_of(const std::string& model_type, const std::string& name, const std::string& more = "") {
  return of_class(model_type, name, more).stacks.at(0).head;
}
std::vector<Step> pooler_of(const std::string& model_type, const std::string& name) {
  return of_class(model_type, name).stacks.at(0).pooler;
}
const std::string untied_tables = R"("tie_word_embeddings": false)",
                  five_labels = R"("id2label": {"0":0,"1":1,"2":2,"3":3,"4":4})";

// Returns the names of steps and their tensors, such as "pool, linear pooler.dense [32]".
std::string steps_text(const std::vector<Step>& steps) {
  std::string text;
  for (const Step& step : steps) {
    text += text.empty() ? "" : ", ";
    if (const auto* linear = std::get_if<LinearRows>(&step))
      text.append("linear ").append(linear->name).append(" ").append(std::to_string(linear->outputs));
    if (const auto* norm = std::get_if<NormRows>(&step)) text.append("norm ").append(norm->name);
    if (const auto* pool = std::get_if<Pool>(&step))
      text.append(pool->behind_first ? "first and pool " : "pool ")
          .append(std::to_string(static_cast<int>(pool->pooling)));
    if (const auto* pair = std::get_if<LinearPair>(&step))
      text.append("pair ")
          .append(pair->first)
          .append(" ")
          .append(pair->second)
          .append(" ")
          .append(std::to_string(pair->outputs));
    if (const auto* tied = std::get_if<TiedHead>(&step)) text.append("tied ").append(tied->bias);
    if (std::holds_alternative<Scale>(step)) text.append("scale");
    if (std::holds_alternative<Softcap>(step)) text.append("softcap");
  }
  return text;
}

}  // namespace

TEST_SUITE_BEGIN("heads");

TEST_CASE("a decoder's head is tied, or has a table of its own") {
  CHECK(head_of("gpt2", "GPT2Model").empty());
  CHECK(steps_text(head_of("gpt2", "GPT2LMHeadModel")) == "tied ");
  CHECK(of_class("gpt2", "GPT2LMHeadModel").tied_embeddings);
  CHECK(steps_text(head_of("gpt2", "GPT2LMHeadModel", untied_tables)) == "linear lm_head 100");
  CHECK(steps_text(head_of("llama", "LlamaForCausalLM")) == "linear lm_head 100");
  CHECK(steps_text(head_of("llama", "LlamaForCausalLM", R"("tie_word_embeddings": true)")) == "tied ");
  CHECK(steps_text(head_of("gpt_neox", "GPTNeoXForCausalLM")) == "linear embed_out 100");
  CHECK(steps_text(head_of("biogpt", "BioGptForCausalLM", untied_tables)) == "linear output_projection 100");
  for (const char* family : {"smollm3", "ernie4_5", "lfm2", "starcoder2", "gemma", "bloom", "falcon", "opt", "xglm"})
    CHECK(steps_text(head_of(family, "ForCausalLM")) == "tied ");
  const auto phi = head_of("phi", "PhiForCausalLM");
  CHECK(steps_text(phi) == "linear lm_head 100");
  CHECK(std::get<LinearRows>(phi[0]).bias == Bias::with);
  CHECK(steps_text(head_of("gptj", "GPTJForCausalLM", R"("tie_word_embeddings": true, "rotary_dim": 4)")) ==
        "tied lm_head.bias");
}

TEST_CASE("classifiers of two rows of an image") {
  const std::string image = R"("image_size": 8, "patch_size": 4, )" + five_labels;
  const auto dino = head_of("dinov2", "Dinov2ForImageClassification", image);
  CHECK(steps_text(dino) == "first and pool 0, linear classifier 5");
  CHECK(std::get<Pool>(dino[0]).from == 1);
  const auto registers = head_of("dinov2_with_registers", "Dinov2WithRegistersForImageClassification",
                                 image + R"(, "num_register_tokens": 3)");
  CHECK(std::get<Pool>(registers.at(0)).from == 4);
  CHECK(steps_text(head_of("deit", "DeiTForImageClassificationWithTeacher", image)) ==
        "pair cls_classifier distillation_classifier 5");
  CHECK(steps_text(head_of("deit", "DeiTForImageClassification", image)) == "pool 1, linear classifier 5");
}

TEST_CASE("scales and caps of logits") {
  const auto granite = head_of("granite", "GraniteForCausalLM", R"("logits_scaling": 8)");
  CHECK(steps_text(granite) == "linear lm_head 100, scale");
  CHECK(std::get<Scale>(granite[1]).factor == 0.125f);
  CHECK(says(error(small("granite", R"("logits_scaling": 0)")), "\"logits_scaling\": expected a number above 0"));
  CHECK(std::get<TiedHead>(head_of("cohere", "CohereForCausalLM")[0]).scale == 0.0625f);
  const auto gemma = head_of("gemma2", "Gemma2ForCausalLM");
  CHECK(steps_text(gemma) == "tied , softcap");
  CHECK(std::get<Softcap>(gemma[1]).cap == 30);
  CHECK(steps_text(head_of("gemma2", "Gemma2ForCausalLM", R"("final_logit_softcapping": null)")) == "tied ");
  CHECK(steps_text(head_of("gemma3_text", "Gemma3ForCausalLM")) == "tied ");
  CHECK(steps_text(head_of("nanochat", "NanoChatForCausalLM")) == "linear lm_head 100, softcap");
}

TEST_CASE("a decoder's classifiers") {
  CHECK(steps_text(head_of("llama", "LlamaForSequenceClassification")) == "pool 2, linear score 2");
  CHECK(steps_text(head_of("gpt2", "GPT2ForSequenceClassification", five_labels)) == "pool 2, linear score 5");
  CHECK(std::get<LinearRows>(head_of("gpt2", "GPT2ForSequenceClassification")[1]).bias == Bias::without);
  CHECK(steps_text(head_of("llama", "LlamaForTokenClassification", five_labels)) == "linear score 5");
  CHECK(steps_text(head_of("gpt2", "GPT2ForTokenClassification", five_labels)) == "linear classifier 5");
}

TEST_CASE("BERT's pooler and heads") {
  CHECK(steps_text(pooler_of("bert", "BertModel")) == "pool 1, linear pooler.dense 32");
  CHECK(steps_text(pooler_of("albert", "AlbertModel")) == "pool 1, linear pooler 32");
  CHECK(pooler_of("distilbert", "DistilBertModel").empty());
  CHECK(steps_text(pooler_of("bert", "BertForSequenceClassification")) == "pool 1, linear pooler.dense 32");
  CHECK(steps_text(head_of("bert", "BertForSequenceClassification", five_labels)) == "linear classifier 5");
  CHECK(steps_text(head_of("bert", "BertForTokenClassification", five_labels)) == "linear classifier 5");
  for (const auto& [type, name, of_rows] : {std::tuple{"bert", "BertForTokenClassification", true},
                                            {"gpt2", "GPT2ForTokenClassification", true},
                                            {"bert", "BertForMaskedLM", true},
                                            {"modernbert", "ModernBertForMaskedLM", true},
                                            {"bert", "BertLMHeadModel", false},
                                            {"bert", "BertForSequenceClassification", false},
                                            {"gpt2", "GPT2LMHeadModel", false}})
    CHECK(of_class(type, name).stacks.at(0).head_of_rows == of_rows);
  CHECK(steps_text(pooler_of("bert", "BertForNextSentencePrediction")) == "pool 1, linear pooler.dense 32");
  for (const char* name : {"BertForTokenClassification", "BertForMaskedLM", "BertForQuestionAnswering"})
    CHECK(pooler_of("bert", name).empty());
  CHECK(head_of("bert", "BertForQuestionAnswering").empty());
  const std::string transform = "linear cls.predictions.transform.dense 32, norm cls.predictions.transform.LayerNorm, ";
  CHECK(steps_text(head_of("bert", "BertForMaskedLM")) == transform + "tied cls.predictions.bias");
  CHECK(steps_text(head_of("bert", "BertForMaskedLM", untied_tables)) ==
        transform + "linear cls.predictions.decoder 100");
  CHECK(head_of("bert", "BertForMaskedLM", R"("hidden_act": "quick_gelu")").empty());
}

TEST_CASE("heads of other encoders") {
  const std::string classifier = "pool 1, linear classifier.dense 32, linear classifier.out_proj 5";
  for (const char* family : {"roberta", "mpnet", "esm", "electra"}) {
    CHECK(steps_text(head_of(family, "ForSequenceClassification", five_labels)) == classifier);
    CHECK(pooler_of(family, "ForSequenceClassification").empty());
  }
  CHECK(steps_text(head_of("distilbert", "DistilBertForSequenceClassification", five_labels)) ==
        "pool 1, linear pre_classifier 32, linear classifier 5");
  CHECK(steps_text(head_of("roberta", "RobertaForMaskedLM")) ==
        "linear lm_head.dense 32, norm lm_head.layer_norm, tied lm_head.bias");
  CHECK(steps_text(head_of("esm", "EsmForMaskedLM")) ==
        "linear lm_head.dense 32, norm lm_head.layer_norm, tied lm_head.bias");
  CHECK(head_of("esm", "EsmForMaskedLM", untied_tables).empty());
  CHECK(head_of("modernbert", "ModernBertForMaskedLM", R"("classifier_activation": "relu")").empty());
  CHECK(steps_text(head_of("albert", "AlbertForMaskedLM", R"("embedding_size": 16)")) ==
        "linear predictions.dense 16, norm predictions.LayerNorm, tied predictions.bias");
  CHECK(steps_text(head_of("modernbert", "ModernBertForMaskedLM")) ==
        "linear head.dense 32, norm head.norm, tied decoder.bias");
  CHECK(steps_text(head_of("modernbert", "ModernBertForSequenceClassification", R"("classifier_pooling": "mean")")) ==
        "pool 0, linear head.dense 32, norm head.norm, linear classifier 2");
  CHECK(steps_text(head_of("modernbert", "ModernBertForTokenClassification")) ==
        "linear head.dense 32, norm head.norm, linear classifier 2");
  CHECK(steps_text(head_of("eurobert", "EuroBertForSequenceClassification")) ==
        "linear dense 32, linear classifier 2, pool 0");
  CHECK(steps_text(head_of("eurobert", "EuroBertForSequenceClassification", R"("classifier_pooling": "bos")")) ==
        "pool 1, linear dense 32, linear classifier 2");
  CHECK(steps_text(head_of("eurobert", "EuroBertForMaskedLM")) == "linear lm_head 100");
}

TEST_CASE("a model of images and texts has its head outside the text model") {
  const auto gemma3 = described(R"("model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"],
      "text_config": {)" + small("gemma3_text", R"("vocab_size": 100)") +
                                "}");
  CHECK(steps_text(gemma3.stacks[0].head) == "tied ");
  const std::string part = small("t5_gemma_module", R"("vocab_size": 100)");
  const auto t5gemma = described(R"("model_type": "t5gemma", "architectures": ["T5GemmaForConditionalGeneration"],
      "encoder": {)" + part + R"(}, "decoder": {)" +
                                 part + "}, " + untied_tables);
  CHECK(t5gemma.stacks[0].head.empty());
  CHECK(t5gemma.stacks[1].input.name == "decoder_input_ids");
  CHECK(steps_text(t5gemma.stacks[1].head) == "linear lm_head.out_proj 100, softcap");
}

TEST_SUITE_END();

}  // namespace ladon::families
