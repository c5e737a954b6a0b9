#include "board.hpp"
#include "semihosting.hpp"
#include "start.hpp"

namespace board {
namespace {

char command_line[1024];
constexpr int most_arguments = 16;
char* all[most_arguments + 1];

}  // namespace

int take_arguments(char**& arguments) noexcept {
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
    all[count++] = at;
    while (*at != 0 && *at != ' ') ++at;
    while (*at == ' ') *at++ = 0;
  }
  arguments = all;
  return count;
}

}  // namespace board
