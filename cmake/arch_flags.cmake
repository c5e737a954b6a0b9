# SPDX-License-Identifier: Apache-2.0
# ladon_arch_flags(<variable> <arch>): sets <variable> to the compiler flags for an instruction set. <arch> is one of:
#   default      no flag
#   native       the instruction set of this machine, without AVX512_BF16 where it is slow (ladon_slow_bfloat16)
#   sse2         x86-64
#   avx2         x86-64-v3, which includes FMA
#   avx_vnni     x86-64-v3 with AVX-VNNI
#   avx512       x86-64-v4
#   avx512_vnni  x86-64-v4 with AVX-512 VNNI
#   avx512_bf16  x86-64-v4 with AVX512_BF16 and AVX-512 VNNI; every processor with AVX512_BF16 also has AVX-512 VNNI
#   neon         64-bit Arm
#   neon_dot     64-bit Arm with dot product
#   neon_i8mm    64-bit Arm with dot product and I8MM
#   neon_bf16    64-bit Arm with BFDOT and BFMMLA
#   any other    a value of -march
function(ladon_arch_flags out arch)
  set(march_sse2 x86-64)
  set(march_avx2 x86-64-v3)
  set(march_avx512 x86-64-v4)
  set(march_avx512_vnni x86-64-v4)
  set(march_avx512_bf16 x86-64-v4)
  set(march_avx_vnni x86-64-v3)
  set(march_neon armv8-a)
  set(march_neon_dot armv8.2-a+dotprod)
  set(march_neon_i8mm armv8.2-a+dotprod+i8mm)
  set(march_neon_bf16 armv8.2-a+bf16)
  # zig reads a processor, and features of LLVM, in place of an architecture.
  if("${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_ARG1} " MATCHES "(^|[/ ])(python-)?zig(lang)?(\\.exe)? ")
    set(march_sse2 x86_64)
    set(march_avx2 x86_64_v3)
    set(march_avx512 x86_64_v4)
    set(march_avx512_vnni x86_64_v4)
    set(march_avx512_bf16 x86_64_v4)
    set(march_avx_vnni x86_64_v3)
    set(march_neon generic)
    set(march_neon_dot generic+v8_2a+dotprod)
    set(march_neon_i8mm generic+v8_2a+dotprod+i8mm)
    set(march_neon_bf16 generic+v8_2a+bf16)
  endif()
  # A flag such as -mavx2 in CMAKE_CXX_FLAGS stays in force behind another -march. So each instruction set switches off
  # what it lacks. -mno-sse3, -mno-avx512f and -mno-avx512vnni also switch off what needs these instructions.
  set(beyond_avx512 -mno-avxvnni -mno-gfni -mno-avx512vbmi -mno-avx512vbmi2 -mno-avx512bitalg -mno-avx512vpopcntdq -mno-avx512ifma)
  set(added_sse2 -mno-sse3 -mno-popcnt -mno-lzcnt -mno-bmi -mno-bmi2 -mno-movbe -mno-gfni)
  set(added_avx2 -mno-avx512f -mno-avxvnni -mno-gfni)
  set(added_avx512 ${beyond_avx512} -mno-avx512vnni -mno-avx512bf16)
  set(added_avx512_vnni ${beyond_avx512} -mavx512vnni -mno-avx512bf16)
  set(added_avx512_bf16 ${beyond_avx512} -mavx512vnni -mavx512bf16)
  set(added_avx_vnni -mno-avx512f -mno-gfni -mavxvnni)
  set(flags "")
  if(MSVC)
    # MSVC itself has flags for AVX2 and AVX-512 alone. clang-cl also takes the flags of clang++.
    if(arch MATCHES "^avx512")
      set(flags /arch:AVX512)
    elseif(arch MATCHES "^avx")
      set(flags /arch:AVX2)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      list(APPEND flags ${added_${arch}})
      if(arch STREQUAL "native")
        set(flags -march=native)
      endif()
    endif()
  elseif(arch STREQUAL "native" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(arm|aarch64)")
    set(flags -mcpu=native) # older versions of clang do not support -march=native on Arm
  elseif(DEFINED march_${arch})
    set(flags -march=${march_${arch}} ${added_${arch}})
    if(march_${arch} MATCHES "^x86")
      list(APPEND flags -mno-fma4 -mno-xop -mno-tbm) # of processors that AMD made until 2014
    endif()
  elseif(NOT arch STREQUAL "default")
    set(flags -march=${arch})
    if(arch STREQUAL "native" AND EXISTS /proc/cpuinfo)
      file(STRINGS /proc/cpuinfo cpuinfo LIMIT_COUNT 40)
      ladon_slow_bfloat16(slow "${cpuinfo}")
      if(slow)
        list(APPEND flags -mno-avx512bf16)
      endif()
    endif()
  endif()
  if(MINGW AND flags AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Windows aligns the stack to 16 bytes, but g++ may expect larger vectors there to be aligned (GCC bug 54412).
    list(APPEND flags -Wa,-muse-unaligned-vector-move)
  endif()
  set(${out} "${flags}" PARENT_SCOPE)
endfunction()

# ladon_slow_bfloat16(<variable> <cpuinfo>): sets <variable> to TRUE if /proc/cpuinfo describes a processor that multiplies
# bfloat16 numbers more slowly than floats: Intel since Sapphire Rapids, if a hypervisor hides AMX. has_slow_bfloat16 in
# src/c_kernel/cpu.hpp has the same rule.
function(ladon_slow_bfloat16 out cpuinfo)
  set(${out} FALSE PARENT_SCOPE)
  if(cpuinfo MATCHES "GenuineIntel" AND cpuinfo MATCHES " avx512_fp16" AND cpuinfo MATCHES " avx512_bf16"
     AND NOT cpuinfo MATCHES " amx_tile")
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

# ladon_default_arch(<variable>): sets <variable> to the value that replaces an empty LADON_ARCH: `default` in a cross
# build, otherwise `native`.
function(ladon_default_arch out)
  set(${out} native PARENT_SCOPE)
  if(CMAKE_CROSSCOMPILING)
    set(${out} default PARENT_SCOPE)
  endif()
endfunction()

# ladon_set_arch(<target>): adds the flags of LADON_ARCH to the C++ sources of all targets that link <target>.
function(ladon_set_arch target)
  set(arch "${LADON_ARCH}")
  if(NOT arch)
    ladon_default_arch(arch)
  endif()
  ladon_arch_flags(flags ${arch})
  target_compile_options(${target} INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${flags}>")
endfunction()

# ladon_link_flags(<variable>): sets <variable> to the flags with which the compiler links the objects of a kernel into
# one object (-r).
function(ladon_link_flags out)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_COMPILER_ARG1} ${CMAKE_CXX_FLAGS}") # CXX="ccache g++"
  # The regular expression removes flags for linking a whole program. These flags select a linker, options of the linker
  # such as -Wl,--gc-sections, a sanitizer, profiling or a C library (--specs). Such flags can break the linking of
  # objects. For example, -fuse-ld=gold selects a linker without the option --force-group-allocation, which kernels
  # need. With a sanitizer's flag, clang++ would link the runtime of the sanitizer even into an object.
  list(FILTER flags EXCLUDE REGEX
    "^(-fuse-ld=|-Wl,|-fsanitize|-fno-sanitize|-fprofile-|-fcoverage-|--coverage|--?specs=)")
  if(CMAKE_CXX_COMPILER_TARGET)
    list(APPEND flags --target=${CMAKE_CXX_COMPILER_TARGET})
  endif()
  get_directory_property(options COMPILE_OPTIONS) # may contain -mcpu of a microcontroller
  list(FILTER options INCLUDE REGEX "^-m")
  set(${out} ${flags} ${options} PARENT_SCOPE)
endfunction()

# ladon_dispatched_isas(<variable> <precision> <pairs>): sets <variable> to the instruction sets for which a kernel with
# DISPATCH is compiled on CMAKE_SYSTEM_PROCESSOR, in the order of the enumeration ladon_isa (src/c_kernel/kernel.h.in).
# The list is empty if DISPATCH does not support the processor. Every machine supports the first instruction set of the
# list. The list contains VNNI (x86) or dot product and I8MM (Arm) only if the weights are int8, because these
# instructions multiply 8-bit integers. With bfloat16 weights, the list contains AVX512_BF16 (x86) or FEAT_BF16 (Arm).
# With int8 weights, the list contains AVX512_BF16 if <pairs> is true, because the kernel's attention then multiplies
# pairs of bfloat16 numbers.
function(ladon_dispatched_isas out precision pairs)
  foreach(list isas float32_isas bfloat16_isas int8_isas)
    set(${list} "")
  endforeach()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    set(isas sse2 avx2 avx512)
    set(int8_isas avx512_vnni avx_vnni)
    if(pairs)
      list(APPEND int8_isas avx512_bf16)
    endif()
    set(bfloat16_isas avx512_bf16)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$" AND CMAKE_SYSTEM_NAME MATCHES "^(Linux|Darwin|iOS)$")
    set(isas neon)
    set(int8_isas neon_dot neon_i8mm)
    set(bfloat16_isas neon_bf16)
  endif()
  set(int4_isas ${int8_isas}) # products expand 4-bit weights to int8 weights
  list(APPEND isas ${${precision}_isas})
  set(${out} ${isas} PARENT_SCOPE)
endfunction()
