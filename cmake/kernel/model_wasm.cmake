# SPDX-License-Identifier: Apache-2.0
# Makes the WebAssembly modules of a whole model under Emscripten: NAME.relaxed.wasm, NAME.simd.wasm and
# NAME.scalar.wasm (wasm.cmake). A module has no weights and imports nothing. The custom section `ladon` describes the
# functions of the module (src/import/module_description.cpp). A module exports:
#   - its memory
#   - __heap_base: the address from which the caller may use the memory
#   - the functions of NAME.h without the prefix NAME_

function(ladon_model_modules)
  ladon_wasm_tools()
  ladon_wasm_variants(variants)
  ladon_make_modules(ladon_model_module)
endfunction()

# Adds the module that ${variant} names (relaxed, simd or scalar).
macro(ladon_model_module)
  ladon_choose_llvm()
  set(code ${NAME}_${variant}_code)
  file(CONFIGURE OUTPUT ${folder}/${NAME}_module.cpp CONTENT
    "#define LADON_MODEL_FUNCTION(name) __attribute__((export_name(#name))) ${NAME}_##name\n#include \"${NAME}_c.cpp\"\n" @ONLY)
  ladon_kernel_module_object(${code} ${folder}/${NAME}_module.cpp)
  target_include_directories(${code} PRIVATE ${model_sources})
  add_dependencies(${code} ${NAME}_header)
  ladon_freestanding()
  list(APPEND linked ${code} ladon_${variant}_freestanding)
  set(objects $<TARGET_OBJECTS:${code}> $<TARGET_OBJECTS:ladon_${variant}_freestanding>)
  set(exports "")
  set(text ${model_sources}/${NAME}_module.cmake)
  set(describe -DLADON_VERSION=${LADON_VERSION} -Dvariant=${variant} -DTEXT=${text} -P
    ${modules}/put_model_description.cmake)
  ladon_link_module(${text} ${modules}/put_model_description.cmake)
endmacro()
