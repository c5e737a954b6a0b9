// must print: ladon: each sum must be rounded to float; on 32-bit x86 compile with -msse2 -mfpmath=sse
#undef __FLT_EVAL_METHOD__
#define __FLT_EVAL_METHOD__ 2  // x87 arithmetic
#include <ladon/ladon.hpp>
