// SPDX-License-Identifier: Apache-2.0
// Writes a text with the model of a folder decode_FAMILY (../../../shared/families/README.md), whose description is the
// header LADON_DESCRIPTION. The tokens must be those that transformers chose, and the hidden states must agree. The
// folders have no ids of the prompt, so the program finds the row of the table that is closest to each embedding.
#include LADON_DESCRIPTION

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <vector>

namespace {

constexpr std::size_t width = decoder::model.model, positions = 64, given = 7, chosen = 15;

constexpr ladon::Model model_of(std::size_t tokens) {
  ladon::Model model = decoder::model;
  model.tokens = tokens;
  model.keys = positions;
  if (model.position.positions > 0) model.position.positions = positions;
  return model;
}

struct Parts {
  template <std::size_t Tokens>
  using Stack = ladon::Encoder<model_of(Tokens)>;
  static constexpr std::size_t vocabulary = 100;

  explicit Parts(const std::filesystem::path& path)
      : folder(path), file(path / "model.safetensors"), weights(decoder::load(folder)) {
    const bool gpt2 = file.tensors().contains("transformer.wte.weight");
    table.weight = file.tensor<float>(gpt2 ? "transformer.wte.weight" : "model.embed_tokens.weight", {100, width});
    if (gpt2) position_rows = file.tensor<float>("transformer.wpe.weight", {positions, width});
  }
  void embed(const std::int32_t* ids, std::size_t first, std::size_t tokens, float* x) const {
    ladon::embed(table, ids, tokens, x);
    if (position_rows != nullptr) ladon::add_positions<positions, width>(position_rows, first, tokens, x);
  }
  void head(const float* y, float* logits) {
    std::copy_n(y, width, last);
    ladon::linear(table, y, logits);
  }
  template <class S>
  typename S::Options options() const {
    typename S::Options options{};
    if constexpr (requires { options.position.table; }) options.position.table = &rotary;
    return options;
  }

  ladon::safetensors::Folder folder;
  ladon::safetensors::File file;
  decoder::Stack::Weights weights;
  ladon::EmbeddingTable<vocabulary, width> table;
  const float* position_rows = nullptr;
  ladon::RotaryTable<positions, 8> rotary = ladon::rotary_table<positions, 8>();
  float last[width];  // the hidden state behind the last call
};

double difference(const float* a, const float* b) {
  double worst = 0;
  for (std::size_t i = 0; i < width; ++i) {
    const double off = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(off <= worst)) worst = off;
  }
  return worst;
}

std::int32_t closest(const Parts& parts, std::size_t position, const float* x) {
  std::int32_t best = 0;
  double least = 1e30;
  for (std::int32_t id = 0; id < 100; ++id) {
    float row[width];
    parts.embed(&id, position, 1, row);
    if (const double off = difference(row, x); off < least) least = off, best = id;
  }
  return best;
}

template <std::size_t PromptTokens>
bool agrees(Parts& parts, const ladon::safetensors::File& recorded) {
  const float* const x = recorded.tensor<float>("x", {given + chosen - 1, width});
  const float* const y = recorded.tensor<float>("y", {given + chosen - 1, width});
  const float* const expected = recorded.tensor<float>("tokens", {1, chosen});
  std::vector<std::int32_t> prompt;
  for (std::size_t i = 0; i < given; ++i) prompt.push_back(closest(parts, i, x + i * width));
  const auto generator = std::make_unique<ladon::TextGenerator<Parts, PromptTokens>>();
  std::int32_t token = generator->next(parts, prompt.data(), given);
  double worst = 0;
  for (std::size_t i = 0; i < chosen; ++i) {
    worst = std::max(worst, difference(parts.last, y + (given - 1 + i) * width));
    if (static_cast<float>(token) != expected[i] || !(worst <= 2e-5)) {
      std::printf("wrong token %zu: %d instead of %g, error %.1e\n", i, static_cast<int>(token),
                  static_cast<double>(expected[i]), worst);
      return false;
    }
    token = generator->next(parts, &token, 1);
  }
  std::printf("%zu tokens of a prompt at once: ok, error %.1e\n", PromptTokens, worst);
  return true;
}

}  // namespace

int main(int, char** argv) {
  try {
    const std::filesystem::path path = argv[1];
    const auto parts = std::make_unique<Parts>(path);
    const ladon::safetensors::File recorded(path / "io.safetensors");
    return agrees<1>(*parts, recorded) && agrees<4>(*parts, recorded) && agrees<32>(*parts, recorded) ? 0 : 1;
  } catch (const std::exception& error) {
    std::printf("wrong %s\n", error.what());
    return 1;
  }
}
