// date_reader FILE [MOST [exact]]: reads the first MOST texts of FILE, which has one text in each line, and prints a
// line with the date of each text. Then prints how many instructions a text takes, and how much memory the program
// takes. With `exact`, each line also has the probabilities of the digits, as the bits of floats.
#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>

#include "answers.hpp"
#include "board.hpp"
#include "lines.hpp"
#include "print.hpp"
#include "reader.hpp"

namespace {

using namespace date_reader;

// The program date_reader_int8 is compiled from this file too, with DATE_READER_INT8.
#if defined(DATE_READER_INT8)
using Memory = Int8Workspace;
const std::size_t& bytes_of_weights = int8_weight_bytes;
#else
using Memory = Workspace;
const std::size_t& bytes_of_weights = weight_bytes;
#endif

constinit Memory workspace{};

struct Count {
  std::uint64_t least = UINT64_MAX, most = 0, sum = 0;
  std::uint64_t texts = 0, dates = 0;

  void add(std::uint64_t instructions, bool is_date) noexcept {
    least = std::min(least, instructions);
    most = std::max(most, instructions);
    sum += instructions;
    ++texts;
    dates += is_date ? 1 : 0;
  }
};

void print_reading(const Reading& reading, std::string_view text, bool exact) noexcept {
  if (reading.is_date()) {
    const auto iso = reading.iso();
    print({iso.data(), iso.size()});
  } else {
    print(in_place_of_date(reading.status));
  }
  if (exact && reading.status <= Status::no_date) {
    for (const float share : reading.certainty) board::print_number(std::bit_cast<std::uint32_t>(share), 11);
  }
  print("  ");
  print(text);
  print("\n");
}

void print_memory(std::size_t stack) noexcept {
  const board::Image image = board::image();
  print("bytes of flash\n");
  print_row("code and constants, the board's included", image.flash - bytes_of_weights);
  print_row("weights", bytes_of_weights);
  print("bytes of RAM\n");
  print_row("workspace", sizeof(Memory));
  print_row("stack", stack);
  print_row("the rest, the board's included", image.written - sizeof(Memory));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    print("usage: date_reader FILE [MOST [exact]]\n");
    return 2;
  }
  Lines lines(argv[1]);
  if (!lines.is_open()) {
    print("date_reader: ");
    print(argv[1]);
    print(": cannot be opened\n");
    return 2;
  }
  std::uint64_t most = UINT64_MAX;
  if (argc > 2) {
    const std::string_view number = argv[2];
    std::from_chars(number.begin(), number.end(), most);
  }
  const bool exact = argc > 3 && std::string_view(argv[3]) == "exact";
  Count count;
  std::size_t stack = 0;
  for (std::string_view text; count.texts < most && lines.next(text);) {
    board::paint_stack();
    const std::uint64_t before = board::instructions();
    const Reading reading = read(text, workspace);
    count.add(board::instructions() - before, reading.is_date());
    stack = std::max(stack, board::stack_used());
    print_reading(reading, text, exact);
  }
  if (count.texts == 0) return 1;
  print("texts\n");
  print_row("read", count.texts);
  print_row("dates", count.dates);
  print("instructions a text\n");
  print_row("at least", count.least);
  print_row("on average", count.sum / count.texts);
  print_row("at most", count.most);
  print_memory(stack);
  return 0;
}
