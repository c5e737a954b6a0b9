#include "network_of.hpp"

namespace keywords {

std::unique_ptr<Network> make_int8_network(const ladon::safetensors::File& file) {
  return std::make_unique<NetworkOf<ladon::layout::Int8<FloatLayout>>>(file);
}

}  // namespace keywords
