# Under Emscripten a kernel is three modules of WebAssembly, too: NAME.relaxed.wasm, NAME.simd.wasm, NAME.scalar.wasm,
# for a program to load the best that its engine takes. A module imports nothing; it exports its memory, __heap_base
# (from there on memory is the caller's) and the functions of NAME.h, NAME_ taken off, run_with by the name of run; with
# WEIGHTS also stored_weights, where they are.
# The custom section `ladon` describes it (description.cmake).

# Leaves in `variants` which modules there are.
function(ladon_kernel_variants out)
  set(variants scalar)
  ladon_xsimd_version(xsimd)
  if(xsimd OR LADON_ARRAY_LANES)
    list(PREPEND variants simd)
    if(LADON_WASM_RELAXED AND NOT LADON_WASM_RELAXED STREQUAL "NONE" AND NOT arg_DETERMINISTIC) # no two machines' bits
      list(PREPEND variants relaxed)
    endif()
  else()
    message(STATUS "ladon: no modules with SIMD, which takes xsimd (Debian: libxsimd-dev, or LADON_XSIMD_INCLUDE_DIR); "
      "scalar ones are made")
  endif()
  set(${out} ${variants} PARENT_SCOPE)
endfunction()

function(ladon_kernel_modules)
  ladon_wasm_tools()
  ladon_kernel_variants(variants)
  if(NOT LADON_WASM_OUTPUT)
    set(LADON_WASM_OUTPUT ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  set(made "")
  set(linked "")
  foreach(variant IN LISTS variants)
    ladon_kernel_module()
  endforeach()
  add_custom_target(${NAME}_modules ALL DEPENDS ${made})
  add_dependencies(${NAME}_modules ${linked})
  set_property(TARGET ${NAME} PROPERTY LADON_MODULES "${made}")
endfunction()

macro(ladon_kernel_module)
  set(here ${folder}/${variant})
  ladon_kernel_module_definitions(definitions)
  set(llvm own)
  set(ld ${LADON_WASM_LD})
  if(variant STREQUAL "relaxed" AND NOT LADON_WASM_RELAXED STREQUAL "own")
    set(llvm ${LADON_WASM_RELAXED})
    set(ld ${llvm}/wasm-ld)
  endif()

  ladon_kernel_put(kernel.cpp ${here}/${NAME}.cpp)
  ladon_kernel_module_object(${NAME}_${variant}_code ${here}/${NAME}.cpp)
  ladon_kernel_module_object(${NAME}_${variant}_sizes ${folder}/sizes.cpp)
  add_dependencies(${NAME}_${variant}_code ${NAME}_header)
  set(WORKSPACE_BYTES "@WORKSPACE_BYTES@") # put_sizes.cmake knows them
  set(CACHE_BYTES "@CACHE_BYTES@")
  ladon_kernel_describe(description ${variant})
  file(CONFIGURE OUTPUT ${here}/without_sizes.json CONTENT "${description}" @ONLY)
  set(description ${here}/description.json)
  add_custom_command(OUTPUT ${description}
    COMMAND ${CMAKE_COMMAND} -DOBJECTS=$<TARGET_OBJECTS:${NAME}_${variant}_sizes> -DNAMES=${NAMES}
      -DHEADER=${here}/without_sizes.json -DOUTPUT=${description} -P ${modules}/put_sizes.cmake
    DEPENDS $<TARGET_OBJECTS:${NAME}_${variant}_sizes> ${here}/without_sizes.json ${modules}/put_sizes.cmake
    COMMENT "Description of ${NAME}.${variant}.wasm" VERBATIM)
  ladon_kernel_put(description.cpp ${here}/description.cpp)
  ladon_kernel_module_object(${NAME}_${variant}_description ${here}/description.cpp)
  set_source_files_properties(${here}/description.cpp PROPERTIES OBJECT_DEPENDS ${description})
  add_custom_target(${NAME}_${variant}_text DEPENDS ${description})
  add_dependencies(${NAME}_${variant}_text ${NAME}_${variant}_sizes) # make knows no rule for another target's objects
  add_dependencies(${NAME}_${variant}_description ${NAME}_${variant}_text)
  set(parts ${NAME}_${variant}_code ${NAME}_${variant}_description ladon_${variant}_freestanding)
  set(exports "")
  if(DEFINED arg_WEIGHTS)
    ladon_kernel_module_object(${NAME}_${variant}_stored ${folder}/${NAME}_stored.cpp)
    target_compile_definitions(${NAME}_${variant}_stored PRIVATE LADON_MODULE=1)
    add_dependencies(${NAME}_${variant}_stored ${NAME}_header ${NAME}_stored_code)
    list(APPEND parts ${NAME}_${variant}_stored)
    set(exports --export=stored_weights)
  endif()
  if(NOT TARGET ladon_${variant}_freestanding)
    ladon_kernel_module_object(ladon_${variant}_freestanding ${sources}/freestanding.cpp)
    target_compile_options(ladon_${variant}_freestanding PRIVATE -fno-builtin)
  endif()
  list(TRANSFORM parts REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  list(APPEND linked ${parts})
  ladon_kernel_link_module()
endmacro()

# ladon_kernel_module_object(<target> <source>): compiled for the variant
macro(ladon_kernel_module_object target source)
  ladon_kernel_object_library(${target} default ${source})
  ladon_wasm_flags(flags ${variant})
  target_compile_options(${target} PRIVATE ${flags} $<$<BOOL:${arg_OPTIMIZE}>:-O${arg_OPTIMIZE}>)
  if(variant STREQUAL "scalar" AND NOT LADON_ARRAY_LANES)
    target_compile_definitions(${target} PRIVATE LADON_ARRAY_LANES=1)
  endif()
  ladon_em_environment(environment ${llvm})
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${environment}" POSITION_INDEPENDENT_CODE OFF)
endmacro()

# What the module exports. Threads would share its memory, and they can't, so there are no phases.
function(ladon_kernel_module_definitions out)
  set(text "")
  list(REMOVE_ITEM functions run run_phase)
  foreach(function IN LISTS functions)
    string(REPLACE "run_with" "run" exported ${function})
    string(APPEND text "__attribute__((export_name(\"${exported}\"))) ${${function}_result} ${NAME}_${function}("
      "${${function}_parameters}) {\n  return Entry::${function}(${${function}_arguments});\n}\n")
  endforeach()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# Linked without em++, which would export more, and the one of Debian 12 can't read relaxed instructions. The stack comes
# first: what overflows it traps.
macro(ladon_kernel_link_module)
  set(module ${LADON_WASM_OUTPUT}/${NAME}.${variant}.wasm)
  set(optimise "")
  if(LADON_WASM_OPT AND (NOT variant STREQUAL "relaxed" OR llvm STREQUAL "own"))
    set(optimise COMMAND ${LADON_WASM_OPT} --mvp-features --enable-mutable-globals)
    if(NOT variant STREQUAL "scalar")
      list(APPEND optimise --enable-simd --enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int)
    endif()
    if(variant STREQUAL "relaxed")
      list(APPEND optimise --enable-relaxed-simd)
    endif()
    list(APPEND optimise -O2 -Oz ${module} -o ${module})
  endif()
  file(MAKE_DIRECTORY ${LADON_WASM_OUTPUT})
  add_custom_command(OUTPUT ${module}
    COMMAND ${ld} --no-entry --gc-sections --stack-first -z stack-size=65536 --strip-all -O2 --export=__heap_base ${exports}
      ${objects} -o ${module}
    ${optimise}
    DEPENDS ${objects} COMMAND_EXPAND_LISTS VERBATIM COMMENT "Linking ${NAME}.${variant}.wasm")
  list(APPEND made ${module})
endmacro()
