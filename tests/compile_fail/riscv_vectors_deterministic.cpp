// must print: ladon: g++ 14 and 15 break LADON_DETERMINISTIC with RISC-V V
#define LADON_DETERMINISTIC 1
#define __riscv_vector 1  // -march=rv64gcv defines this macro
#undef __clang__
#undef __GNUC__
#define __GNUC__ 14
#include <ladon/ladon.hpp>
