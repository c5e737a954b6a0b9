/* A program in C that uses a kernel. Computes attention with all tokens of the shape and with fewer tokens, and
 * compares the results with the plain loops of reference.h. */
#include "keyword_attention.h"

#include <stdalign.h>
#include <string.h>

#include "reference.h"

static alignas(KEYWORD_ATTENTION_WORKSPACE_ALIGN) unsigned char workspace[KEYWORD_ATTENTION_WORKSPACE_BYTES];
static float y[TOKENS * MODEL];

static int failed(const char* what, ladon_status status) {
  if (status != LADON_OK) printf("%s: %s\n", what, ladon_status_text(status));
  return status != LADON_OK;
}

int main(void) {
  const keyword_attention_weights weights = {
      .in_proj_weight = in_weight, .in_proj_bias = in_bias, .out_proj_weight = out_weight, .out_proj_bias = out_bias};
  const keyword_attention_options few = {.tokens = 5};
  fill_all();
  int failures = failed("run", keyword_attention_run(x, &weights, y, workspace)) + wrong(y, KEYWORD_ATTENTION_QUERIES);
  memset(y, 0, sizeof y);
  failures += failed("run_with", keyword_attention_run_with(x, &weights, y, workspace, &few)) + wrong(y, 5);
  if (y[5 * MODEL] != 0.0f) {
    puts("a row beyond the active ones was written");
    ++failures;
  }
  if (keyword_attention_run(x, &weights, NULL, workspace) != LADON_NULL_OUTPUT) {
    puts("no output, and no word about it");
    ++failures;
  }
  printf("keyword_attention of ladon %s, %d bytes: %d wrong\n", KEYWORD_ATTENTION_LADON_VERSION,
         (int)KEYWORD_ATTENTION_WORKSPACE_BYTES, failures);
  return failures;
}
