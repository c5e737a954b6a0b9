#include "start.hpp"

#include <cstring>

#include "board.hpp"
#include "memory.hpp"
#include "semihosting.hpp"

int main(int argc, char** argv);

namespace board {
namespace {

char command_line[1024];
constexpr int most_arguments = 16;
char* arguments[most_arguments + 1];

// Parts the command line at its spaces; no name may hold one.
int take_arguments() noexcept {
  Word block[] = {word(command_line), sizeof command_line};
  if (ask(Operation::command_line, block) != 0) {
    print("board: the command line is too long\n");
    exit(2);
  }
  int count = 0;
  for (char* at = command_line; *at != 0;) {
    if (count == most_arguments) {
      print("board: there are too many arguments\n");
      exit(2);
    }
    arguments[count++] = at;
    while (*at != 0 && *at != ' ') ++at;
    while (*at == ' ') *at++ = 0;
  }
  return count;
}

}  // namespace

void start_program() noexcept {
  std::memcpy(board_data, board_data_from, static_cast<std::size_t>(board_data_end - board_data));
  std::memset(board_bss, 0, static_cast<std::size_t>(board_bss_end - board_bss));
  const int count = take_arguments();
  exit(main(count, arguments));
}

}  // namespace board
