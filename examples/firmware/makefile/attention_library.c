/* The second way to build the program without CMake: call a library in C. CMake is needed only once, to make the
 * library and its header (cmake/make_kernel.cmake). This file replaces attention.cpp, so the program needs no C++
 * compiler. */
#include "attention.h"
#include "attention_kernel.h"

IN_FAST_RAM static _Alignas(ATTENTION_KERNEL_WORKSPACE_ALIGN) unsigned char workspace[ATTENTION_KERNEL_WORKSPACE_BYTES];

void attention(const float* x, float* y) {
  const attention_kernel_weights weights = {
      .in_proj_weight = in_weight, .in_proj_bias = in_bias, .out_proj_weight = out_weight, .out_proj_bias = out_bias};
  const ladon_status status = attention_kernel_run(x, &weights, y, workspace);
  (void)status; /* LADON_OK: the pointers, the alignment and the length are right */
}
