# SPDX-License-Identifier: Apache-2.0
# ladon_arch_flags(<variable> <arch>): leaves the compiler flags for an instruction set. Values of <arch>: default (no
# flag), native, sse2, avx2 (with FMA: x86-64-v3), avx512 (x86-64-v4), avx512_vnni and avx_vnni (the levels of avx512
# and avx2, with VNNI), avx512_bf16 (the level of avx512, with AVX512_BF16), neon and neon_dot (64-bit Arm, without and
# with dot product), or any value of -march.
function(ladon_arch_flags out arch)
  set(march_sse2 x86-64)
  set(march_avx2 x86-64-v3)
  set(march_avx512 x86-64-v4)
  set(march_avx512_vnni x86-64-v4)
  set(march_avx512_bf16 x86-64-v4)
  set(march_avx_vnni x86-64-v3)
  set(march_neon armv8-a)
  set(march_neon_dot armv8.2-a+dotprod)
  set(added_avx512_vnni -mavx512vnni)
  set(added_avx512_bf16 -mavx512bf16)
  set(added_avx_vnni -mavxvnni)
  set(flags "")
  if(MSVC)
    set(arch_avx2 /arch:AVX2)
    set(arch_avx512 /arch:AVX512)
    set(flags ${arch_${arch}})
  elseif(arch STREQUAL "native" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(arm|aarch64)")
    set(flags -mcpu=native) # older versions of clang do not support -march=native on Arm
  elseif(DEFINED march_${arch})
    set(flags -march=${march_${arch}} ${added_${arch}})
  elseif(NOT arch STREQUAL "default")
    set(flags -march=${arch})
  endif()
  set(${out} "${flags}" PARENT_SCOPE)
endfunction()

# ladon_default_arch(<variable>): leaves the instruction set that is used if LADON_ARCH is empty: the instruction set of
# this machine, or the compiler's default in a cross build.
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

# Leaves the flags with which the compiler links the objects of a kernel into one object (-r).
function(ladon_link_flags out)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_COMPILER_ARG1} ${CMAKE_CXX_FLAGS}") # CXX="ccache g++"
  # The following flags are removed, because they are for linking a program: another linker, --gc-sections, libgcov, a
  # sanitizer, and a C library with a linker script. For example, the linker gold cannot dissolve section groups
  # (--force-group-allocation), and clang++ would link the runtime of a sanitizer even into an object.
  list(FILTER flags EXCLUDE REGEX
    "^(-fuse-ld=|-Wl,|-fsanitize|-fno-sanitize|-fprofile-|-fcoverage-|--coverage|--?specs=)")
  if(CMAKE_CXX_COMPILER_TARGET)
    list(APPEND flags --target=${CMAKE_CXX_COMPILER_TARGET})
  endif()
  get_directory_property(options COMPILE_OPTIONS) # may have the processor of a microcontroller
  list(FILTER options INCLUDE REGEX "^-m")
  set(${out} ${flags} ${options} PARENT_SCOPE)
endfunction()

# ladon_dispatched_isas(<variable> <precision>): leaves the instruction sets of DISPATCH for this processor, in the
# order of their numbers in ladon_isa (src/c_kernel/kernel.h.in). Every machine supports the first instruction set. The
# list is empty if this processor has no DISPATCH. VNNI and the dot product of Arm are only for int8 weights, because
# these instructions multiply 8-bit integers. AVX512_BF16 is only for bfloat16 weights.
function(ladon_dispatched_isas out precision)
  foreach(list isas float32_isas bfloat16_isas int8_isas)
    set(${list} "")
  endforeach()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    set(isas sse2 avx2 avx512)
    set(int8_isas avx512_vnni avx_vnni)
    set(bfloat16_isas avx512_bf16)
  elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64" AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(isas neon)
    set(int8_isas neon_dot)
  endif()
  list(APPEND isas ${${precision}_isas})
  set(${out} ${isas} PARENT_SCOPE)
endfunction()
