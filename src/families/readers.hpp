// SPDX-License-Identifier: Apache-2.0
// Reads what many families have in common. families.hpp lists the functions of the families.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "config.hpp"
#include "description.hpp"

namespace ladon::families {

// The defaults of a configuration class, which a config.json may omit. For kv_heads and head_width, 0 means that the
// class lacks the key, and `derived` that the default follows from the other sizes.
inline constexpr std::size_t derived = static_cast<std::size_t>(-1);
struct Sizes {
  std::size_t model = 768;
  std::size_t layers = 12;
  std::size_t heads = 12;
  std::size_t feed_forward = 3072;
  std::size_t kv_heads = 0;
  std::size_t head_width = 0;
  std::size_t positions = 0;
};

// The members of a Stack with the same names.
struct Names {
  std::string name;
  std::string prefix;
  std::string final_norm = {};
};

// Returns a stack with its sizes and names. Decoders (name "decoder") have a causal mask.
Stack read_stack(Config& config, const Names& names, const Sizes& otherwise);
// Checks the sizes, fills the tokens, and adds the stack to `description`. Every family ends with this function.
void add_stack(Description& description, Stack stack, const Config& config);

// Like add_stack, for layers that attend to a memory: the output of the first stack.
void add_decoder(Config& config, Description& description, Stack stack);

// Sets the activation by the name that transformers gives to it.
void set_activation(const Config& config, Stack& stack, const std::string& name);
void read_activation(Config& config, Stack& stack, const char* otherwise, Config::Keys keys = {"hidden_act"});
void read_epsilon(Config& config, Stack& stack, double otherwise);

// Returns the first of `architectures`, or an empty text.
std::string class_of(const Config& config);
// Returns the number of outputs of a classifier.
std::size_t labels(Config& config);
// Returns the function whose name is the value of `key`.
After after_of(Config& config, const char* key, const char* otherwise);
// Sets the largest number of frames of the stack's input, of which its convolutions make at most model.tokens rows.
void set_frames(const Config& config, Stack& stack);

constexpr Bias bias_if(bool biased) { return biased ? Bias::with : Bias::without; }
// Sets the biases of query, key, value and output projections from one key.
void read_attention_bias(Config& config, Stack& stack, const char* key, bool otherwise);

// The defaults of a rotary embedding.
struct Angles {
  double base = 10000;
  double share = 1;  // of the head's features
  Pairing pairing = Pairing::halves;
};
// Sets the rotary embedding of all layers.
void read_rotary(Config& config, Stack& stack, const Angles& otherwise = {});
// Returns the angles of the layers of a type such as "sliding_attention". If rope_parameters does not distinguish
// types, returns the angles of all layers.
Rotary rotary_of_type(Config& config, const Stack& stack, const Angles& otherwise, const char* type);

// What distinguishes a layer.
struct LayerTraits {
  std::optional<std::size_t> window{};  // LayerKind::window
  bool unrotated = false;
  bool unnormed_attention = false;
  std::size_t rotary = 0;  // number of its angles
};
// Sets the kinds of layers, or the mask if all layers are equal. `angles` are the angles to which LayerTraits::rotary
// refers. Without angles, keeps the rotary embedding that read_rotary has set.
void set_layers(const Config& config, Stack& stack, const std::vector<LayerTraits>& layers,
                const std::vector<Rotary>& angles = {});

// Sets the windows of the layers that `sliding` names. These layers have the second of two `angles`. If `rotated` is
// not empty, only the layers that it names are rotated.
void set_windows(const Config& config, Stack& stack, const std::vector<bool>& sliding,
                 std::optional<std::size_t> window, const std::vector<bool>& rotated = {},
                 const std::vector<Rotary>& angles = {});

// Returns, for each layer, whether layer_types says "sliding_attention", or `otherwise` if the key is absent. Throws
// Error for other types of layers.
std::vector<bool> sliding_layers(Config& config, std::vector<bool> otherwise);
// Returns true for all layers but every `period`-th; the period 0 means false for all layers.
std::vector<bool> all_but_every(std::size_t period, std::size_t layers);

// Returns how many keys before the query a window shows. The key sliding_window counts the query itself. Returns
// nothing if the key is null, and uses `otherwise` if the key is absent.
std::optional<std::size_t> read_window(Config& config, std::optional<std::size_t> otherwise);

}  // namespace ladon::families
