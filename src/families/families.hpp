// SPDX-License-Identifier: Apache-2.0
// The families of models that Ladon knows, by the model_type of config.json.
#pragma once

#include <span>

#include "readers.hpp"

namespace ladon::families {

struct Family {
  const char* model_type;
  void (*read)(Config& config, Description& description);
  const char* base = "model";  // the name of this model in classes with a head, such as "bert"; "" without such a name
};

// Each list is in the file of the same name; own_model is in own_model.cpp.
std::span<const Family> bert_like();
std::span<const Family> llama_like();
std::span<const Family> gemma_like();
std::span<const Family> gpt_like();
std::span<const Family> vision();
std::span<const Family> signals();
std::span<const Family> seq2seq();
std::span<const Family> own_model();

}  // namespace ladon::families
