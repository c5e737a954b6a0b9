// The part of the model that Ladon computes, for one precision of the weights. network_of.hpp implements the interface.
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

// These functions return a network with the weights of a checkpoint. A network with bfloat16 or int8 weights holds
// converted copies of the layers' matrices. All other weights are read where `checkpoint` points. Throws
// examples::Error if a weight of an int8 network is not finite.
std::unique_ptr<Network> make_float32_network(const Checkpoint& checkpoint);
std::unique_ptr<Network> make_bfloat16_network(const Checkpoint& checkpoint);
std::unique_ptr<Network> make_int8_network(const Checkpoint& checkpoint);

}  // namespace stories
