#include "start.hpp"

#include <cstring>

#include "board.hpp"
#include "memory.hpp"

int main(int argc, char** argv);

namespace board {

void start_program() noexcept {
  std::memcpy(board_data, board_data_from, static_cast<std::size_t>(board_data_end - board_data));
  std::memset(board_bss, 0, static_cast<std::size_t>(board_bss_end - board_bss));
  char** arguments;
  const int count = take_arguments(arguments);
  exit(main(count, arguments));
}

}  // namespace board
