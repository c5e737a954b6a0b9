#include "network_of.hpp"

namespace keywords {

std::unique_ptr<Network> make_float32_network(const ladon::safetensors::File& file) {
  return std::make_unique<NetworkOf<FloatLayout>>(file);
}

}  // namespace keywords
