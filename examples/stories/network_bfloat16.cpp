#include "network_of.hpp"

namespace stories {

std::unique_ptr<Network> make_bfloat16_network(const Checkpoint& checkpoint) {
  using Layout = ladon::layout::WithoutBias<ladon::layout::SeparateQKV>;
  return std::make_unique<NetworkOf<ladon::layout::BFloat16<Layout>>>(checkpoint);
}

}  // namespace stories
