// Runs cases of PyTorch's TransformerDecoder, which make_decoding_cases.py writes. PyTorch computed the outputs for the
// whole input (the target) at once. This program computes the same outputs by several calls of `extend`: first with one
// token in each call, then with three, then with all tokens in one call. All cases have the same sizes.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <ladon/ladon.hpp>

#include "runners.hpp"

namespace conformance {

using nlohmann::json;

namespace {

constexpr float tolerance = 1e-5f;
constexpr std::size_t model = 6, heads = 3, feed_forward = 10, layers = 2, target = 7, memory_tokens = 5;

template <std::size_t Tokens, ladon::Activation A, ladon::NormOrder O>
using Decoder = ladon::Decoder<ladon::Model{.layers = layers,
                                            .tokens = Tokens,
                                            .keys = target,
                                            .memory = memory_tokens,
                                            .model = model,
                                            .heads = heads,
                                            .feed_forward = feed_forward,
                                            .activation = A,
                                            .norm = O,
                                            .final_norm = ladon::FinalNorm::with},
                               ladon::mask::Causal>;

std::vector<float> floats(const json& numbers) {
  std::vector<float> values;
  for (const json& one : numbers) {
    if (one.is_array()) {
      for (const float value : floats(one)) values.push_back(value);
    } else {
      values.push_back(static_cast<float>(one.get<double>()));
    }
  }
  return values;
}

// Stores the tensors of a PyTorch state_dict, and makes views point to them. The views are valid while this object
// exists.
class Tensors {
 public:
  explicit Tensors(const json& weights) : weights_(weights) {}

  template <class View>
  void point(View& view, const std::string& name) {
    stored_.push_back(std::make_unique<std::vector<float>>(floats(weights_.at(name))));
    if (stored_.back()->size() != View::size) throw Failure(name + " has another size");
    view = View(stored_.back()->data());
  }
  void attention(auto& to, const std::string& name) {
    point(to.in_proj.weight, name + "in_proj_weight");
    point(to.in_proj.bias, name + "in_proj_bias");
    both(to.out_proj, name + "out_proj.");
  }
  void both(auto& to, const std::string& name) {
    point(to.weight, name + "weight");
    point(to.bias, name + "bias");
  }

 private:
  const json& weights_;
  std::vector<std::unique_ptr<std::vector<float>>> stored_;
};

template <class Weights>
Weights weights_of(Tensors& tensors) {
  Weights weights;
  for (std::size_t i = 0; i < layers; ++i) {
    const std::string name = "layers." + std::to_string(i) + ".";
    auto& layer = weights.layers[i];
    tensors.attention(layer.self_attention, name + "self_attn.");
    tensors.attention(layer.cross_attention, name + "multihead_attn.");
    tensors.both(layer.linear1, name + "linear1.");
    tensors.both(layer.linear2, name + "linear2.");
    tensors.both(layer.norm1, name + "norm1.");
    tensors.both(layer.norm2, name + "norm2.");
    tensors.both(layer.norm3, name + "norm3.");
  }
  tensors.both(weights.norm, "norm.");
  return weights;
}

// Decodes the whole input by calls of `extend` with `at_a_time` tokens, and compares the outputs with PyTorch's. The
// shape of the decoder has room for `Tokens` tokens in each call.
template <std::size_t Tokens, ladon::Activation A, ladon::NormOrder O>
void decode(const json& test, std::size_t at_a_time, Outcome& outcome) {
  using Stack = Decoder<Tokens, A, O>;
  Tensors tensors(test.at("weights"));
  const auto weights = weights_of<typename Stack::Weights>(tensors);
  const std::vector<float> x = floats(test.at("target")), memory = floats(test.at("memory"));
  const std::vector<float> expected = floats(test.at("expected"));
  if (x.size() != target * model || memory.size() != memory_tokens * model)
    throw Failure("the sizes of the case are not the fixed sizes of this program");
  const auto caches = std::make_unique<typename Stack::Caches>();
  const auto projected = std::make_unique<typename Stack::MemoryCaches>();
  const auto memory_workspace = std::make_unique<typename Stack::MemoryWorkspace>();
  const auto workspace = std::make_unique<typename Stack::CachedWorkspace>();
  Stack::project_memory(memory.data(), weights, *projected, *memory_workspace);
  std::vector<float> y(x.size(), NAN);
  for (std::size_t t = 0; t < target; t += at_a_time) {
    const std::size_t count = target - t < at_a_time ? target - t : at_a_time;
    Stack::extend(x.data() + t * model, *caches, *projected, weights, y.data() + t * model, *workspace,
                  {.self = {.tokens = count}, .memory = {}});
  }
  compare(std::to_string(at_a_time) + " at a time", y, expected, tolerance, outcome);
}

template <ladon::Activation A, ladon::NormOrder O>
Outcome run(const json& test) {
  Outcome outcome;
  decode<1, A, O>(test, 1, outcome);
  decode<target, A, O>(test, 3, outcome);
  decode<target, A, O>(test, target, outcome);
  return outcome;
}

Outcome run_case(const json& test) {
  const bool gelu = test.at("activation") == "gelu", pre = test.at("norm_first");
  using ladon::Activation, ladon::NormOrder;
  if (gelu && pre) return run<Activation::gelu, NormOrder::pre>(test);
  if (!gelu && !pre) return run<Activation::relu, NormOrder::post>(test);
  throw Failure("nothing is instantiated for this activation and order of norms");
}

}  // namespace

bool is_decoding(const json& document) {
  return document.is_object() && document.contains("cases") && document.value("stack", json()) == "TransformerDecoder";
}

void for_decoding_cases(const json& document,
                        const std::function<void(const std::string&, const std::function<Outcome()>&)>& report) {
  for (const json& test : document.at("cases")) report(test.at("name"), [&] { return run_case(test); });
}

}  // namespace conformance
