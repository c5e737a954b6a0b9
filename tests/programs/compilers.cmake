# Tests that ladon_arch_flags uses zig's names of instruction sets if the compiler is zig's clang++, and that the code of
# g++ for Windows does not expect aligned vectors. The variable ROOT is the folder of the sources.
include(${ROOT}/cmake/arch_flags.cmake)
set(CMAKE_SYSTEM_PROCESSOR x86_64)

function(expect compiler argument arch march)
  set(CMAKE_CXX_COMPILER ${compiler})
  set(CMAKE_CXX_COMPILER_ARG1 ${argument})
  ladon_arch_flags(flags ${arch})
  list(GET flags 0 first)
  if(NOT first STREQUAL "-march=${march}")
    message(SEND_ERROR "${compiler}${argument}, ${arch}: expected -march=${march}, found ${flags}")
  endif()
endfunction()

expect(/opt/zig/zig " c++" avx2 x86_64_v3)
expect(C:/zig/zig.exe " c++" sse2 x86_64)
expect(/usr/bin/python3 " -m ziglang c++" neon_dot generic+v8_2a+dotprod)
expect(/opt/zig/zig " c++" znver4 znver4)
expect(/opt/zig/bin/clang++ "" avx2 x86-64-v3)
expect(/usr/bin/g++ "" neon_bf16 armv8.2-a+bf16)

# expect_unaligned(<id of the compiler> <arch> <expected>): <expected> is whether the flags ask for unaligned moves.
function(expect_unaligned CMAKE_CXX_COMPILER_ID arch expected)
  set(MINGW TRUE)
  ladon_arch_flags(flags ${arch})
  set(found FALSE)
  if("${flags}" MATCHES "-muse-unaligned-vector-move")
    set(found TRUE)
  endif()
  if(NOT found STREQUAL expected)
    message(SEND_ERROR "MinGW, ${CMAKE_CXX_COMPILER_ID}, ${arch}: found ${flags}")
  endif()
endfunction()

expect_unaligned(GNU avx2 TRUE)
expect_unaligned(GNU default FALSE)
expect_unaligned(Clang avx2 FALSE)
