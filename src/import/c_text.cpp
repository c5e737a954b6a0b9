// SPDX-License-Identifier: Apache-2.0
#include "c_text.hpp"

#include <algorithm>
#include <cctype>

#include "cpp_files.hpp"

namespace ladon::import {
namespace {

std::string with_names(const Program& program, const Generation& generation, const std::string& text) {
  std::string upper = program.choices.name;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return filled(text, {{"@NAMES@", upper},
                       {"@NAME@", program.choices.name},
                       {"@TOKENS@", std::to_string(generation.tokens)},
                       {"@VOCABULARY@", std::to_string(generation.vocabulary)},
                       {"@TABLES@", program.tables.empty() ? "" : "state.tables, "}});
}

constexpr const char* start_parameters =
    "(const int32_t *ids, size_t tokens, const ladon_model_sampling *sampling, int32_t *next, void *text, void "
    "*workspace)";
constexpr const char* next_parameters = "(int32_t token, int32_t *next, void *text, void *workspace)";

}  // namespace

std::string c_text_declarations(const Program& program) {
  if (!program.generation) return "";
  return with_names(program, *program.generation,
                    std::string(R"(#define @NAMES@_MOST_TEXT_TOKENS @TOKENS@
#define @NAMES@_VOCABULARY @VOCABULARY@

#ifndef LADON_MODEL_SAMPLING
#define LADON_MODEL_SAMPLING
/* How a token is chosen: at random from the `top_k` likeliest (0: from all), and of these from the fewest whose
 * probabilities sum to `top_p`, after a division of the logits by `temperature`. With a temperature of 0, the likeliest
 * token is chosen. Equal seeds give equal texts. */
typedef struct ladon_model_sampling {
  float temperature;
  size_t top_k;
  float top_p;
  uint64_t seed;
} ladon_model_sampling;
#endif

/* The size of a text: its caches, and the memory of its calls. The functions below take this memory at an address that
 * is a multiple of 64 as `text`. Its content need not be set before @NAME@_text_start. */
size_t @NAME@_text_bytes(void);

/* Begins a text with the `tokens` tokens of a prompt. Writes the token that follows to `next`; the text does not contain
 * it yet. `next` is -1 if no logit is a number. With a null pointer as `sampling`, the likeliest token follows. */
ladon_model_status @NAME@_text_start)") +
                        start_parameters + R"(;

/* Appends a token to a text that has begun. Writes the token that follows to `next`. A text of @NAMES@_MOST_TEXT_TOKENS
 * tokens gives LADON_MODEL_FULL. */
ladon_model_status @NAME@_text_next)" +
                        next_parameters + R"(;

/* Returns 1 if a text ends with this token, and otherwise 0. */
int @NAME@_text_ends(int32_t token);

/* Returns the logits [@NAMES@_VOCABULARY] of the token that follows, or a null pointer if `text` is null or misaligned. */
const float *@NAME@_text_logits(void *text);

)");
}

std::string c_text_definitions(const Program& program) {
  if (!program.generation) return "";
  return with_names(program, *program.generation,
                    std::string(R"(
}
namespace {

// Returns a null pointer if the address is wrong.
@NAME@::Text* text_at(void* text) {
  return reinterpret_cast<std::uintptr_t>(text) % 64 == 0 ? static_cast<@NAME@::Text*>(text) : nullptr;
}

ladon_model_status append(const int32_t* ids, size_t tokens, int32_t* next, @NAME@::Text& text, Workspace& memory) {
  @NAME@::TextParts parts{state.weights, @TABLES@memory.parts};
  *next = text.next(parts, ids, tokens);
  switch (text.status()) {
    case ladon::TextStatus::ready: return LADON_MODEL_OK;
    case ladon::TextStatus::unknown_token: return LADON_MODEL_BAD_ID;
    case ladon::TextStatus::full: return LADON_MODEL_FULL;
    case ladon::TextStatus::empty: break;
  }
  return LADON_MODEL_BAD_LENGTH;
}

}  // namespace

extern "C" {
size_t LADON_MODEL_FUNCTION(text_bytes)(void) { return sizeof(@NAME@::Text); }

ladon_model_status LADON_MODEL_FUNCTION(text_start))") +
                        start_parameters + R"( {
  if (!state.started) return LADON_MODEL_NOT_STARTED;
  if (ids == nullptr || next == nullptr || text == nullptr) return LADON_MODEL_NULL;
  @NAME@::Text* const begun = text_at(text);
  Workspace* const memory = memory_at(workspace);
  if (begun == nullptr || memory == nullptr) return LADON_MODEL_MISALIGNED;
  begun->clear();
  begun->choose.start(sampling == nullptr ? ladon::Sampling{}
                                          : ladon::Sampling{sampling->temperature, sampling->top_k, sampling->top_p,
                                                            sampling->seed});
  return append(ids, tokens, next, *begun, *memory);
}

ladon_model_status LADON_MODEL_FUNCTION(text_next))" +
                        next_parameters + R"( {
  if (!state.started) return LADON_MODEL_NOT_STARTED;
  if (next == nullptr || text == nullptr) return LADON_MODEL_NULL;
  @NAME@::Text* const begun = text_at(text);
  Workspace* const memory = memory_at(workspace);
  if (begun == nullptr || memory == nullptr) return LADON_MODEL_MISALIGNED;
  return append(&token, 1, next, *begun, *memory);
}

int LADON_MODEL_FUNCTION(text_ends)(int32_t token) { return @NAME@::ends_text(token) ? 1 : 0; }

const float* LADON_MODEL_FUNCTION(text_logits)(void* text) {
  @NAME@::Text* const begun = text_at(text);
  return begun == nullptr ? nullptr : begun->logits();
}
)");
}

std::string c_text_list(const Program& program) {
  if (!program.generation) return "";
  return std::string(
             "LADON_FUNCTION(size_t, text_bytes, (void), ())\nLADON_FUNCTION(ladon_model_status, text_start, ") +
         start_parameters + ", (ids, tokens, sampling, next, text, workspace))\n" +
         "LADON_FUNCTION(ladon_model_status, text_next, " + next_parameters + ", (token, next, text, workspace))\n" +
         "LADON_FUNCTION(int, text_ends, (int32_t token), (token))\n"
         "LADON_FUNCTION(const float *, text_logits, (void *text), (text))\n";
}

}  // namespace ladon::import
