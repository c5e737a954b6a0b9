# SPDX-License-Identifier: Apache-2.0
# ladon_add_kernel(<name> QUERIES <n> MODEL <n> ...): a shape as a static library and a C header.
#
#   lib<name>.a   the target <name>; it needs no C++ runtime, and of the outside memcpy, memmove and memset at most
#                 (with CHECKED also abort, fputs and stderr)
#   <name>.h      C11 and C++: sizes as constants, <name>_weights, <name>_run, <name>_run_with, ...
#
# Under Emscripten also the target <name>_modules: <name>.relaxed.wasm, <name>.simd.wasm, <name>.scalar.wasm in the folder
# of the build, or in LADON_WASM_OUTPUT (kernel/wasm.cmake). LADON_WASM_MODULES=OFF makes the library alone.
#
# What is computed
#   QUERIES KEYS MODEL HEADS KV_HEADS HEAD_WIDTH VALUE_WIDTH KEY_MODEL VALUE_MODEL <n>
#                      the shape; QUERIES and MODEL are needed, the others are as ladon::Shape has them
#   CONTEXT            keys and values are made from other tokens than x
#   CACHE              keys and values are kept: <name>_extend, or with CONTEXT <name>_project_keys and <name>_attend;
#                      KEYS is the capacity
#   MASK <kind>...     none causal window padding bits boolean boolean_per_head additive additive_per_head alibi
#                      (src/c_kernel/masks.hpp); with several masks, a query sees a key if every mask shows the key
#   WINDOW <left> <right>    keys to each side, or all
#   OFFSET <n>|run_time      query i stands at i + offset among the keys; by default the last query at the last key
#                      (and there ROTARY has it always: an offset is the mask's)
#   SCALE <number>|by_keys|by_model, SOFTCAP <number>, SINKS, ROTARY halves|neighbours <width> <positions>
#   FEED_FORWARD <n>   makes it an encoder layer, with ACTIVATION relu|gelu|gelu_tanh|silu, NORM post|pre,
#                      NORM_KIND layer|rms, NORM_BIAS with|without, GATED, FEED_FORWARD_BIAS with|without,
#                      EPSILON <number>
#   LAYERS <n>         makes it a stack of them, with FINAL_NORM where a norm follows the last
# How weights lie
#   LAYOUT in_proj|separate_qkv|per_head|in_out
#   BIAS all|projections|output|none  which projections of the attention have biases: all, those of queries, keys and
#                      values, the output projection, none. FEED_FORWARD_BIAS is about the feed-forward network
#   PRECISION float32|bfloat16|int8   of the weights of linear maps; bfloat16 and int8 with LAYOUT in_proj or separate_qkv.
#                      int8 weights have a scale for each row, and <name>_quantise makes them of float32 weights. With
#                      bfloat16, no DETERMINISTIC and no modules of WebAssembly
#   ACTIVATION_BITS 8|7      the bits to which the inputs of int8 products are quantised at run time. In a module of
#                      WebAssembly with relaxed SIMD, 8 bits become 7 on engines that compute 8 bits inexactly. Only with
#                      7 bits, DETERMINISTIC makes such a module
#   WEIGHTS <file.safetensors> PREFIX <prefix>    puts a checkpoint's tensors into the library: <name>_stored_weights;
#                      no PREFIX where nothing stands before their names. With PRECISION int8, float weights are
#                      quantised when the library is made; int8 weights of a checkpoint (X.weight with X.weight_scale,
#                      as compressed-tensors and ladon-weights quantise write them) are taken as they are. With
#                      PRECISION bfloat16, F32 and F16 weights are rounded when the library is made; BF16 weights (as
#                      ladon-weights convert writes them) are taken as they are. The path has no backslash and no $<,
#                      and PREFIX and the file's name have no /*, */ and @word@. The program ladon-weights packs the
#                      tensors on the machine that builds. A cross build with Ladon's sources builds the program for
#                      that machine, with the compiler that the environment variable CXX names or the system's; with an
#                      installed Ladon it looks for a program. LADON_WEIGHTS_TOOL=<file> names another program
# What becomes of it
#   CAPTURE weights|none|scaled|capped|masked     what options.attention holds
#   ARCH default|native|sse2|avx2|avx512|avx512_vnni|avx_vnni|neon|neon_dot|<-march>
#   DISPATCH           instead of ARCH: SSE2, AVX2 and AVX-512 in one library, and with PRECISION int8 also AVX-512 VNNI
#                      and AVX-VNNI, which g++ knows from version 11 on and clang++ from version 12 on. For 64-bit Arm
#                      with Linux: NEON, and with PRECISION int8 also dot product; the library calls getauxval
#   DETERMINISTIC      the same bits on every target
#   KEY_BLOCK <n>      keys of a long row that are scored at a time, a multiple of 32 (256): fewer take less workspace
#   CHECKED            broken rules inside end the program with a message
#   OPTIMIZE 0|1|2|3|s|z instead of what the build type says; a build type that is no release takes 2
include_guard(GLOBAL)
cmake_policy(VERSION 3.25) # whatever the caller's is

include(CheckCXXCompilerFlag)
include(${CMAKE_CURRENT_LIST_DIR}/arch_flags.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/ladon_report.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/wasm_tools.cmake)
foreach(part arguments definition objects stored_weights wasm)
  include(${CMAKE_CURRENT_LIST_DIR}/kernel/${part}.cmake)
endforeach()

if(EMSCRIPTEN)
  option(LADON_WASM_MODULES "Kernels are modules of WebAssembly, too" ON)
  set(LADON_WASM_OUTPUT "" CACHE PATH "Where the modules go, if not into the folder of the build")
endif()

function(ladon_add_kernel NAME)
  if(NOT NAME MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "ladon_add_kernel: the name is '${NAME}'; allowed: "
      "lower-case letters, digits and _, as it begins names in C")
  endif()
  foreach(suffix "" _code _header _describe_default)
    if(TARGET ${NAME}${suffix})
      message(FATAL_ERROR "ladon_add_kernel(${NAME}): there is a target ${NAME}${suffix}; allowed: a name of its own")
    endif()
  endforeach()
  ladon_kernel_places()
  set(given_arguments "${ARGN}")
  ladon_kernel_read_arguments()
  string(TOUPPER ${NAME} NAMES)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${NAME}_kernel)
  set(isas default)
  if(arg_DISPATCH)
    ladon_dispatched_isas(isas ${arg_PRECISION})
    if(isas MATCHES "avx_vnni")
      check_cxx_compiler_flag(-mavxvnni LADON_COMPILER_KNOWS_AVX_VNNI)
      ladon_kernel_refuse("DISPATCH with PRECISION int8 compiles for AVX-VNNI, and this compiler does not know \
-mavxvnni; allowed: g++ 11, clang++ 12, or later" NOT LADON_COMPILER_KNOWS_AVX_VNNI)
    endif()
  elseif(DEFINED arg_ARCH)
    set(isas ${arg_ARCH})
  endif()
  list(JOIN ARGN " " ARGUMENTS)
  if(DEFINED arg_WEIGHTS) # not where it lies on this machine: the header goes to others
    cmake_path(GET arg_WEIGHTS FILENAME WEIGHTS_NAME)
    string(REPLACE "${arg_WEIGHTS}" "${WEIGHTS_NAME}" ARGUMENTS "${ARGUMENTS}")
  endif()
  ladon_kernel_check_written()

  ladon_kernel_definition()
  ladon_kernel_header()
  set(objects "")
  set(compiled "")
  set(code_targets "")
  ladon_kernel_code()
  ladon_kernel_stored_weights()
  ladon_kernel_library()
  if(EMSCRIPTEN AND LADON_WASM_MODULES)
    ladon_kernel_modules()
  endif()
endfunction()
