// interrupted FILE: a loop reads texts, as the main loop of a small real-time system does. A timer interrupts the loop,
// and the interrupt handler reads other texts with a second workspace. The program checks that every result is
// bit-identical to the result without interrupts. Interrupts change no result, because a kernel keeps its state only in
// its workspace, and an interrupt saves the registers of the interrupted code, including those of the FPU.
#include <array>

#include "board.hpp"
#include "lines.hpp"
#include "reader.hpp"

namespace {

using namespace date_reader;

constexpr std::size_t texts = 16;  // the number of texts of the loop, and of the interrupt handler

struct Task {
  std::array<Squeezed, texts> text;
  std::array<Reading, texts> expected;
  Workspace workspace;
  volatile std::size_t readings = 0, wrong = 0;

  Reading answer(std::size_t i) noexcept { return read(text[i].view(), workspace); }

  // Reads the next text. If the date differs from the date that was read without interrupts, counts this reading as
  // wrong.
  void read_next() noexcept {
    const std::size_t i = readings % texts;
    const Reading reading = answer(i);
    const bool same = reading.status == expected[i].status && reading.digits == expected[i].digits &&
                      reading.certainty == expected[i].certainty;
    readings = readings + 1;
    if (!same) wrong = wrong + 1;
  }
};

constinit Task in_loop{}, in_interrupt{};

bool take_texts(Lines& lines, Task& task) noexcept {
  for (std::size_t i = 0; i < texts;) {
    std::string_view text;
    if (!lines.next(text)) return false;
    if (squeeze(text, task.text[i]) != Status::date) continue;
    task.expected[i] = task.answer(i);
    ++i;
  }
  return true;
}

void print_task(const char* name, const Task& task) noexcept {
  board::print(name);
  board::print_number(task.readings);
  board::print(" texts read, ");
  board::print_number(task.wrong);
  board::print(" of them not as alone\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    board::print("usage: interrupted FILE\n");
    return 2;
  }
  Lines lines(argv[1]);
  const std::uint64_t start = board::instructions();
  if (!lines.is_open() || !take_texts(lines, in_loop) || !take_texts(lines, in_interrupt)) {
    board::print("interrupted: the file does not hold 32 texts\n");
    return 2;
  }
  const std::uint64_t for_a_text = (board::instructions() - start) / (2 * texts);
  board::interrupt_every(static_cast<std::uint32_t>(2 * for_a_text), []() noexcept { in_interrupt.read_next(); });
  while (in_loop.readings < 2 * texts || in_interrupt.readings < texts) in_loop.read_next();
  board::interrupt_every(0, nullptr);
  print_task("loop:      ", in_loop);
  print_task("interrupt: ", in_interrupt);
  return in_loop.wrong == 0 && in_interrupt.wrong == 0 ? 0 : 1;
}
