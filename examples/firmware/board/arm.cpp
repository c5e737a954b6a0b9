// Implements the interrupt vectors, the start-up code and the timer SysTick for Arm's M profile
// (https://developer.arm.com/documentation/ddi0403, B1.5, B3.2 and B3.3).
#include <cstdint>

#include "board.hpp"
#include "memory.hpp"
#include "start.hpp"

#ifndef BOARD_TIMER_MHZ
#error "BOARD_TIMER_MHZ: the processor's clock in QEMU, where an instruction takes a nanosecond"
#endif

namespace board {
namespace {

using Register = volatile std::uint32_t;
Register& at(std::uintptr_t address) noexcept { return *reinterpret_cast<Register*>(address); }

Register& timer_control() noexcept { return at(0xe000e010); }
Register& timer_reload() noexcept { return at(0xe000e014); }
Register& timer_value() noexcept { return at(0xe000e018); }
Register& interrupt_state() noexcept { return at(0xe000ed04); }
constexpr std::uint32_t timer_on = 7;  // enables the timer and its interrupt, at the clock of the processor
constexpr std::uint32_t timer_pending = 1u << 26;
constexpr std::uint32_t longest_period = 1u << 24;

volatile std::uint32_t period = longest_period;  // in ticks
volatile std::uint32_t periods = 0;
std::uint64_t earlier = 0;  // ticks before `period` was set
Handler volatile handler = nullptr;

// Returns the ticks since the start. The timer counts `period` ticks down to 0 and then requests an interrupt. The
// handler of this interrupt, board_timer, adds 1 to `periods`. If ticks() runs in another interrupt handler, the
// request for the last period may still be pending. A pending request therefore counts as one more period.
std::uint64_t ticks() noexcept {
  for (;;) {
    const std::uint32_t before = periods, pending = interrupt_state() & timer_pending;
    const std::uint32_t left = timer_value();
    if (before != periods || pending != (interrupt_state() & timer_pending)) continue;
    const std::uint64_t whole = before + (pending != 0 ? 1u : 0u);
    return earlier + whole * period + (left == 0 ? 0 : period - left);
  }
}

void set_period(std::uint32_t length) noexcept {
  timer_control() = 0;
  earlier = ticks();
  interrupt_state() = timer_pending >> 1;  // PENDSTCLR clears a pending timer interrupt
  periods = 0;
  period = length;
  timer_reload() = length - 1;
  timer_value() = 0;
  timer_control() = timer_on;
}

}  // namespace

std::uint64_t instructions() noexcept { return ticks() * 1000 / BOARD_TIMER_MHZ; }

void interrupt_every(std::uint32_t instructions, Handler function) noexcept {
  handler = nullptr;
  const std::uint64_t length = std::uint64_t{instructions} * BOARD_TIMER_MHZ / 1000;
  set_period(function == nullptr || length > longest_period ? longest_period
             : length < 2                                   ? 2
                                                            : static_cast<std::uint32_t>(length));
  handler = function;
}

}  // namespace board

extern "C" {

// Enables the FPU before the first float instruction. Before this point, board_reset must not contain inlined code that
// uses floats.
[[noreturn]] void board_reset() {
#ifdef __ARM_FP
  board::at(0xe000ed88) = board::at(0xe000ed88) | 0xfu << 20;  // CPACR enables the FPU and Helium
  asm volatile("dsb\n isb" ::: "memory");
#endif
  board::set_period(board::longest_period);
  board::start_program();
}

void board_timer() {
  board::periods = board::periods + 1;
  if (board::handler != nullptr) board::handler();
}

// Handles an unexpected exception: prints its number and address, and ends QEMU with status 3.
[[noreturn, gnu::used]] void board_failed(const std::uint32_t* frame) {
  std::uint32_t exception;
  asm volatile("mrs %0, ipsr" : "=r"(exception));
  board::print("board: exception ");
  board::print_number(exception);
  board::print(" at address ");
  board::print_number(frame[6]);
  board::print("\n");
  board::exit(3);
}
[[gnu::naked]] void board_exception() { asm volatile("mrs r0, msp\n ldr r1, =board_failed\n bx r1"); }
// Handles PendSV. A program with tasks defines its own board_switch. In all other programs, PendSV is an unexpected
// exception.
[[gnu::weak, gnu::alias("board_exception")]] void board_switch() noexcept;

}  // extern "C"

namespace {

using Vector = void (*)();

struct Vectors {
  const char* stack;
  Vector exception[15];
};

[[gnu::section(".vectors"), gnu::used]] const Vectors vectors{
    board_stack_end,
    {board_reset, board_exception, board_exception, board_exception, board_exception, board_exception, board_exception,
     board_exception, board_exception, board_exception, board_exception, board_exception, board_exception, board_switch,
     board_timer}};

}  // namespace
