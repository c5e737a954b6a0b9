// Reads the numbers of a JSON array.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace ladon_test {

// Adds all numbers of an array, which may consist of arrays, to `to`. The numbers keep their order.
inline void add_numbers(const nlohmann::json& array, std::vector<float>& to) {
  for (const nlohmann::json& value : array) {
    if (value.is_array()) {
      add_numbers(value, to);
    } else {
      to.push_back(value.get<float>());
    }
  }
}

}  // namespace ladon_test
