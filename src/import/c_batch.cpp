// SPDX-License-Identifier: Apache-2.0
#include "c_batch.hpp"

#include "batch.hpp"
#include "c_library.hpp"

namespace ladon::import {
namespace {

// Returns the text for the function without the types of tokens, and for the function with types, if there is one.
std::string filled_in(const Program& program, const std::string& text, bool with_types = false) {
  const Argument& ids = result_of(program, "run")->arguments[0];
  std::string result = filled(
      text,
      {{"@NAME@", program.choices.name},
       {"@WITH_TYPES@", with_types ? "_with_types" : ""},
       {"@TYPES_COMMENT@", with_types ? "\n *   " + ids.types + "  the types of all tokens, below " +
                                            std::to_string(ids.type_rows) + "; a null pointer stands for types of 0"
                                      : ""},
       {"@TYPES_PARAMETER@", with_types ? "const int32_t *" + ids.types + ", " : ""},
       {"@TYPES_ARGUMENT@", with_types ? ids.types + ", " : ""},
       {"@TYPES_MEMBER@", with_types ? ", " + ids.types : ""},
       {"@TYPES_CHECK@", with_types
                             ? "  if (" + ids.types + " != nullptr && !are_below(" + std::to_string(ids.type_rows) +
                                   ", " + ids.types + ", batch.tokens())) return LADON_MODEL_BAD_ID;\n"
                             : ""},
       {"@IDS@", ids.name},
       {"@MOST@", std::to_string(ids.most)},
       {"@ROWS@", std::to_string(ids.rows)},
       {"@WIDTH@", std::to_string(batch_result(program)->width)},
       {"@RESULT@", batch_result(program)->name},
       {"@TABLES@", takes_tables(program, "run_batch") ? "state.tables, " : ""}});
  return takes_types(program) && !with_types ? result + filled_in(program, text, true) : result;
}

constexpr const char* batch_parameters =
    "(const int32_t *@IDS@, @TYPES_PARAMETER@const size_t *lengths, size_t texts, float *@RESULT@,\n    void "
    "*workspace, size_t thread, "
    "size_t threads)";

}  // namespace

std::string c_batch_declarations(const Program& program) {
  if (program.batch_workspace.empty()) return "";
  return filled_in(program, std::string(R"(/* Computes `@RESULT@` [texts][@WIDTH@] of several texts.
 *   @IDS@  the token ids of all texts, one text after another, below @ROWS@@TYPES_COMMENT@
 *   lengths  [texts], the number of ids of each text, from 1 to @MOST@
 *   workspace  @NAME@_batch_workspace_bytes() at an address that is a multiple of 64; not a null pointer
 * `threads` threads compute a batch together: each calls this function with a workspace of its own and its number
 * `thread` below `threads`, and otherwise equal arguments. One thread has the numbers 0 and 1. The result has the same
 * bits for any number of threads. */
LADON_CHECK_STATUS ladon_model_status @NAME@_run_batch@WITH_TYPES@)") +
                                batch_parameters + ";\n\n") +
         "size_t " + program.choices.name + "_batch_workspace_bytes(void);\n\n";
}

std::string c_batch_definitions(const Program& program) {
  if (program.batch_workspace.empty()) return "";
  return filled_in(program, std::string("\nladon_model_status LADON_MODEL_FUNCTION(run_batch@WITH_TYPES@)") +
                                batch_parameters + R"( {
  if (!state.started) return LADON_MODEL_NOT_STARTED;
  if (@IDS@ == nullptr || lengths == nullptr || @RESULT@ == nullptr || workspace == nullptr) return LADON_MODEL_NULL;
  if (reinterpret_cast<std::uintptr_t>(workspace) % alignof(@NAME@::BatchWorkspace) != 0) return LADON_MODEL_MISALIGNED;
  if (thread >= threads) return LADON_MODEL_BAD_LENGTH;
  for (size_t i = 0; i < texts; ++i)
    if (lengths[i] == 0 || lengths[i] > @MOST@) return LADON_MODEL_BAD_LENGTH;
  const ladon::Texts batch{@IDS@, lengths, texts@TYPES_MEMBER@};
  if (!are_below(@ROWS@, @IDS@, batch.tokens())) return LADON_MODEL_BAD_ID;
@TYPES_CHECK@  @NAME@::run_batch(batch, state.weights, @TABLES@@RESULT@, *static_cast<@NAME@::BatchWorkspace*>(workspace),
                    {thread, threads});
  return LADON_MODEL_OK;
}
)") + "\nsize_t LADON_MODEL_FUNCTION(batch_workspace_bytes)(void) { return sizeof(" +
         program.choices.name + "::BatchWorkspace); }\n";
}

std::string c_batch_list(const Program& program) {
  if (program.batch_workspace.empty()) return "";
  return filled_in(program, std::string("LADON_FUNCTION(ladon_model_status, run_batch@WITH_TYPES@, ") +
                                batch_parameters +
                                ", (@IDS@, @TYPES_ARGUMENT@lengths, texts, @RESULT@, workspace, thread, threads))\n") +
         "LADON_FUNCTION(size_t, batch_workspace_bytes, (void), ())\n";
}

}  // namespace ladon::import
