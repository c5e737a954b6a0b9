# Compiles and links programs as standalone WASI commands, which run.mjs runs.
enable_language(C)
set(CMAKE_EXECUTABLE_SUFFIX_C .wasm)
set(CMAKE_EXECUTABLE_SUFFIX_CXX .wasm)

# Compiles tests and kernels with the -m flags of LADON_WASM_VARIANT. The package's modules of this variant are compiled
# with these flags, too.
ladon_wasm_flags(flags ${LADON_WASM_VARIANT})
list(FILTER flags INCLUDE REGEX "^-m")
add_compile_options(${flags})

# Tests throw on wrong data, and doctest throws if a REQUIRE fails. The programs therefore need exceptions.
target_compile_options(ladon_checks INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fwasm-exceptions>)
target_compile_definitions(ladon_checks INTERFACE DOCTEST_CONFIG_NO_POSIX_SIGNALS)
if(EMSCRIPTEN_VERSION VERSION_LESS 3.1.40)
  target_compile_options(ladon_checks INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${CMAKE_CURRENT_LIST_DIR}/old_library.hpp>")
endif()

add_library(ladon_system_calls OBJECT ${CMAKE_CURRENT_LIST_DIR}/system_calls.c)
target_sources(ladon_checks INTERFACE
  $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:$<TARGET_OBJECTS:ladon_system_calls>>)
