# Builds the C++ test programs for Arm boards. The programs use newlib and libstdc++ with exceptions. The library rdimon
# passes the program's files and console output to the host (semihosting). The linker scripts in programs/ put the
# programs into the large memories of the boards (PSRAM or DDR).
set(board ${PROJECT_SOURCE_DIR}/examples/firmware/board)
set(here ${CMAKE_CURRENT_LIST_DIR})
set(script mps2)
if(LADON_CPU STREQUAL "cortex-m55")
  set(script mps3_an547)
elseif(LADON_CPU STREQUAL "cortex-m7")
  set(script mps2_an500)
endif()

set(CMAKE_CROSSCOMPILING_EMULATOR ${board}/run --uncounted ${LADON_CPU}) # QEMU is twice as fast without -icount

# Enables the double-precision FPU, because the oracle computes in doubles. With doubles in software, the oracle would
# take most of the time. The tested code does not use doubles.
if(LADON_CPU STREQUAL "cortex-m7")
  add_compile_options(-mfpu=fpv5-d16)
  add_link_options(-mfpu=fpv5-d16)
endif()

add_library(ladon_program_start OBJECT ${here}/programs/start.cpp ${board}/arguments.cpp ${board}/arm.cpp
  ${board}/console.cpp)
target_compile_features(ladon_program_start PRIVATE cxx_std_20)
target_include_directories(ladon_program_start PRIVATE ${board})
target_compile_options(ladon_program_start PRIVATE -fno-exceptions -fno-threadsafe-statics)
target_compile_definitions(ladon_program_start PRIVATE BOARD_TIMER_MHZ=25) # any value will do, because no test reads the timer

target_sources(ladon_checks INTERFACE
  $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:$<TARGET_OBJECTS:ladon_program_start>>)
target_compile_definitions(ladon_checks INTERFACE DOCTEST_CONFIG_NO_POSIX_SIGNALS DOCTEST_CONFIG_NO_MULTITHREADING)
target_link_options(ladon_checks INTERFACE -nostartfiles --specs=rdimon.specs -Wl,--gc-sections -L${here}/programs
  -T${here}/programs/${script}.ld)
