# SPDX-License-Identifier: Apache-2.0
# Makes the WebAssembly modules of a kernel under Emscripten: NAME.relaxed.wasm, NAME.simd.wasm and NAME.scalar.wasm. If
# LADON_WASM_VARIANTS is set, makes only the modules that this list names, such as "simd;scalar". A program loads the
# fastest module that its engine supports. A module imports nothing. The custom section `ladon` describes the module
# (src/c_kernel/describe_json.hpp). A module exports:
#   - its memory
#   - __heap_base: the address from which the caller may use the memory
#   - the functions of NAME.h without the prefix NAME_; the export `run` is the function NAME_run_with
#   - stored_weights, if WEIGHTS is given: the address of the weights
#   - the functions of src/c_kernel/module_int8.cpp.in, if the weights are int8 or int4
#   - grow_memory, for hosts whose own functions cannot grow a memory
# With THREADS, also makes NAME.relaxed.threads.wasm and NAME.simd.threads.wasm. Such a module imports a shared memory,
# env.memory, in place of exporting a memory, and also exports:
#   - run_phase or extend_phase, in place of run or extend
#   - __stack_pointer: each thread has an instance of the module, and sets __stack_pointer to the end of its own stack

function(ladon_kernel_modules)
  ladon_wasm_tools()
  ladon_wasm_variants(variants)
  # With DETERMINISTIC, no module may use relaxed instructions for floats, because their results depend on the engine.
  # The only relaxed instruction for integers has the same results on every engine if activations have 7 bits. So only
  # an int8 or int4 kernel with 7 bits keeps the relaxed module.
  if(arg_DETERMINISTIC AND NOT (arg_PRECISION MATCHES "^int" AND arg_ACTIVATION_BITS EQUAL 7))
    list(REMOVE_ITEM variants relaxed)
  endif()
  ladon_make_modules(ladon_kernel_variant)
  set_property(TARGET ${NAME} PROPERTY LADON_MODULES "${made}")
endfunction()

# Adds the modules that ${variant} names (relaxed, simd or scalar): with THREADS also the module for threads.
macro(ladon_kernel_variant)
  ladon_kernel_module()
  if(arg_THREADS AND NOT variant STREQUAL "scalar")
    string(APPEND variant .threads)
    ladon_kernel_module()
  endif()
endmacro()

# ladon_make_modules(<macro>): calls the macro for each of ${variants} that LADON_WASM_VARIANTS names, and adds the target
# ${NAME}_modules. The macro appends to `made`, the modules, and to `linked`, the targets that a module is linked from.
macro(ladon_make_modules add_module)
  if(LADON_WASM_VARIANTS)
    list(JOIN LADON_WASM_VARIANTS "|" chosen)
    list(FILTER variants INCLUDE REGEX "^(${chosen})$")
    ladon_kernel_refuse("LADON_WASM_VARIANTS is '${LADON_WASM_VARIANTS}', and this build can make none of these modules; \
allowed: some of relaxed, simd and scalar" NOT variants)
  endif()
  if(NOT LADON_WASM_OUTPUT)
    set(LADON_WASM_OUTPUT ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  set(made "")
  set(linked "")
  foreach(variant IN LISTS variants)
    cmake_language(CALL ${add_module})
  endforeach()
  add_custom_target(${NAME}_modules ALL DEPENDS ${made})
  add_dependencies(${NAME}_modules ${linked})
endmacro()

# The following macros and functions read ${variant}: relaxed, simd, scalar, relaxed.threads or simd.threads.

# Sets `llvm` to the folder of the LLVM with which em++ must compile the module ${variant}, or to `own` if em++ must use
# its own LLVM. Sets `ld` to the linker.
macro(ladon_choose_llvm)
  set(llvm own)
  set(ld ${LADON_WASM_LD})
  if(variant MATCHES "^relaxed" AND NOT LADON_WASM_RELAXED STREQUAL "own")
    set(llvm ${LADON_WASM_RELAXED})
    set(ld ${llvm}/wasm-ld)
  endif()
endmacro()

# Adds the module that ${variant} names.
macro(ladon_kernel_module)
  ladon_choose_llvm()
  set(code ${NAME}_${variant}_code)
  set(module_sources ${folder}/${NAME}.cpp ${folder}/describe.cpp)
  if(arg_PRECISION MATCHES "^int")
    set(weight std::int8_t)
    if(arg_PRECISION STREQUAL "int4")
      set(weight std::uint8_t)
    endif()
    ladon_kernel_put(module_int8.cpp ${folder}/${NAME}_module_int8.cpp)
    list(APPEND module_sources ${folder}/${NAME}_module_int8.cpp)
  endif()
  ladon_kernel_module_object(${code} ${module_sources})
  # Compiles the sources as one, which takes half of the time: headers are read once, and em++ starts once. The linker
  # removes the text of describe.cpp, because no function uses this text.
  set_target_properties(${code} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE BATCH UNITY_BUILD_BATCH_SIZE 0)
  add_dependencies(${code} ${NAME}_header)
  set(parts ${code} ladon_${variant}_freestanding)
  set(exports "")
  if(DEFINED arg_WEIGHTS)
    ladon_kernel_module_object(${NAME}_${variant}_stored ${folder}/${NAME}_stored.cpp)
    add_dependencies(${NAME}_${variant}_stored ${NAME}_header ${NAME}_stored_code)
    list(APPEND parts ${NAME}_${variant}_stored)
    set(exports --export=stored_weights)
  endif()
  ladon_freestanding()
  list(TRANSFORM parts REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  list(APPEND linked ${parts})
  ladon_kernel_link_module()
endmacro()

# Adds the functions of the C library that a module needs, once for each variant. No kernel's level of optimisation
# applies. No folder of a kernel or model is in the command, so a build folder of several models compiles them once.
function(ladon_freestanding)
  if(NOT TARGET ladon_${variant}_freestanding)
    set(folder ${sources})
    set(OPTIMIZE_given FALSE)
    ladon_kernel_module_object(ladon_${variant}_freestanding ${sources}/freestanding.cpp)
    target_compile_options(ladon_${variant}_freestanding PRIVATE -fno-builtin)
  endif()
endfunction()

# ladon_kernel_module_object(<target> <source>...): adds <target>, which compiles the sources for the module that
# ${variant} names
function(ladon_kernel_module_object target)
  ladon_kernel_object_library(${target} default ${ARGN})
  ladon_kernel_truth(has_threads variant MATCHES "threads$")
  target_compile_definitions(${target} PRIVATE LADON_MODULE=1 LADON_MODULE_THREADS=$<BOOL:${has_threads}>)
  ladon_wasm_flags(flags ${variant})
  if(OPTIMIZE_given) # ladon_kernel_object_library has set this level
    list(REMOVE_ITEM flags -O2)
  endif()
  target_compile_options(${target} PRIVATE ${flags})
  if(variant STREQUAL "scalar" AND NOT LADON_ARRAY_LANES)
    target_compile_definitions(${target} PRIVATE LADON_ARRAY_LANES=1)
  endif()
  ladon_em_environment(environment ${llvm})
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${environment}" POSITION_INDEPENDENT_CODE OFF)
endfunction()

# Links the module of a kernel. The description of the kernel is in the object file ${code}.
macro(ladon_kernel_link_module)
  string(REGEX REPLACE "([\"\\])" "\\\\\\1" arguments "${ARGUMENTS}")
  set(json "@json@") # put_description.cmake replaces @json@
  set(template ${folder}/${variant}_without_description.json)
  string(REPLACE .threads "" instructions ${variant})
  ladon_kernel_put(description.json ${template})
  set(describe -DOBJECTS=$<TARGET_OBJECTS:${code}> -DTEMPLATE=${template} -P ${modules}/put_description.cmake)
  ladon_link_module(${template} ${modules}/put_description.cmake)
endmacro()

# ladon_link_module(<file>...): links ${objects} as a module. `describe` are the arguments of CMake that write the
# description of the module, which depends on the files, to the file ${OUTPUT}. Links without em++. em++ would export
# more symbols, and em++ of Debian 12 cannot read relaxed instructions. With --stack-first, the stack lies below the
# data. A stack overflow then causes a trap instead of overwriting data. llvm-objcopy adds the custom section `ladon`:
# the description of the module as JSON. With OPTIMIZE 0, wasm-opt does not optimise the module either.
macro(ladon_link_module)
  set(module ${LADON_WASM_OUTPUT}/${NAME}.${variant}.wasm)
  set(optimise "")
  if(LADON_WASM_OPT AND NOT "${arg_OPTIMIZE}" STREQUAL "0" AND (NOT variant MATCHES "^relaxed" OR llvm STREQUAL "own"))
    ladon_wasm_opt_flags(flags ${variant})
    set(optimise COMMAND ${LADON_WASM_OPT} ${flags} ${module} -o ${module})
  endif()
  set(memory "")
  if(INITIAL_MEMORY_given)
    math(EXPR bytes "(${arg_INITIAL_MEMORY} + 65535) / 65536 * 65536") # the linker takes whole pages
    set(memory --initial-memory=${bytes})
  endif()
  if(variant MATCHES "threads$") # the loader must know the initial size (wasm/src/team.ts)
    set(memory --import-memory --shared-memory --initial-memory=1048576 --max-memory=4294967296 --export=__stack_pointer)
  endif()
  set(description ${folder}/${variant}_description.json)
  file(MAKE_DIRECTORY ${LADON_WASM_OUTPUT})
  add_custom_command(OUTPUT ${module} BYPRODUCTS ${description}
    COMMAND ${ld} --no-entry --gc-sections --stack-first -z stack-size=65536 --strip-all -O2 --export=__heap_base ${exports}
      ${memory}
      ${objects} -o ${module}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${description} ${describe}
    COMMAND ${LADON_WASM_OBJCOPY} --add-section=ladon=${description} ${module}
    ${optimise}
    DEPENDS ${objects} ${ARGN} COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Linking ${NAME}.${variant}.wasm")
  list(APPEND made ${module})
endmacro()
