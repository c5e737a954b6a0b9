// An application in C that has a kernel made.
#include <stdio.h>

#include "keyword_attention.h"

int main(void) {
  printf("%s, %d\n", ladon_status_text(LADON_OK), (int)KEYWORD_ATTENTION_WORKSPACE_BYTES);
  return 0;
}
