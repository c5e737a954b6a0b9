// The input x and the weights that the Python program bench/ladon_bench/peers sends, by PyTorch's names.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace ladon_bench {

using Numbers = std::map<std::string, std::vector<float>>;

}  // namespace ladon_bench
