// must print: ladon: groups must divide the inputs and the outputs of a convolution
#include <ladon/ladon.hpp>

using Part = ladon::Convolution<ladon::ConvolutionModel{.length = 9, .inputs = 6, .outputs = 8, .groups = 4}>;
Part::Weights weights;
