// SPDX-License-Identifier: Apache-2.0
#include "c_text.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "c_library.hpp"
#include "generation.hpp"

namespace ladon::import {
namespace {

std::vector<Argument> source_of(const Generation& generation) {
  if (!generation.source) return {};
  return {*generation.source};
}
// Whether the caller may leave out the beginning of a text.
bool has_starts(const Program& program, const Generation& generation) {
  return generation.source && !program.choices.text_tokens.starts.empty();
}
std::string prompt_comment(const Program& program, const Generation& generation) {
  if (!generation.source) return " Begins a text with the `@COUNT@` tokens of a prompt.";
  return " Computes the encoder, and begins a text with the `@COUNT@` tokens `@IDS@`" +
         std::string(has_starts(program, generation)
                         ? "; a null pointer\n * stands for the tokens of the model's settings."
                         : ".");
}

std::string begin_parameters(const Generation& generation) {
  return "(" + c_parameters(source_of(generation)) +
         "const ladon_model_sampling *sampling, void *text, void *workspace)";
}
std::string piece_parameters(const Generation& generation) {
  return "(" + c_parameters({generation.ids}) + "int is_last, int32_t *next, void *text, void *workspace)";
}
// Returns the statements that call begin_text of the C++ program.
std::string begin_call(const Program& program, const Generation& generation) {
  if (!generation.source) return "  @NAME@::begin_text(*begun, chosen(sampling));\n  return LADON_MODEL_OK;\n";
  return "  return @NAME@::begin_text(" + arguments(*generation.source) + "state.weights, " +
         (program.tables.empty() ? "" : "state.tables, ") +
         "*begun, memory->parts, chosen(sampling)) ? LADON_MODEL_OK : LADON_MODEL_BAD_LENGTH;\n";
}

std::string start_parameters(const Generation& generation) {
  return "(" + c_parameters(prompt_of(generation)) +
         "const ladon_model_sampling *sampling, int32_t *next, void *text, void *workspace)";
}

std::string with_names(const Program& program, const Generation& generation, const std::string& text) {
  std::string upper = program.choices.name;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  const Argument& ids = generation.ids;
  const std::string starts = "  if (" + ids.name + " == nullptr)\n    " + ids.name + " = @NAME@::start_tokens, " +
                             ids.count + " = " + std::to_string(program.choices.text_tokens.starts.size()) + ";\n";
  const std::string null = generation.source ? generation.source->name + " == nullptr || " : "";
  const std::string source = generation.source ? arguments(*generation.source) : "";
  return filled(text, {{"@BEGIN_PARAMETERS@", begin_parameters(generation)},
                       {"@BEGIN_ARGUMENTS@", "(" + source + "sampling, text, workspace)"},
                       {"@BEGIN_CALL@", begin_call(program, generation)},
                       {"@BEGIN_COMMENT@", generation.source ? "Computes the encoder, and begins" : "Begins"},
                       {"@PIECE_PARAMETERS@", piece_parameters(generation)},
                       {"@PIECE_ARGUMENTS@", "(" + arguments(generation.ids) + "is_last, next, text, workspace)"},
                       {"@PIECE@", std::to_string(prompt_tokens(generation))},
                       {"@SOURCE_NULL@", null},
                       {"@PROMPT_COMMENT@", prompt_comment(program, generation)},
                       {"@START_PARAMETERS@", start_parameters(generation)},
                       {"@START_ARGUMENTS@", "(" + prompt_arguments(generation) + "sampling, next, text, workspace)"},
                       {"@STARTS@", has_starts(program, generation) ? starts : ""},
                       {"@NULLS@", null + ids.name + " == nullptr"},
                       {"@CHECKS@", c_checks(source_of(generation))},
                       {"@PROMPT@", prompt_arguments(generation)},
                       {"@IDS@", ids.name},
                       {"@COUNT@", ids.count},
                       {"@NAMES@", upper},
                       {"@NAME@", program.choices.name},
                       {"@TOKENS@", std::to_string(generation.tokens)},
                       {"@VOCABULARY@", std::to_string(generation.vocabulary)},
                       {"@TABLES@", program.tables.empty() ? "" : "state.tables, "}});
}

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

/*@PROMPT_COMMENT@ Writes the token that follows to `next`;
 * the text does not contain it yet. `next` is -1 if no logit is a number. With a null pointer as `sampling`, the
 * likeliest token follows. */
LADON_CHECK_STATUS ladon_model_status @NAME@_text_start@START_PARAMETERS@;

/* @BEGIN_COMMENT@ a text without tokens, like @NAME@_text_start. Then @NAME@_text_prompt appends the
 * prompt in pieces, so that a program can do other work between two calls. Pieces of a multiple of @PIECE@ tokens take no
 * more time than the whole prompt. `is_last` is 1 for the last piece and otherwise 0: only the last piece computes logits
 * and a token that follows, and other pieces write -1 to `next`. */
LADON_CHECK_STATUS ladon_model_status @NAME@_text_begin@BEGIN_PARAMETERS@;
LADON_CHECK_STATUS ladon_model_status @NAME@_text_prompt@PIECE_PARAMETERS@;

/* Appends a token to a text that has begun. Writes the token that follows to `next`. A text of @NAMES@_MOST_TEXT_TOKENS
 * tokens gives LADON_MODEL_FULL. */
LADON_CHECK_STATUS ladon_model_status @NAME@_text_next)") +
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

ladon_model_status status_of(const @NAME@::Text& text) {
  switch (text.status()) {
    case ladon::TextStatus::ready: return LADON_MODEL_OK;
    case ladon::TextStatus::unknown_token: return LADON_MODEL_BAD_ID;
    case ladon::TextStatus::full: return LADON_MODEL_FULL;
    case ladon::TextStatus::empty: break;
  }
  return LADON_MODEL_BAD_LENGTH;
}

ladon::Sampling chosen(const ladon_model_sampling* sampling) {
  if (sampling == nullptr) return {};
  return {sampling->temperature, sampling->top_k, sampling->top_p, sampling->seed};
}

}  // namespace

extern "C" {
size_t LADON_MODEL_FUNCTION(text_bytes)(void) { return sizeof(@NAME@::Text); }

ladon_model_status LADON_MODEL_FUNCTION(text_start)@START_PARAMETERS@ {
  if (!state.started) return LADON_MODEL_NOT_STARTED;
@STARTS@  if (@NULLS@ || next == nullptr || text == nullptr) return LADON_MODEL_NULL;
  @NAME@::Text* const begun = text_at(text);
  Workspace* const memory = memory_at(workspace);
  if (begun == nullptr || memory == nullptr) return LADON_MODEL_MISALIGNED;
@CHECKS@  *next = @NAME@::start_text(@PROMPT@state.weights, @TABLES@*begun, memory->parts, chosen(sampling));
  return status_of(*begun);
}

ladon_model_status LADON_MODEL_FUNCTION(text_begin)@BEGIN_PARAMETERS@ {
  if (!state.started) return LADON_MODEL_NOT_STARTED;
  if (@SOURCE_NULL@text == nullptr) return LADON_MODEL_NULL;
  @NAME@::Text* const begun = text_at(text);
  Workspace* const memory = memory_at(workspace);
  if (begun == nullptr || memory == nullptr) return LADON_MODEL_MISALIGNED;
@CHECKS@@BEGIN_CALL@}

ladon_model_status LADON_MODEL_FUNCTION(text_prompt)@PIECE_PARAMETERS@ {
  if (!state.started) return LADON_MODEL_NOT_STARTED;
  if (@IDS@ == nullptr || next == nullptr || text == nullptr) return LADON_MODEL_NULL;
  @NAME@::Text* const begun = text_at(text);
  Workspace* const memory = memory_at(workspace);
  if (begun == nullptr || memory == nullptr) return LADON_MODEL_MISALIGNED;
  *next = @NAME@::read_prompt(@IDS@, @COUNT@, is_last != 0, state.weights, @TABLES@*begun, memory->parts);
  return status_of(*begun);
}

ladon_model_status LADON_MODEL_FUNCTION(text_next))") +
                        next_parameters + R"( {
  if (!state.started) return LADON_MODEL_NOT_STARTED;
  if (next == nullptr || text == nullptr) return LADON_MODEL_NULL;
  @NAME@::Text* const begun = text_at(text);
  Workspace* const memory = memory_at(workspace);
  if (begun == nullptr || memory == nullptr) return LADON_MODEL_MISALIGNED;
  *next = @NAME@::next_token(token, state.weights, @TABLES@*begun, memory->parts);
  return status_of(*begun);
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
  return with_names(program, *program.generation,
                    "LADON_FUNCTION(size_t, text_bytes, (void), ())\n"
                    "LADON_FUNCTION(ladon_model_status, text_start, @START_PARAMETERS@, @START_ARGUMENTS@)\n"
                    "LADON_FUNCTION(ladon_model_status, text_begin, @BEGIN_PARAMETERS@, @BEGIN_ARGUMENTS@)\n"
                    "LADON_FUNCTION(ladon_model_status, text_prompt, @PIECE_PARAMETERS@, @PIECE_ARGUMENTS@)\n"
                    "LADON_FUNCTION(ladon_model_status, text_next, " +
                        std::string(next_parameters) +
                        ", (token, next, text, workspace))\n"
                        "LADON_FUNCTION(int, text_ends, (int32_t token), (token))\n"
                        "LADON_FUNCTION(const float *, text_logits, (void *text), (text))\n");
}

}  // namespace ladon::import
