# SPDX-License-Identifier: Apache-2.0
# ladon_add_kernel(<name> QUERIES <n> MODEL <n> HEADS <n> ...): makes a static library and a C header for one shape.
#
#   lib<name>.a   the target <name>; the library needs no C++ runtime, and its only undefined symbols are memcpy,
#                 memmove and memset (with CHECKED also abort, fputs and stderr)
#   <name>.h      C11 and C++: sizes as constants, <name>_weights, <name>_run, <name>_run_with, ...
#
# Under Emscripten, also makes the target <name>_modules: <name>.relaxed.wasm, <name>.simd.wasm and <name>.scalar.wasm.
# The modules are in the build folder, or in LADON_WASM_OUTPUT (kernel/wasm.cmake). LADON_WASM_VARIANTS can name some of
# the three modules. LADON_WASM_MODULES=OFF makes only the library.
#
# The computation
#   QUERIES KEYS MODEL HEADS KV_HEADS HEAD_WIDTH VALUE_WIDTH KEY_MODEL VALUE_MODEL <n>
#                      the shape; QUERIES, MODEL and HEADS are required, the other sizes have the defaults of ladon::Shape
#   PROJECTIONS with|without    `without` makes attention without projections and without weights: <name>_run takes
#                      queries, keys and values. MODEL is used only for the default of HEAD_WIDTH. Excludes CONTEXT,
#                      CACHE, FEED_FORWARD and all arguments about weights
#   CONTEXT            keys and values are computed from other tokens than x
#   CACHE              a cache stores keys and values, and KEYS is its capacity. <name>_extend replaces <name>_run. With
#                      CONTEXT, <name>_project_keys and <name>_attend replace <name>_run. With MEMORY, there is
#                      also <name>_project_memory
#   CACHE_PRECISION float32|bfloat16|int8     the type of the keys and values in the cache; needs CACHE
#   MASK <kind>...     none causal window padding boolean boolean_per_head bits additive additive_per_head alibi
#                      relative (src/c_kernel/masks.hpp); with several masks, a query sees a key if every mask shows the
#                      key. The order of the masks has no effect. relative: <name>_relative_fill fills its table
#   WINDOW <left> <right>    number of visible keys on each side, or for one side the word `all`
#   OFFSET <n>|run_time      query i has the position i + offset among the keys. By default, the last query has the
#                      position of the last key. OFFSET applies to masks only: ROTARY always uses the default
#   LAYER_BIAS         an encoder layer has the weight attention_bias, which is added to the scores of each head and pair of
#                      tokens
#   SCALE <number>|by_keys|by_model, SOFTCAP <number>, SINKS, ROTARY halves|neighbours <width> <positions>
#   QUERY_KEY_NORM none|head|each_head|all    norms of queries and keys: over the features of a head with one weight, or
#                      with a weight for each head, or over all heads. QUERY_KEY_NORM_KIND rms|layer,
#                      QUERY_KEY_NORM_BIAS without|with, NORM_AFTER_ROTATION, EPSILON <number>
#   FEED_FORWARD <n>   makes an encoder layer, with ACTIVATION relu|gelu|gelu_tanh|silu|quick_gelu|squared_relu|xielu,
#                      NORM post|pre|both|output, NORM_KIND layer|rms, FEED_FORWARD_NORM_KIND same|layer|rms,
#                      NORM_GAIN weight|one_plus_weight, NORM_BIAS with|without, GATED, FEED_FORWARD_BIAS with|without,
#                      EPSILON <number>, RESIDUAL sequential|parallel|parallel_one_norm, RESIDUAL_SCALE <number>,
#                      LAYER_SCALE. ladon/model.hpp explains the words
#   MEMORY <n>         turns the encoder layer into a decoder layer: x also attends to a memory, which is the output of
#                      an encoder and has at most n tokens. MASK is for self-attention, by default causal. MEMORY_MASK
#                      <kind>... is for the attention to the memory: none padding boolean boolean_per_head bits
#                      additive additive_per_head
#   LAYERS <n>         makes a stack of layers; with FINAL_NORM, a norm follows the last layer
#   LAYER_KINDS <n>|0|unrotated|unnormed_attention...    the kinds of the layers of a stack: a window of n tokens to each
#                      side, no window, no rotary embedding, or attention without a norm before it. With ROTARY,
#                      options->rotary has a table for each kind
#   WINDOW_KEYS <n>    with CACHE: layers with a window keep only the latest n tokens: the window and QUERIES, or more.
#                      Needs equal windows, and no mask but causal
#   KIND_OF_LAYER <n>...    the number of each layer's kind, beginning again after the last number; by default, 0 1 ...
# The weights
#   LAYOUT in_proj|separate_qkv|per_head|in_out|in_proj_in_out
#   PROJECTION_BLOCKS <n>, VALUES_BEFORE_KEYS    in_proj has n blocks of as many heads. A block has the rows of its
#                      queries, its keys and its values; with VALUES_BEFORE_KEYS, of its queries, its values and its keys
#   BIAS all|projections|output|none  the projections of the attention that have biases. `projections` stands for the
#                      projections of queries, keys and values. FEED_FORWARD_BIAS is for the feed-forward network
#   PRECISION float32|bfloat16|int8|int4   the type of the weights of linear maps. bfloat16, int8 and int4 need LAYOUT
#                      in_proj or separate_qkv. int4 weights have 4 bits, and 4 bits more for each group of 32
#                      (ladon/detail/vec/int4.hpp); all that is said below about int8 applies to int4, too. int8
#                      weights have a scale for each row, and <name>_quantise makes int8 weights from float32 weights.
#                      bfloat16 excludes DETERMINISTIC
#   ACTIVATION_BITS 8|7      the bits to which the inputs of int8 products are quantised at run time. In a WebAssembly
#                      module with relaxed SIMD, 8 bits become 7 on engines that compute 8 bits inexactly. With
#                      DETERMINISTIC, only 7 bits allow a module with relaxed SIMD
#   ROTATED            rotates int8 weights and the inputs of their products before both are quantised. Results are
#                      more accurate, and a call takes a few percent longer (docs/precision.md). The number of inputs of
#                      each linear map must be a multiple of 8. An int8 checkpoint must be rotated, too
#                      (ladon-weights quantise --rotate)
#   WEIGHTS <file.safetensors> PREFIX <prefix>    stores the tensors of a checkpoint in the library, as
#                      <name>_stored_weights. PREFIX is the text before the tensors' names, by default no text.
#                      With PRECISION int8, float weights are quantised when the library is made. Int8 weights of a
#                      checkpoint (X.weight with X.weight_scale, as compressed-tensors and ladon-weights quantise write
#                      them) are copied. With PRECISION bfloat16, F32 and F16 weights are rounded when the library is
#                      made. BF16 weights (as ladon-weights convert writes them) are copied. The path must not contain a
#                      backslash or $<. PREFIX and the file's name must not contain /*, */ or @word@. The program
#                      ladon-weights packs the tensors on the build machine. A cross build with Ladon's sources builds
#                      this program for the build machine. The compiler is LADON_HOST_CXX, or else the environment
#                      variable CXX, or else the system's compiler. A cross build with an installed Ladon looks for an
#                      installed program. LADON_WEIGHTS_TOOL=<file> names another program
#   TENSORS <name>...  the library also contains these tensors of the checkpoint, such as those of embeddings and of a
#                      classifier, as arrays: <name>_tensor_classifier_weight[10][32]. A * in a name stands for any text.
#                      F16 and BF16 become float
#   CHECK <file.safetensors>    the build runs the kernel on x, and fails if the result differs from y: the tensors x and y
#                      [tokens][model] of the original, or of several samples [samples][tokens][model]. Decoders also need
#                      the tensor memory, and kernels with CONTEXT the tensor context. The tensors padding, boolean,
#                      additive, slopes, sinks, relative, and with memory_ before the name those of MEMORY_MASK, are the
#                      options of these names. rotary_base (float64) has the base for each kind of layers, by default
#                      10000. A cross build without CMAKE_CROSSCOMPILING_EMULATOR only makes the program <name>_check. For a
#                      machine without an operating system, <name>_check is a library, whose function <name>_check
#                      (<name>_check.h) runs the check on the board. Excludes CACHE
#   TOLERANCE <number> the largest difference in parts of the largest number of y. The default depends on PRECISION
#                      (src/c_kernel/difference.hpp): 2e-5 with float32
# The code
#   CAPTURE weights|none|scaled|capped|masked     what a call writes to options.attention. `weights` selects the
#                      attention weights. `scaled`, `capped` and `masked` select the scores after the scale, the softcap
#                      or the mask. With `none`, there is no options.attention. The default is `none` with CACHE and
#                      FEED_FORWARD together, and otherwise `weights`
#   ARCH default|native|sse2|avx2|avx512|avx512_vnni|avx_vnni|avx512_bf16|neon|neon_dot|neon_i8mm|neon_bf16|<-march>
#   DISPATCH           instead of ARCH: one library with code for several instruction sets. On x86-64, the library has
#                      code for SSE2, AVX2 and AVX-512. PRECISION int8 adds AVX-512 VNNI and AVX-VNNI, which need g++ 11
#                      or clang++ 12. PRECISION int8 also adds AVX512_BF16, unless DETERMINISTIC, CACHE or QUERIES 1 is
#                      given. PRECISION bfloat16 adds AVX512_BF16. On 64-bit Arm with Linux, the library has code for
#                      NEON, and calls getauxval. PRECISION int8 adds dot product and I8MM, and PRECISION bfloat16 adds
#                      BFDOT
#   DETERMINISTIC      results have the same bits on every target
#   KEY_BLOCK <n>      the largest number of keys that are scored at a time: a multiple of 32, by default 256. A smaller
#                      number needs less workspace
#   CHECKED            a broken precondition ends the program with a message
#   ARGUMENT_CHECKS ON|OFF    OFF makes the code smaller: the functions do not check their arguments, and always return
#                      LADON_OK. A wrong argument is then undefined behaviour
#   OPTIMIZE 0|1|2|3|s|z     level of optimisation; by default, the level of a release build type, or else 2
#   INITIAL_MEMORY <n>       the bytes of memory with which WebAssembly modules begin, for hosts that cannot grow a
#                      memory. By default, a module has no memory beyond __heap_base, and the host grows the memory.
#                      Libraries ignore this argument
#   THREADS            also makes <name>.relaxed.threads.wasm and <name>.simd.threads.wasm, with which several workers
#                      compute one call (docs/threads.md). Excludes WEIGHTS, INITIAL_MEMORY, and CONTEXT together with
#                      CACHE. Libraries ignore this argument
include_guard(GLOBAL)
cmake_policy(VERSION 3.25) # makes this file independent of the caller's policies

include(CheckCXXCompilerFlag)
include(${CMAKE_CURRENT_LIST_DIR}/arch_flags.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/ladon_report.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/wasm_tools.cmake)
foreach(part arguments check objects stored_weights wasm)
  include(${CMAKE_CURRENT_LIST_DIR}/kernel/${part}.cmake)
endforeach()

if(EMSCRIPTEN)
  option(LADON_WASM_MODULES "Make WebAssembly modules of kernels, too" ON)
  set(LADON_WASM_OUTPUT "" CACHE PATH "Folder for the modules; empty: the build folder")
  set(LADON_WASM_VARIANTS "" CACHE STRING "Which modules to make: some of relaxed, simd and scalar; empty: all of them")
endif()

function(ladon_add_kernel NAME)
  if(NOT NAME MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "ladon_add_kernel: the name is '${NAME}'; allowed: "
      "lower-case letters, digits and _, because names in C begin with the name")
  endif()
  ladon_kernel_check_project()
  foreach(suffix "" _code _header _describe_default)
    if(TARGET ${NAME}${suffix})
      message(FATAL_ERROR "ladon_add_kernel(${NAME}): the target ${NAME}${suffix} exists; allowed: another name")
    endif()
  endforeach()
  ladon_kernel_places()
  set(given_arguments "${ARGN}")
  ladon_kernel_read_arguments()
  string(TOUPPER ${NAME} NAMES)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${NAME}_kernel)
  set(c_header ${folder}/${NAME}.h)
  set(isas default)
  if(arg_DISPATCH)
    ladon_kernel_isas(isas)
    if(isas MATCHES "avx_vnni")
      check_cxx_compiler_flag(-mavxvnni LADON_COMPILER_KNOWS_AVX_VNNI)
      ladon_kernel_refuse("DISPATCH with PRECISION int8 compiles for AVX-VNNI, and this compiler does not know \
-mavxvnni; allowed: g++ 11, clang++ 12, or later" NOT LADON_COMPILER_KNOWS_AVX_VNNI)
    endif()
  elseif(DEFINED arg_ARCH)
    set(isas ${arg_ARCH})
  endif()
  list(JOIN ARGN " " ARGUMENTS)
  foreach(file WEIGHTS CHECK) # the header must not contain a path of this machine
    if(DEFINED arg_${file})
      cmake_path(GET arg_${file} FILENAME ${file}_NAME)
      string(REPLACE "${arg_${file}}" "${${file}_NAME}" ARGUMENTS "${ARGUMENTS}")
    endif()
  endforeach()
  ladon_kernel_check_text()

  ladon_kernel_definition()
  set(weights_type ${NAME}_weights)
  if(arg_PROJECTIONS STREQUAL "without")
    set(weights_type c_kernel::NoWeights)
  endif()
  ladon_kernel_checkpoint()
  ladon_kernel_tensors()
  ladon_kernel_header()
  set(objects "")
  set(compiled "")
  set(code_targets "")
  ladon_kernel_code()
  ladon_kernel_stored_weights()
  ladon_kernel_tensors_object()
  ladon_kernel_library()
  ladon_kernel_check()
  if(EMSCRIPTEN AND LADON_WASM_MODULES)
    ladon_kernel_modules()
  endif()
endfunction()
