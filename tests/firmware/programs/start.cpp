// Defines the start-up code for programs that use the C and the C++ library. The start-up code of the C library (crt0)
// does not support Arm's M profile.
#include "start.hpp"

#include <cstdlib>
#include <cstring>

#include "memory.hpp"

int main(int argc, char** argv);

extern "C" {

void initialise_monitor_handles();  // rdimon's console
void __libc_init_array();           // static constructors

// The link option -nostartfiles leaves out crti.o and crtbegin.o, which usually define _init, _fini and __dso_handle.
void _init() {}
void _fini() {}
extern void* const __dso_handle;
void* const __dso_handle = nullptr;

}  // extern "C"

void board::start_program() noexcept {
  std::memset(board_bss, 0, static_cast<std::size_t>(board_bss_end - board_bss));  // QEMU has already loaded .data
  initialise_monitor_handles();
  __libc_init_array();
  char** arguments;
  const int count = take_arguments(arguments);
  std::exit(main(count, arguments));
}
