#include "network_of.hpp"

namespace stories {

std::unique_ptr<Network> make_float32_network(const Checkpoint& checkpoint) {
  using Layout = ladon::layout::WithoutBias<ladon::layout::SeparateQKV>;
  return std::make_unique<NetworkOf<Layout>>(checkpoint);
}

}  // namespace stories
