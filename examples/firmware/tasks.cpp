// tasks: two tasks compute attention at the same time, as under an RTOS. A timer interrupt switches between the tasks
// at any instruction. Each task has its own workspace and its own stack. Every result must be bit-identical to the
// result without the other task. The program prints how much stack a task needs.
//
// The function board_switch shows how an RTOS must save the registers of a task that uses the FPU. When an interrupt
// begins, the processor pushes r0-r3, r12, lr, pc and xpsr to the stack of the task. If the task has used the FPU, bit
// 4 of lr is 0, and the processor also reserves stack for s0-s15 and FPSCR. The processor writes these 17 registers
// only when the handler uses the FPU (lazy stacking). board_switch pushes r4-r11, lr and, if bit 4 of lr is 0, s16-s31.
// The push of s16-s31 uses the FPU, so the processor then also writes s0-s15. On an FPU with Helium, s0-s31 are the
// vector registers.
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include <ladon/ladon.hpp>

#include "board.hpp"
#include "print.hpp"

namespace {

constexpr std::uint32_t paint = 0x9e3779b9;
constexpr int runs_of_a_task = 20;

struct alignas(8) Stack {
  std::array<std::uint32_t, 1024> words;

  std::uint32_t* top() { return words.data() + words.size(); }
  std::size_t used() const {
    std::size_t unused = 0;
    while (unused < words.size() && words[unused] == paint) ++unused;
    return (words.size() - unused) * sizeof(std::uint32_t);
  }
};

void fill(std::span<float> values, std::uint32_t seed, float size) {
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = size * static_cast<float>(static_cast<std::int32_t>(seed) >> 8) * 0x1p-23f;
  }
}

// Attention with its own workspace. All tasks may share the weights, which no call writes.
template <ladon::Shape S, class Mask, std::uint32_t Seed>
struct Work {
  using SelfAttention = ladon::MultiHeadAttention<S, Mask>;
  float in_weight[3 * S.model][S.model], in_bias[3 * S.model], out_weight[S.model][S.model], out_bias[S.model];
  float x[S.queries][S.model], y[S.queries][S.model], expected[S.queries][S.model];
  typename SelfAttention::Workspace workspace;
  volatile int runs, wrong;

  void run(float (&out)[S.queries][S.model]) {
    SelfAttention::run(x, {.in_proj = {in_weight, in_bias}, .out_proj = {out_weight, out_bias}}, out, workspace);
  }
  void prepare() {
    fill({in_weight[0], 3 * S.model * S.model}, Seed, 0.3f);
    fill({out_weight[0], S.model * S.model}, Seed + 1, 0.3f);
    fill({x[0], S.queries * S.model}, Seed + 2, 2);
    run(expected);
  }
  void run_and_compare() {
    run(y);
    runs = runs + 1;
    if (std::memcmp(y, expected, sizeof y) != 0) wrong = wrong + 1;
  }
};

constinit Work<{.queries = 18, .model = 24, .heads = 3}, ladon::mask::Causal, 1> first{};
constinit Work<{.queries = 16, .model = 32, .heads = 4}, ladon::mask::Unmasked, 100> second{};

constinit Stack first_stack{}, second_stack{};
std::uint32_t* other_stack;  // the stack pointer of the task that does not run
volatile std::uint32_t switches = 0;

void first_task() {
  while (first.runs < runs_of_a_task || second.runs < runs_of_a_task) first.run_and_compare();
}
[[noreturn]] void second_task() {
  for (;;) second.run_and_compare();
}

// Requests the exception PendSV, which has the lowest priority and switches the tasks when no other handler runs.
volatile std::uint32_t& interrupt_state = *reinterpret_cast<volatile std::uint32_t*>(0xe000ed04);
volatile std::uint32_t& priorities = *reinterpret_cast<volatile std::uint32_t*>(0xe000ed20);
void request_switch() noexcept { interrupt_state = 1u << 28; }

// Fills the stack of a new task with the registers that an interrupt would save before the first instruction of the
// task. Returns the stack pointer of the task.
std::uint32_t* new_task(Stack& stack, void (*function)()) {
  std::uint32_t* at = stack.top();
  *--at = 1u << 24;                                          // xpsr: Thumb
  *--at = reinterpret_cast<std::uintptr_t>(function) & ~1u;  // pc
  at -= 6;                                                   // r0-r3, r12, lr
  *--at = 0xfffffffd;                                        // lr of the switch: a task without FPU registers
  return at - 8;                                             // r4-r11
}

// Calls `function` on the stack that ends at `top`.
[[gnu::naked]] void call_on(std::uint32_t* /*top*/, void (* /*function*/)()) {
  asm volatile(
      "push {r4, lr}\n"
      "msr psp, r0\n mrs r2, control\n orr r2, r2, #2\n msr control, r2\n isb\n"
      "blx r1\n"
      "mrs r2, control\n bic r2, r2, #2\n msr control, r2\n isb\n"
      "pop {r4, pc}");
}

void print_task(const char* name, int runs, int wrong, const Stack& stack) {
  print(name);
  print(":\n");
  print_row("runs", static_cast<std::uint64_t>(runs));
  print_row("results that differ from the results alone", static_cast<std::uint64_t>(wrong));
  print_row("bytes of stack, with all saved registers", stack.used());
}

}  // namespace

extern "C" {

// Stores the stack pointer of the interrupted task, and returns the stack pointer of the task that runs next.
[[gnu::used]] std::uint32_t* next_task(std::uint32_t* stack) {
  std::uint32_t* const next = other_stack;
  other_stack = stack;
  switches = switches + 1;
  return next;
}

// Handles PendSV: saves the registers of the running task on its stack, and restores the registers of the other task.
[[gnu::naked]] void board_switch() {
  asm volatile(
      "mrs r0, psp\n"
      "tst lr, #16\n it eq\n vstmdbeq r0!, {s16-s31}\n"
      "stmdb r0!, {r4-r11, lr}\n"
      "bl next_task\n"
      "ldmia r0!, {r4-r11, lr}\n"
      "tst lr, #16\n it eq\n vldmiaeq r0!, {s16-s31}\n"
      "msr psp, r0\n isb\n"
      "bx lr");
}

}  // extern "C"

int main() {
  board::paint_stack();
  first.prepare();
  second.prepare();
  print_row("bytes of stack of both calls without tasks, at most", board::stack_used());

  first_stack.words.fill(paint);
  second_stack.words.fill(paint);
  other_stack = new_task(second_stack, second_task);
  priorities = priorities | 0xffu << 16;
  board::interrupt_every(1777, request_switch);
  call_on(first_stack.top(), first_task);
  board::interrupt_every(0, nullptr);

  print_task("first task", first.runs, first.wrong, first_stack);
  print_task("second task", second.runs, second.wrong, second_stack);
  print_row("switches", switches);
  return first.wrong == 0 && second.wrong == 0 && switches > 100 ? 0 : 1;
}
