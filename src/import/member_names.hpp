// SPDX-License-Identifier: Apache-2.0
// Names in C++ for the tensors of a checkpoint.
#pragma once

#include <map>
#include <set>
#include <string>

namespace ladon::import {

// Gives each tensor a name that is an identifier in C++: the last words of the tensor's name that no other tensor has,
// in snake_case. "embeddings.LayerNorm" becomes "layer_norm", and the next "pooler.LayerNorm" "pooler_layer_norm".
class MemberNames {
 public:
  // `reserved` are names that the program needs for itself.
  explicit MemberNames(std::set<std::string> reserved);
  const std::string& name_of(const std::string& tensor);

 private:
  std::set<std::string> taken_;
  std::map<std::string, std::string> names_;
};

// Returns `text` as a literal of C++.
std::string literal(const std::string& text);

// Returns `text` as an identifier in snake_case: "bert-base" and "BertBase" become "bert_base". Returns "model" for a
// text without letters. A name that C++ reserves gets a "_" behind it.
std::string identifier(const std::string& text);

// Returns the name of a type: "word_embeddings" becomes "WordEmbeddings".
std::string type_name(const std::string& member);

}  // namespace ladon::import
