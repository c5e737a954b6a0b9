// SPDX-License-Identifier: Apache-2.0
// Tests the modules of sentence-transformers behind a model.
#include <fstream>

#include "describing.hpp"
#include "testing/fixtures.hpp"

namespace ladon::families {
namespace {

using examples::TemporaryFolder;

struct ModuleText {
  std::string type, path, config;
};

// Describes a folder with a BERT and modules.
Description described_modules(const std::vector<ModuleText>& modules) {
  const TemporaryFolder folder;
  (void)folder.file("config.json",
                    "{" + small("bert", R"("vocab_size": 100, "architectures": ["BertForMaskedLM"])") + "}");
  std::string list = R"([{"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"})";
  for (const auto& [type, path, config] : modules) {
    list += R"(, {"path": ")" + path + R"(", "type": ")" + type + "\"}";
    if (config.empty()) continue;
    std::filesystem::create_directory(folder.path() / path);
    (void)folder.file(path + "/config.json", "{" + config + "}");
  }
  (void)folder.file("modules.json", list + "]");
  return describe(folder.path());
}
const std::string pooling_module = "sentence_transformers.models.Pooling",
                  normalize_module = "sentence_transformers.models.Normalize",
                  dense_module = "sentence_transformers.models.Dense";

// Returns the pooling of a config.json of the module, and -1 if steps lack it.
int pooled(const std::string& config) {
  const std::vector<Step> steps = described_modules({{pooling_module, "1_Pooling", config}}).stacks[0].pooler;
  return steps.empty() ? -1 : static_cast<int>(std::get<Pool>(steps.at(0)).pooling);
}
constexpr int number_of_pooling(Pooling pooling_of_rows) { return static_cast<int>(pooling_of_rows); }

}  // namespace

TEST_SUITE_BEGIN("sentences");

TEST_CASE("modules replace the pooler and the head") {
  const Stack stack = described_modules({{pooling_module, "1_Pooling", R"("pooling_mode_mean_tokens": true)"},
                                         {dense_module, "2_Dense", R"("out_features": 16, "bias": false)"},
                                         {normalize_module, "3_Normalize", ""}})
                          .stacks[0];
  CHECK(stack.head.empty());
  REQUIRE(stack.pooler.size() == 3);
  CHECK(std::get<Pool>(stack.pooler[0]).pooling == Pooling::mean);
  const auto& linear = std::get<LinearRows>(stack.pooler[1]);
  CHECK(linear.name == "2_Dense/linear");
  CHECK(linear.outputs == 16);
  CHECK(linear.bias == Bias::without);
  CHECK(linear.after == After::tanh);
  CHECK(std::holds_alternative<UnitLength>(stack.pooler[2]));
}

TEST_CASE("kinds of pooling") {
  const std::string mean = R"("pooling_mode_mean_tokens": )";
  CHECK(pooled(R"("word_embedding_dimension": 32)") == number_of_pooling(Pooling::mean));
  CHECK(pooled(mean + R"(false, "pooling_mode_cls_token": true)") == number_of_pooling(Pooling::first));
  CHECK(pooled(mean + R"(false, "pooling_mode_max_tokens": true)") == number_of_pooling(Pooling::maximum));
  CHECK(pooled(mean + R"(false, "pooling_mode_lasttoken": true)") == number_of_pooling(Pooling::last));
  CHECK(pooled(R"("pooling_mode": "cls")") == number_of_pooling(Pooling::first));
  CHECK(pooled(R"("pooling_mode": "weightedmean")") == -1);
  CHECK(pooled(mean + R"(true, "pooling_mode_cls_token": true)") == -1);
  CHECK(pooled(mean + R"(true, "pooling_mode_weightedmean_tokens": true)") == -1);
}

TEST_CASE("modules that steps lack are named") {
  const Description lstm = described_modules({{"sentence_transformers.models.LSTM", "1_LSTM", ""}});
  CHECK(lstm.outside.back() == "modules.json: LSTM in \"1_LSTM\"");
  CHECK(lstm.stacks[0].pooler.empty());
  CHECK(lstm.stacks[0].head.size() == 3);
  const std::string mish = R"("out_features": 16, "activation_function": "torch.nn.modules.activation.Mish")";
  CHECK(described_modules({{dense_module, "1_Dense", mish}}).outside.back() == "modules.json: Dense in \"1_Dense\"");
}

TEST_CASE("wrong modules are errors") {
  CHECK_THROWS_WITH_AS(described_modules({{normalize_module, "../other", ""}}),
                       doctest::Contains("\"path\": expected a folder inside the model's"), safetensors::Error);
  CHECK_THROWS_AS(described_modules({{pooling_module, "1_Pooling", ""}}), safetensors::Error);
  CHECK_THROWS_WITH_AS(described_modules({{dense_module, "1_Dense", R"("bias": true)"}}),
                       doctest::Contains("\"out_features\""), safetensors::Error);
  CHECK_THROWS_WITH_AS(described_modules({{pooling_module, "1_Pooling", R"("pooling_mode_cls_token": 1)"}}),
                       doctest::Contains("expected true or false"), safetensors::Error);
}

TEST_SUITE_END();

}  // namespace ladon::families
