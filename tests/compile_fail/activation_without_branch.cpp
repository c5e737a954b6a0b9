// must print: ladon: an Activation needs its branch of activate in detail/layer/activation.hpp
#include <ladon/ladon.hpp>

using Layer = ladon::EncoderLayer<ladon::Model{
    .tokens = 4, .model = 6, .heads = 2, .feed_forward = 3, .activation = static_cast<ladon::Activation>(99)}>;
void run(const float* x, float* y, const Layer::Weights& weights, Layer::Workspace& workspace) {
  Layer::run(x, weights, y, workspace);
}
