// SPDX-License-Identifier: Apache-2.0
// What the tests of descriptions share.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include <ladon/safetensors/error.hpp>

#include "description.hpp"

namespace ladon::families {

// Describes a config.json with the members `text`, such as R"("model_type": "bert")".
inline Description described(const std::string& text, std::size_t tokens = 0) {
  return describe_text("{" + text + "}", "config.json", tokens);
}
inline Stack stack(const std::string& text, std::size_t number = 0) { return described(text).stacks.at(number); }
inline Model model(const std::string& text) { return stack(text).model; }

inline std::string error(const std::string& text) {
  try {
    described(text);
  } catch (const safetensors::Error& failure) {
    return failure.what();
  }
  return "no error";
}
inline bool says(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

// A config.json of a small model with the sizes that most families have.
inline std::string small(const std::string& model_type, const std::string& more = "") {
  return R"("model_type": ")" + model_type +
         R"(", "hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,
            "intermediate_size": 48, "max_position_embeddings": 64)" +
         (more.empty() ? "" : ", ") + more;
}

}  // namespace ladon::families
