// SPDX-License-Identifier: Apache-2.0
// Reads what models of texts compute outside their layers: embeddings and heads.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "readers.hpp"

namespace ladon::families {

// Names of tables and norms have no ".weight".

// Returns the square root of a model's width, by which some models multiply their embeddings.
float root_of(std::size_t width);
// Sets the first step of a stack: the table of embeddings. If `features` is 0, the table is as wide as the model.
void read_tokens(Config& config, Stack& stack, const std::string& table, float scale = 1, std::size_t features = 0);
// Adds a table of positions. Its row `first` is for the first token, and it has a row for each of stack.positions.
void add_positions(Stack& stack, const std::string& table, std::size_t first = 0);
// Adds a table of types of tokens, if its number of rows is not 0. With one row, or without `ids`, the caller cannot
// give the types, and all tokens have type 0.
void read_types(Config& config, Stack& stack, const std::string& table, const char* key, std::size_t otherwise,
                const char* ids = "token_type_ids");

// Return steps. The norm is like the norms of the layers.
NormRows norm_of(const Stack& stack, const std::string& name);
LinearRows linear(const std::string& name, std::size_t outputs, After after = After::nothing, Bias bias = Bias::with);

// Returns whether the first of `architectures` ends with one of `ends`, such as "ForMaskedLM".
bool is_class(const Config& config, std::initializer_list<const char*> ends);

// The head of a decoder. The classes of a family determine its members.
struct CausalHead {
  bool tied = false;             // the default of tie_word_embeddings
  const char* tokens = "score";  // the classifier of each token
  std::string name = "lm_head";
  std::string bias{};  // the tensor with its bias; empty: none
  float scale = 1;
  float softcap = 0;  // 0: none
};
// Adds the head of a language model. description.tied_embeddings decides whether the head has a table of its own.
void add_language_head(const Description& description, Stack& stack, const CausalHead& head);
// Sets description.tied_embeddings, and the head of the class.
void read_causal_head(Config& config, Description& description, Stack& stack, const CausalHead& head);

// The heads of an encoder.
struct EncoderHeads {
  const char* pooler = "";        // the linear map in the pooler of the base model; empty: none
  std::vector<Step> transform{};  // before the head of a masked language model
  std::string decoder{};          // this head; empty: none
  std::string bias{};             // the tensor with its bias; empty: none
  std::vector<Step> before{};     // before the classifier of texts; empty: the pooler
  const char* classifier = "classifier";
  std::vector<Step> before_tokens{};  // before the classifier of tokens
  bool tied = true;                   // the default of tie_word_embeddings
};
void read_encoder_heads(Config& config, Description& description, Stack& stack, const EncoderHeads& heads);

// Returns the function of a step, if there is one for the activation.
std::optional<After> after_of(Activation activation);

}  // namespace ladon::families
