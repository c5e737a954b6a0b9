// Declares Network, the interface of KWT-1's encoder for weights of any precision. network_of.hpp implements Network.
#pragma once

#include <array>
#include <ladon/safetensors/file.hpp>
#include <memory>

#include "model.hpp"

namespace keywords {

// How much the class token attends to each token, in each layer: [layers][tokens]. These weights are row 0 of each
// layer's attention weights.
using ClassAttention = std::array<std::array<float, token_count>, layer_count>;

class Network {
 public:
  virtual ~Network() = default;

  // Computes y [model_width], the class token after the last layer, from x [token_count][model_width].
  virtual void run(const float* x, float* y) noexcept = 0;
  // Computes `y` like run(x, y), and also writes the attention weights of the class token to `attention`.
  virtual void run(const float* x, float* y, ClassAttention& attention) noexcept = 0;
};

// make_float32_network and make_int8_network return a network with the weights of `file`. `file` must outlive the
// network. Both functions throw ladon::safetensors::Error if a tensor is missing or wrong. make_int8_network also
// throws examples::Error if a weight is not finite.
std::unique_ptr<Network> make_float32_network(const ladon::safetensors::File& file);
std::unique_ptr<Network> make_int8_network(const ladon::safetensors::File& file);

}  // namespace keywords
