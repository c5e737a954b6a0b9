// SPDX-License-Identifier: Apache-2.0
#include "readers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace ladon::families {
namespace {

constexpr std::size_t most_layers = 4096;  // a wrong config.json must not take all memory
constexpr std::size_t most_tokens = 2048;  // of a description without a given number of tokens

void check_layers(const Config& config, const Model& model) {
  if (model.layers == 0 || model.layers > most_layers) config.fail(config.noted().at("layers"), "from 1 to 4096");
}

void read_heads(Config& config, Model& model, const Sizes& otherwise) {
  model.heads = config.size("heads", {"num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads"},
                            otherwise.heads);
  if (model.heads == 0) config.fail(config.noted().at("heads"), "at least 1");
  const auto read = [&](const char* member, Config::Keys keys, std::size_t given, std::size_t derived_value) {
    if (given == 0) return given;
    const bool derives = given == derived || config.is_null(*keys.begin());
    const std::size_t found = config.size(member, keys, derives ? derived_value : given);
    if (found == 0) config.fail(config.noted().at(member), "at least 1");
    return found;
  };
  model.kv_heads = read("kv_heads", {"num_key_value_heads", "num_kv_heads"}, otherwise.kv_heads, model.heads);
  model.head_width = read("head_width", {"head_dim", "d_kv"}, otherwise.head_width, model.model / model.heads);
}

// Leaves out the sizes that Model derives, so that the description is short.
void complete(const Config& config, Model& model) {
  if (model.heads == 0) config.fail(config.noted().at("heads"), "at least 1");
  if (model.head_width == 0 && model.model % model.heads != 0)
    config.fail(config.noted().at("heads"), "a divisor of the model's width");
  if (model.head_width * model.heads == model.model) model.head_width = 0;
  if (model.kv_heads == model.heads) model.kv_heads = 0;
  if (model.kv_heads != 0 && model.heads % model.kv_heads != 0)
    config.fail(config.noted().at("kv_heads"), "a divisor of the number of heads");
}

// Returns the reason to refuse an activation that is none of `names`.
std::string lacks_activation(const auto& names) {
  std::string text = "Ladon lacks this activation; it has ";
  for (const auto& pair : names) text.append(&pair == std::begin(names) ? "" : ", ").append(pair.first);
  return text;
}

}  // namespace

Stack read_stack(Config& config, const Names& names, const Sizes& otherwise) {
  Stack stack{.name = names.name, .prefix = names.prefix, .final_norm = names.final_norm};
  Model& model = stack.model;
  model.layers = config.size("layers", {"num_hidden_layers", "n_layer", "n_layers", "num_layers"}, otherwise.layers);
  check_layers(config, model);
  model.model = config.size("model", {"hidden_size", "n_embd", "d_model", "dim", "n_embed"}, otherwise.model);
  read_heads(config, model, otherwise);
  model.feed_forward =
      config.size("feed_forward", {"intermediate_size", "n_inner", "ffn_dim", "hidden_dim", "d_ff", "ffn_hidden_size"},
                  otherwise.feed_forward == derived ? 4 * model.model : otherwise.feed_forward);
  stack.positions = config.size("", {"max_position_embeddings", "n_positions", "seq_length"}, otherwise.positions);
  model.norm = NormOrder::pre;
  model.mask.causal = names.name == "decoder";
  model.final_norm = names.final_norm.empty() ? FinalNorm::without : FinalNorm::with;
  model.layout = LayoutKind::separate_qkv;
  return stack;
}

void add_stack(Description& description, Stack stack, const Config& config) {
  Model& model = stack.model;
  check_layers(config, model);
  complete(config, model);
  for (const auto& [member, value] : {std::pair{"model", model.model}, std::pair{"feed_forward", model.feed_forward}})
    if (value == 0) config.fail(config.noted().at(member), "at least 1");
  if (!stack.input.missing.empty()) stack.input.steps.clear();
  if (stack.positions == 0) stack.positions = most_tokens;
  model.tokens = config.tokens() != 0 ? config.tokens() : std::min(stack.positions, most_tokens);
  if (model.position.width != 0) model.position.positions = model.tokens;
  for (const auto& [member, key] : config.noted()) stack.keys[member] = key;
  description.stacks.push_back(std::move(stack));
}

void add_decoder(Config& config, Description& description, Stack stack) {
  stack.attends_memory = true;
  stack.model.mask.causal = false;  // a Decoder is causal without this member
  stack.model.memory = description.stacks[0].model.tokens;
  add_stack(description, std::move(stack), config);
}

void set_activation(const Config& config, Stack& stack, const std::string& name) {
  constexpr std::pair<std::string_view, Activation> names[] = {
      {"relu", Activation::relu},
      {"gelu", Activation::gelu},
      {"gelu_python", Activation::gelu},
      {"gelu_new", Activation::gelu_tanh},
      {"gelu_fast", Activation::gelu_tanh},
      {"gelu_accurate", Activation::gelu_tanh},
      {"gelu_pytorch_tanh", Activation::gelu_tanh},
      {"gelu_python_tanh", Activation::gelu_tanh},
      {"silu", Activation::silu},
      {"swish", Activation::silu},
      {"quick_gelu", Activation::quick_gelu},
      {"relu2", Activation::squared_relu},
      {"xielu", Activation::xielu},
  };
  const auto* found = std::find_if(std::begin(names), std::end(names), [&](auto& pair) { return pair.first == name; });
  if (found == std::end(names)) config.refuse(config.noted().at("activation"), lacks_activation(names));
  stack.model.activation = found->second;
}

void read_activation(Config& config, Stack& stack, const char* otherwise, Config::Keys keys) {
  set_activation(config, stack, config.text("activation", keys, otherwise));
}

void read_epsilon(Config& config, Stack& stack, double otherwise) {
  stack.epsilon = static_cast<float>(config.number(
      "epsilon", {"layer_norm_eps", "rms_norm_eps", "norm_eps", "layer_norm_epsilon", "norm_epsilon"}, otherwise));
  if (stack.epsilon < 0) config.fail(config.noted().at("epsilon"), "at least 0");
}

std::string class_of(const Config& config) {
  const nlohmann::json* classes = config.find("architectures");
  if (classes == nullptr || !classes->is_array() || classes->empty() || !(*classes)[0].is_string()) return "";
  return (*classes)[0].get<std::string>();
}

std::size_t labels(Config& config) {
  const nlohmann::json* names = config.find("id2label");
  if (names != nullptr && names->is_object() && !names->empty()) return names->size();
  return config.size("", {"num_labels"}, 2);
}

After after_of(Config& config, const char* key, const char* otherwise) {
  const std::string name = config.text("", {key}, otherwise);
  constexpr std::pair<std::string_view, After> names[] = {
      {"linear", After::nothing},     {"relu", After::relu},           {"gelu", After::gelu},
      {"gelu_new", After::gelu_tanh}, {"gelu_fast", After::gelu_tanh}, {"gelu_pytorch_tanh", After::gelu_tanh},
      {"silu", After::silu},          {"swish", After::silu},          {"tanh", After::tanh},
  };
  for (const auto& [known, after] : names)
    if (known == name) return after;
  config.refuse(key, lacks_activation(names));
}

void set_frames(const Config& config, Stack& stack) {
  constexpr bool is_narrow = sizeof(std::size_t) < sizeof(std::uint64_t);
  constexpr std::uint64_t most = is_narrow ? std::numeric_limits<std::uint32_t>::max() : std::uint64_t{1} << 40;
  std::uint64_t rows = stack.model.tokens;
  for (auto step = stack.input.steps.rbegin(); step != stack.input.steps.rend() && rows <= most; ++step) {
    if (const auto* patches = std::get_if<MaskedPatches>(&*step)) rows *= patches->patch;
    if (const auto* layer = std::get_if<ConvolveRows>(&*step))
      rows = rows * layer->stride + layer->width - 1 - layer->before - layer->behind;
  }
  if (rows > most)
    config.fail("conv_stride", std::string("strides with which an input has at most ") +
                                   (is_narrow ? "2^32 - 1" : "2^40") + " frames");
  if (!stack.input.steps.empty()) std::get<Frames>(stack.input.steps.front()).frames = static_cast<std::size_t>(rows);
}

void read_attention_bias(Config& config, Stack& stack, const char* key, bool otherwise) {
  stack.model.projection_bias = bias_if(config.flag("projection_bias", {key}, otherwise));
  stack.model.output_bias = bias_if(config.flag("output_bias", {key}, otherwise));
}

std::vector<bool> all_but_every(std::size_t period, std::size_t layers) {
  std::vector<bool> chosen(layers);
  for (std::size_t i = 0; i < layers; ++i) chosen[i] = period != 0 && (i + 1) % period != 0;
  return chosen;
}

std::vector<bool> sliding_layers(Config& config, std::vector<bool> otherwise) {
  config.note("windows", "layer_types");
  const nlohmann::json* types = config.find("layer_types");
  if (types == nullptr) return otherwise;
  if (!types->is_array() || types->size() != otherwise.size()) config.fail("layer_types", "a text for each layer");
  for (std::size_t i = 0; i < otherwise.size(); ++i) {
    const std::string type = (*types)[i].is_string() ? (*types)[i].get<std::string>() : "";
    if (type != "full_attention" && type != "sliding_attention")
      config.refuse("layer_types", "Ladon has layers of the types full_attention and sliding_attention");
    otherwise[i] = type == "sliding_attention";
  }
  return otherwise;
}

std::optional<std::size_t> read_window(Config& config, std::optional<std::size_t> otherwise) {
  if (config.is_null("sliding_window") || (!config.has("sliding_window") && !otherwise)) return std::nullopt;
  const std::size_t window = config.size("windows", {"sliding_window"}, otherwise.value_or(0));
  if (window == 0) config.fail("sliding_window", "at least 1");
  return window - 1;
}

namespace {

bool equal(const LayerTraits& a, const LayerTraits& b) {
  return a.window == b.window && a.unrotated == b.unrotated && a.unnormed_attention == b.unnormed_attention &&
         a.rotary == b.rotary;
}

// Returns the length of the shortest beginning of `numbers` whose repetition gives all `numbers`.
std::size_t period_of(const std::vector<std::size_t>& numbers) {
  std::size_t period = 1;
  const auto repeats = [&] {
    for (std::size_t i = period; i < numbers.size(); ++i)
      if (numbers[i] != numbers[i - period]) return false;
    return true;
  };
  while (!repeats()) ++period;
  return period;
}

void set_equal_layers(Stack& stack, const LayerTraits& layer, const std::vector<Rotary>& angles) {
  Model& model = stack.model;
  if (layer.window) model.mask.left = *layer.window;
  if (layer.window && !model.mask.causal) model.mask.right = *layer.window;
  if (layer.unrotated) model.position = {}, stack.rotary.clear();
  if (!layer.unrotated && !angles.empty()) stack.rotary = {angles[layer.rotary]};
}

}  // namespace

void set_layers(const Config& config, Stack& stack, const std::vector<LayerTraits>& layers,
                const std::vector<Rotary>& angles) {
  std::vector<LayerTraits> kinds;
  std::vector<std::size_t> numbers;
  for (const LayerTraits& layer : layers) {
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](auto& kind) { return equal(kind, layer); });
    numbers.push_back(static_cast<std::size_t>(same - kinds.begin()));
    if (same == kinds.end()) kinds.push_back(layer);
  }
  if (kinds.size() == 1 && !kinds[0].unnormed_attention) return set_equal_layers(stack, kinds[0], angles);
  Model& model = stack.model;
  const std::size_t period = period_of(numbers);
  if (kinds.size() > std::size(model.kinds.items) || period > std::size(model.kind_of_layer.items))
    config.refuse("layer_types", "Ladon has at most 8 kinds of layers in a pattern of at most 128 layers");
  const Rotary all = stack.rotary.empty() ? Rotary{} : stack.rotary[0];
  stack.rotary.clear();
  for (const LayerTraits& kind : kinds) {
    if (kind.window == 0) config.fail("sliding_window", "at least 2, or the same window in all layers");
    model.kinds.items[model.kinds.count++] = {
        .window = kind.window.value_or(0), .unrotated = kind.unrotated, .unnormed_attention = kind.unnormed_attention};
    if (model.position.width != 0) stack.rotary.push_back(angles.empty() ? all : angles[kind.rotary]);
  }
  if (period == kinds.size() && std::is_sorted(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(period)))
    return;  // the default of kind_of_layer
  for (std::size_t i = 0; i < period; ++i)
    model.kind_of_layer.items[model.kind_of_layer.count++] = static_cast<std::uint8_t>(numbers[i]);
}

void set_windows(const Config& config, Stack& stack, const std::vector<bool>& sliding,
                 std::optional<std::size_t> window, const std::vector<bool>& rotated,
                 const std::vector<Rotary>& angles) {
  std::vector<LayerTraits> layers(stack.model.layers);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].unrotated = !rotated.empty() && !rotated[i];
    if (sliding[i]) layers[i].window = window;
    if (sliding[i] && !angles.empty()) layers[i].rotary = 1;
  }
  set_layers(config, stack, layers, angles);
}

}  // namespace ladon::families
