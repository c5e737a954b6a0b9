/* Calls a kernel from C without weights, because the kernel's library contains the weights. */
#include <stdalign.h>

#include "keyword_attention.h"
#include "reference.h"

static alignas(KEYWORD_ATTENTION_WORKSPACE_ALIGN) unsigned char workspace[KEYWORD_ATTENTION_WORKSPACE_BYTES];
static float y[TOKENS * MODEL];

int main(void) {
  fill_all();
  const ladon_status status = keyword_attention_run(x, &keyword_attention_stored_weights, y, workspace);
  puts(ladon_status_text(status));
  return status != LADON_OK || wrong(y, TOKENS);
}
