/* Reads the cycle counter of Cortex-M3, M4, M7, M33, M55 and M85: DWT->CYCCNT of the Armv7-M and Armv8-M architecture
 * manuals. A Cortex-M0+ has no cycle counter. QEMU does not count cycles: the counter stays at 0. */
#pragma once

#include <stdint.h>

#define CYCLES_REGISTER(address) (*(volatile uint32_t*)(address))

static inline uint32_t cycles(void) { return CYCLES_REGISTER(0xe0001004); }

/* Starts the counter. Returns 0 if this processor does not count. Works without a debugger, too. */
static inline int cycles_start(void) {
  CYCLES_REGISTER(0xe000edfc) |= 1u << 24;   /* DEMCR.TRCENA switches the DWT on */
  CYCLES_REGISTER(0xe0001fb0) = 0xc5acce55u; /* the lock that some chips with a Cortex-M7 have */
  CYCLES_REGISTER(0xe0001004) = 0;
  CYCLES_REGISTER(0xe0001000) |= 1u; /* CYCCNTENA */
  const uint32_t start = cycles();
  for (volatile int i = 0; i < 10; ++i) continue;
  return cycles() != start;
}
