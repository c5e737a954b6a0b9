// Runs cases of PyTorch's TransformerEncoderLayer and TransformerDecoderLayer. Every parameter tensor holds cos(0),
// cos(1), ... in row-major order. Tensors are [length][batch][model]. Padding masks are [batch][length], and 1 hides a
// token.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "layer_instance.hpp"
#include "runners.hpp"

namespace conformance {

using nlohmann::json;

namespace {

constexpr float tolerance = 1e-5f;

std::vector<LayerInstance>& instances() {
  static std::vector<LayerInstance> all;
  return all;
}

bool starts_with(const std::string& whole, const std::string& start) {
  return whole.compare(0, start.size(), start) == 0;
}

std::vector<float> cosines(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(std::cos(static_cast<double>(i)));
  return values;
}

ladon::Activation activation_of(const std::string& name) {
  if (name == "relu") return ladon::Activation::relu;
  if (name == "gelu") return ladon::Activation::gelu;
  throw Failure("the activation '" + name + "' is not known");
}

LayerSizes sizes_of(const json& document, const json& test) {
  const std::string layer = document.at("layer");
  const bool decoder = starts_with(layer, "TransformerDecoderLayer");
  return {.decoder = decoder,
          .model = document.at("model"),
          .heads = document.at("heads"),
          .feed_forward = document.at("feed_forward"),
          .length = test.at("input").size(),
          .memory = decoder ? test.at("memory").size() : 0,
          .activation = activation_of(test.value("activation", "relu")),
          .norm = layer.find("pre-LN") != std::string::npos ? ladon::NormOrder::pre : ladon::NormOrder::post};
}

const LayerInstance& instance_of(const LayerSizes& sizes) {
  for (const LayerInstance& instance : instances()) {
    if (instance.sizes == sizes) return instance;
  }
  throw Failure("nothing is instantiated for this case: was CMake run with this folder?");
}

// Returns sentence `b` of the batch: [length][model].
std::vector<float> tokens(const json& positions, std::size_t b) {
  std::vector<float> values;
  for (const json& position : positions) {
    for (const json& value : position.at(b)) values.push_back(static_cast<float>(value.get<double>()));
  }
  return values;
}

// Returns 1 for each visible token of sentence `b` and 0 for each hidden token, or an empty vector if the case has no
// mask `name`.
std::vector<std::uint8_t> seen(const json& test, const char* name, std::size_t b) {
  std::vector<std::uint8_t> may_see;
  if (!test.contains(name) || test.at(name).is_null()) return may_see;
  for (const json& hidden : test.at(name).at(b)) {
    may_see.push_back((hidden.is_boolean() ? hidden.get<bool>() : hidden.get<double>() != 0) ? 0 : 1);
  }
  return may_see;
}

void check_sentence(const json& test, std::size_t b, const LayerInstance& instance, float epsilon, Outcome& outcome) {
  const LayerSizes& sizes = instance.sizes;
  const std::vector<float> input = tokens(test.at("input"), b), expected = tokens(test.at("expected"), b);
  const std::vector<float> memory = sizes.decoder ? tokens(test.at("memory"), b) : std::vector<float>{};
  if (input.size() != sizes.length * sizes.model || memory.size() != sizes.memory * sizes.model) {
    throw Failure("a sentence is not [length][model]");
  }
  const auto may_see = seen(test, sizes.decoder ? "target_padding_mask" : "padding_mask", b);
  const auto memory_may_see = seen(test, "memory_padding_mask", b);
  const std::vector<float> parameters = cosines(sizes.model * std::max(3 * sizes.model, sizes.feed_forward));
  std::vector<float> out(input.size(), NAN);
  instance.run({.input = input.data(),
                .memory = memory.data(),
                .out = out.data(),
                .may_see = may_see.empty() ? nullptr : may_see.data(),
                .memory_may_see = memory_may_see.empty() ? nullptr : memory_may_see.data(),
                .parameters = parameters.data(),
                .epsilon = epsilon});
  compare("sentence " + std::to_string(b), out, expected, tolerance, outcome);
}

}  // namespace

LayerInstances::LayerInstances(std::initializer_list<LayerInstance> added) {
  instances().insert(instances().end(), added.begin(), added.end());
}

bool is_pytorch(const json& document) {
  if (!document.is_object() || !document.contains("layer") || !document.contains("cases")) return false;
  const std::string layer = document.value("layer", json("")).is_string() ? document.at("layer") : json("");
  return starts_with(layer, "TransformerEncoderLayer") || starts_with(layer, "TransformerDecoderLayer");
}

void for_pytorch_cases(const json& document,
                       const std::function<void(const std::string&, const std::function<Outcome()>&)>& report) {
  const float epsilon = document.value("eps", 1e-5f);
  for (const json& test : document.at("cases")) {
    report(test.value("name", "case"), [&] {
      const LayerInstance& instance = instance_of(sizes_of(document, test));
      const std::size_t batch = instance.sizes.length == 0 ? 0 : test.at("input").at(0).size();
      Outcome outcome;
      for (std::size_t b = 0; b < batch; ++b) check_sentence(test, b, instance, epsilon, outcome);
      return outcome;
    });
  }
}

}  // namespace conformance
