// Completes a model (ladon/model.hpp) whose sizes a test gives separately.
#pragma once

#include <cstddef>

#include <ladon/model.hpp>

namespace ladon_test {

constexpr ladon::Model stack_of(ladon::Model layer, const ladon::Shape& shape, std::size_t layers,
                                ladon::FinalNorm final_norm = ladon::FinalNorm::without, std::size_t memory = 0) {
  layer.layers = layers;
  layer.final_norm = final_norm;
  layer.memory = memory;
  return layer.with(shape);
}
constexpr ladon::Model decoder_of(const ladon::Model& layer, const ladon::Shape& shape, std::size_t memory) {
  return stack_of(layer, shape, 1, ladon::FinalNorm::without, memory);
}

}  // namespace ladon_test
