/* Start-up code for QEMU's Cortex-M7. In your project, the start-up code and the linker script of the vendor replace
 * this file and memory.ld. The start-up code of the vendor must enable the FPU before the first float instruction. The
 * linker script of the vendor must place the section .fast_ram. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern char data_begin[], data_end[], data_in_flash[], bss_begin[], bss_end[], stack_end[];
void initialise_monitor_handles(void); /* printf by semihosting (rdimon) */
int main(void);

void reset(void);
void reset(void) {
  *(volatile uint32_t*)0xe000ed88 |= 0xfu << 20; /* CPACR: enables the FPU before the first float instruction */
  __asm volatile("dsb\n isb" ::: "memory");
  memcpy(data_begin, data_in_flash, (size_t)(data_end - data_begin));
  memset(bss_begin, 0, (size_t)(bss_end - bss_begin)); /* but not .fast_ram */
  initialise_monitor_handles();
  exit(main());
}

static void fault(void) { exit(3); }

struct Vectors {
  char* stack;
  void (*handlers[15])(void);
};
__attribute__((section(".vectors"), used)) static const struct Vectors vectors = {
    stack_end, {reset, fault, fault, fault, fault, fault}};

void _init(void) {} /* -nostartfiles leaves out the file that has _init and _fini */
void _fini(void) {}
