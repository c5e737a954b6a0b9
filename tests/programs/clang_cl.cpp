// For clang_cl.cmake. Includes no header of the system, because the headers of Windows are not here.
#include <ladon/detail/config/settings.hpp>

static_assert(LADON_SSE2 == 1);
static_assert(LADON_FMA + LADON_AVX512 + LADON_VNNI + LADON_BFLOAT16_DOT == EXPECTED);

float product_and_sum(float a, float b, float c) { return a * b + c; }
