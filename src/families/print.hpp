// SPDX-License-Identifier: Apache-2.0
// Writes a description as C++ or as JSON.
#pragma once

#include <string>

#include "description.hpp"

namespace ladon::families {

// Returns a header: for each stack, a namespace with the Model, the class, a function that loads the weights from the
// folder, and functions that fill tables. `source` is the name of the description's config.json, for a comment.
std::string as_cpp(const Description& description, const std::string& source);

// Returns a JSON object with the members of Description and of its stacks. The member "model" of a stack is a text: the
// initialiser of the Model in C++.
std::string as_json(const Description& description);

// Return parts of as_cpp: the initialiser of a Model, the statement that fills the rotary table `table` (with a line
// break behind it), and the initialiser of RelativeBuckets.
std::string model_text(const Model& model);
std::string fill_text(const Rotary& rotary, const std::string& table);
std::string buckets_text(const RelativeBuckets& buckets);

}  // namespace ladon::families
