// SPDX-License-Identifier: Apache-2.0
#include "c_batch.hpp"

#include "batch.hpp"
#include "c_library.hpp"

namespace ladon::import {
namespace {

std::string filled_in(const Program& program, const std::string& text) {
  const Argument& ids = result_of(program, "run")->arguments[0];
  return filled(text, {{"@NAME@", program.choices.name},
                       {"@IDS@", ids.name},
                       {"@MOST@", std::to_string(ids.most)},
                       {"@ROWS@", std::to_string(ids.rows)},
                       {"@WIDTH@", std::to_string(batch_result(program)->width)},
                       {"@RESULT@", batch_result(program)->name},
                       {"@TABLES@", takes_tables(program, "run_batch") ? "state.tables, " : ""}});
}

constexpr const char* batch_parameters =
    "(const int32_t *@IDS@, const size_t *lengths, size_t texts, float *@RESULT@,\n    void *workspace, size_t thread, "
    "size_t threads)";

}  // namespace

std::string c_batch_declarations(const Program& program) {
  if (program.batch_workspace.empty()) return "";
  return filled_in(program, std::string(R"(/* Computes `@RESULT@` [texts][@WIDTH@] of several texts.
 *   @IDS@  the token ids of all texts, one text after another, below @ROWS@
 *   lengths  [texts], the number of ids of each text, from 1 to @MOST@
 *   workspace  @NAME@_batch_workspace_bytes() at an address that is a multiple of 64; not a null pointer
 * `threads` threads compute a batch together: each calls this function with a workspace of its own and its number
 * `thread` below `threads`, and otherwise equal arguments. One thread has the numbers 0 and 1. The result has the same
 * bits for any number of threads. */
LADON_CHECK_STATUS ladon_model_status @NAME@_run_batch)") +
                                batch_parameters + ";\nsize_t @NAME@_batch_workspace_bytes(void);\n\n");
}

std::string c_batch_definitions(const Program& program) {
  if (program.batch_workspace.empty()) return "";
  return filled_in(program,
                   std::string("\nladon_model_status LADON_MODEL_FUNCTION(run_batch)") + batch_parameters + R"( {
  if (!state.started) return LADON_MODEL_NOT_STARTED;
  if (@IDS@ == nullptr || lengths == nullptr || @RESULT@ == nullptr || workspace == nullptr) return LADON_MODEL_NULL;
  if (reinterpret_cast<std::uintptr_t>(workspace) % alignof(@NAME@::BatchWorkspace) != 0) return LADON_MODEL_MISALIGNED;
  if (thread >= threads) return LADON_MODEL_BAD_LENGTH;
  for (size_t i = 0; i < texts; ++i)
    if (lengths[i] == 0 || lengths[i] > @MOST@) return LADON_MODEL_BAD_LENGTH;
  const ladon::Texts batch{@IDS@, lengths, texts};
  if (!are_below(@ROWS@, @IDS@, batch.tokens())) return LADON_MODEL_BAD_ID;
  @NAME@::run_batch(batch, state.weights, @TABLES@@RESULT@, *static_cast<@NAME@::BatchWorkspace*>(workspace),
                    {thread, threads});
  return LADON_MODEL_OK;
}

size_t LADON_MODEL_FUNCTION(batch_workspace_bytes)(void) { return sizeof(@NAME@::BatchWorkspace); }
)");
}

std::string c_batch_list(const Program& program) {
  if (program.batch_workspace.empty()) return "";
  return filled_in(program, std::string("LADON_FUNCTION(ladon_model_status, run_batch, ") + batch_parameters +
                                ", (@IDS@, lengths, texts, @RESULT@, workspace, thread, threads))\n"
                                "LADON_FUNCTION(size_t, batch_workspace_bytes, (void), ())\n");
}

}  // namespace ladon::import
