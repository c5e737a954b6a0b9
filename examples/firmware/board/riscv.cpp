// Implements the start-up code, the counter of instructions and the timer of the board virt for 32-bit RISC-V. The code
// runs in machine mode (https://github.com/riscv/riscv-isa-manual). The timer is the timer of a SiFive CLINT.
#include <cstdint>

#include "board.hpp"
#include "memory.hpp"
#include "start.hpp"

namespace board {
namespace {

constexpr std::uint32_t timer_enabled = 1u << 7;  // a bit of the register mie
constexpr std::uint32_t timer_cause = 1u << 31 | 7;
constexpr std::uint32_t instructions_per_tick = 100;

Handler volatile handler = nullptr;
std::uint64_t period = 0;  // in ticks

using Register = volatile std::uint32_t;
Register* const timer = reinterpret_cast<Register*>(0x0200bff8);
Register* const timer_compare = reinterpret_cast<Register*>(0x02004000);

std::uint64_t ticks() noexcept {
  for (;;) {
    const std::uint32_t high = timer[1], low = timer[0];
    if (high == timer[1]) return std::uint64_t{high} << 32 | low;
  }
}

void wait_until(std::uint64_t time) noexcept {
  timer_compare[1] = UINT32_MAX;  // no interrupt before both words of `time` are written
  timer_compare[0] = static_cast<std::uint32_t>(time);
  timer_compare[1] = static_cast<std::uint32_t>(time >> 32);
}

}  // namespace

std::uint64_t instructions() noexcept {
  for (;;) {
    std::uint32_t high, low, again;
    asm volatile("csrr %0, minstreth\n csrr %1, minstret\n csrr %2, minstreth" : "=r"(high), "=r"(low), "=r"(again));
    if (high == again) return std::uint64_t{high} << 32 | low;
  }
}

void interrupt_every(std::uint32_t instructions, Handler function) noexcept {
  asm volatile("csrc mie, %0" ::"r"(timer_enabled) : "memory");
  handler = function;
  if (function == nullptr) return;
  period = instructions < instructions_per_tick ? 1 : instructions / instructions_per_tick;
  wait_until(ticks() + period);
  asm volatile("csrs mie, %0" ::"r"(timer_enabled) : "memory");
}

}  // namespace board

extern "C" {

// The attribute gnu::interrupt makes the compiler save all registers that `handler` may change, including registers of
// the FPU.
[[gnu::interrupt("machine"), gnu::aligned(4)]] void board_trap() {
  std::uint32_t cause, address;
  asm volatile("csrr %0, mcause\n csrr %1, mepc" : "=r"(cause), "=r"(address));
  if (cause == board::timer_cause) {
    board::wait_until(board::ticks() + board::period);
    board::handler();
    return;
  }
  board::print("board: exception ");
  board::print_number(cause);
  board::print(" at address ");
  board::print_number(address);
  board::print("\n");
  board::exit(3);
}

// Enables the FPU before the first float instruction. Also enables interrupts (the bit MIE of mstatus). The register
// mie selects the interrupts that can occur.
[[gnu::naked, gnu::section(".vectors"), gnu::used]] void board_reset() {
  asm volatile(
      ".option push\n.option norelax\nla gp, __global_pointer$\n.option pop\n"
      "la sp, board_stack_end\n"
      "la t0, board_trap\ncsrw mtvec, t0\n"
      "li t0, 0x6008\ncsrs mstatus, t0\n"  // sets the field FS to "dirty", which enables the FPU, and the bit MIE
      "csrw fcsr, zero\n"
      "tail board_start");
}

[[noreturn, gnu::used]] void board_start() { board::start_program(); }

}  // extern "C"
