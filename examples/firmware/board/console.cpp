// Implements the console, the files and exit() of board.hpp by semihosting.
#include <cstring>

#include "board.hpp"
#include "semihosting.hpp"

namespace board {
namespace {

enum Mode : Word { read_binary = 1, write_text = 4 };

int open(const char* name, Mode mode) noexcept {
  const Word block[] = {word(name), mode, std::strlen(name)};
  return ask(Operation::open, block);
}

}  // namespace

void print(const char* text, std::size_t size) noexcept {
  static const int console = open(":tt", write_text);
  const Word block[] = {static_cast<Word>(console), word(text), size};
  ask(Operation::write, block);
}

void print(const char* text) noexcept { print(text, std::strlen(text)); }

void print_number(std::uint64_t number, int width) noexcept {
  char digits[40];
  char* const end = digits + sizeof digits;
  char* first = end;
  do *--first = static_cast<char>('0' + number % 10);
  while (number /= 10);
  while (end - first < width && first > digits) *--first = ' ';
  print(first, static_cast<std::size_t>(end - first));
}

void exit(int status) noexcept {
  const Word block[] = {0x20026, static_cast<Word>(status)};  // ADP_Stopped_ApplicationExit
  for (;;) ask(Operation::exit, block);
}

File::File(const char* name) noexcept : handle_(open(name, read_binary)) {}

File::~File() {
  const Word block[] = {static_cast<Word>(handle_)};
  if (is_open()) ask(Operation::close, block);
}

std::size_t File::read(std::span<char> into) noexcept {
  const Word block[] = {static_cast<Word>(handle_), word(into.data()), into.size()};
  return into.size() -
         static_cast<std::size_t>(ask(Operation::read, block));  // the operation returns the number of bytes not read
}

}  // namespace board
