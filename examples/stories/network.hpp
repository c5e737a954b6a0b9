// Declares Network, the interface of the model's computation for weights of any precision. network_of.hpp implements
// Network.
#pragma once

#include <memory>
#include <span>

#include "checkpoint.hpp"
#include "model.hpp"

namespace stories {

class Network {
 public:
  virtual ~Network() = default;

  // Begins a new text.
  virtual void clear() noexcept = 0;

  // Returns the number of tokens of the text.
  [[nodiscard]] virtual std::size_t length() const noexcept = 0;

  // Appends tokens to the text, at least one token. Returns the logits of the token that follows the text. The result
  // is valid until the next call.
  virtual Logits extend(std::span<const TokenId> tokens) noexcept = 0;
};

// make_float32_network, make_bfloat16_network and make_int8_network return a network with the weights of `checkpoint`.
// The network with bfloat16 weights and the network with int8 weights hold converted copies of the layers' matrices.
// All other weights are not copied, so the memory behind the pointers of `checkpoint` must outlive the network.
// make_int8_network throws examples::Error if a weight of the layers' matrices is not finite.
std::unique_ptr<Network> make_float32_network(const Checkpoint& checkpoint);
std::unique_ptr<Network> make_bfloat16_network(const Checkpoint& checkpoint);
std::unique_ptr<Network> make_int8_network(const Checkpoint& checkpoint);

}  // namespace stories
