// must print: ladon: the width of a convolution exceeds its longest padded input
#include <ladon/ladon.hpp>

using Part =
    ladon::Convolution<ladon::ConvolutionModel{.length = 2, .inputs = 6, .outputs = 8, .width = 4, .before = 1}>;
Part::Weights weights;
