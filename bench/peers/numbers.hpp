// Maps PyTorch's names to the input x and the weights, which the Python program bench/ladon_bench/peers sends.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace ladon_bench {

using Numbers = std::map<std::string, std::vector<float>>;

}  // namespace ladon_bench
