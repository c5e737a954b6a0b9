// Reads the numbers of a JSON array.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace ladon_test {

// Appends all numbers of a JSON array to `to`, in the order of the array. Elements of the array may be arrays, too.
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
