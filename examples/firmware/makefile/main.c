/* Calls attention ten times. Prints the cycles of the first call, the cycles of the fastest call, and a checksum of the
 * result. The program needs only printf. If you run the program on a real board, please report the numbers
 * (docs/microcontrollers.md#cycles). */
#include <stdio.h>
#include <string.h>

#include "attention.h"
#include "cycles.h"

IN_FAST_RAM static float x[ATTENTION_TOKENS * ATTENTION_MODEL], y[ATTENTION_TOKENS * ATTENTION_MODEL];

/* FNV-1a of the bits of y. */
static unsigned long checksum(void) {
  uint32_t hash = 0x811c9dc5u;
  for (int i = 0; i < ATTENTION_TOKENS * ATTENTION_MODEL; ++i) {
    uint32_t bits;
    memcpy(&bits, &y[i], sizeof bits);
    hash = (hash ^ bits) * 0x01000193u;
  }
  return hash;
}

static void print_cycles(const char* name, uint32_t count) {
  const uint32_t hundredths = (uint32_t)((100ull * count + ATTENTION_MULTIPLY_ADDS / 2) / ATTENTION_MULTIPLY_ADDS);
  printf("%s call: %lu cycles, %lu.%02lu for a multiply-add\n", name, (unsigned long)count,
         (unsigned long)(hundredths / 100), (unsigned long)(hundredths % 100));
}

int main(void) {
  for (int i = 0; i < ATTENTION_TOKENS * ATTENTION_MODEL; ++i) x[i] = (float)(i % 13 - 6) / 5;
  const int counts = cycles_start();
  uint32_t first = 0, least = UINT32_MAX;
  for (int call = 0; call < 10; ++call) {
    const uint32_t start = cycles();
    attention(x, y);
    const uint32_t count = cycles() - start;
    if (call == 0) first = count;
    if (count < least) least = count;
  }
  printf("checksum of y: %08lx\n", checksum());
  printf("weights at %p, x at %p\n", (const void*)in_weight, (void*)x);
  if (counts) {
    print_cycles("first", first);
    print_cycles("fastest", least);
  } else {
    printf("this processor does not count cycles; QEMU does not, and a Cortex-M0+ does not\n");
  }
  return 0;
}
