# SPDX-License-Identifier: Apache-2.0
# Makes the files of a kernel: its definition in C++, the header, the object code for each instruction set, and the
# library.

# ladon_kernel_places(): sets `modules` to the folder cmake/kernel, `sources` to the folder src/c_kernel, and link_flags
# to the flags of ladon_link_flags. Sets objects_can_be_local to true if GNU objcopy can make all symbols local except
# the functions of the kernel. Otherwise, the linker could replace an inline function by the copy of another object,
# which may be compiled for instructions that the machine lacks.
macro(ladon_kernel_places)
  set(modules ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/kernel)
  set(sources ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../src/c_kernel)
  ladon_kernel_truth(objects_can_be_local CMAKE_OBJCOPY AND NOT APPLE AND NOT WIN32 AND NOT EMSCRIPTEN)
  ladon_link_flags(link_flags)
endmacro()

# ladon_kernel_put(<template> <output>): fills the template <template>.in in src/c_kernel, and writes the result to
# <output>. ladon_kernel_put is a function, because a macro would evaluate the path <output> a second time.
function(ladon_kernel_put template output)
  configure_file(${sources}/${template}.in ${output} @ONLY)
endfunction()

# ladon_kernel_model(<statement> <condition of if()>...): adds a statement about `model` if the condition holds
macro(ladon_kernel_model statement)
  if(${ARGN})
    string(APPEND model_statements "  model.${statement};\n")
  endif()
endmacro()

# Writes <folder>/NAME_definition.hpp: the ladon::Model of the kernel, and the properties that a model does not have. Sets
# model_statements to the statements about the Model.
function(ladon_kernel_definition)
  set(model_statements "")
  set(places %1 %2 %3)
  foreach(argument IN LISTS ladon_kernel_values ladon_kernel_lists ladon_kernel_flags)
    set(statement "${ladon_kernel_${argument}_statement}")
    foreach(value place IN ZIP_LISTS arg_${argument} places)
      string(REPLACE "${place}" "${value}" statement "${statement}")
    endforeach()
    ladon_kernel_model("${statement}" statement AND ${argument}_given)
  endforeach()
  ladon_kernel_model("precision = ladon::PrecisionKind::rotated_${arg_PRECISION}" ROTATED_given)
  foreach(mask IN LISTS arg_MASK)
    ladon_kernel_model("mask.${mask} = true" NOT mask MATCHES "^(none|window)$")
  endforeach()
  foreach(mask IN LISTS arg_MEMORY_MASK)
    ladon_kernel_model("memory_mask.${mask} = true" NOT mask MATCHES "^none$")
  endforeach()
  list(TRANSFORM arg_LAYER_KINDS REPLACE "^un.+" ".\\0 = true" OUTPUT_VARIABLE kinds)
  list(TRANSFORM kinds REPLACE "(.+)" "{\\1}")
  list(JOIN kinds ", " kinds)
  ladon_kernel_model("kinds = {${kinds}}" LAYER_KINDS_given)
  list(JOIN arg_KIND_OF_LAYER ", " kinds)
  ladon_kernel_model("kind_of_layer = {${kinds}}" KIND_OF_LAYER_given)
  ladon_kernel_model("mask.offset = ${arg_OFFSET}" arg_OFFSET MATCHES "[0-9]")
  string(REPLACE "by_" "" by "${arg_SCALE}")
  ladon_kernel_model("score.by = ladon::Scale::${by}" arg_SCALE MATCHES "^by_")
  ladon_kernel_model("score.scale = static_cast<float>(${by})" SCALE_given AND NOT arg_SCALE MATCHES "^by_")
  ladon_kernel_model("projection_bias = ladon::Bias::without" arg_BIAS MATCHES "^(output|none)$")
  ladon_kernel_model("output_bias = ladon::Bias::without" arg_BIAS MATCHES "^(projections|none)$")
  ladon_kernel_put(definition.hpp ${folder}/${NAME}_definition.hpp)
  set(model_statements "${model_statements}" PARENT_SCOPE)
endfunction()

# ladon_kernel_object_library(<target> <arch> <source>...): adds the object library <target> with the flags that all
# objects of a kernel have.
function(ladon_kernel_object_library target arch)
  # A platform without shared libraries has no loader, which would fill the table of position-independent code.
  get_property(may_be_shared GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS)
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${ARGN})
  target_link_libraries(${target} PRIVATE ladon::ladon)
  target_include_directories(${target} BEFORE PRIVATE ${sources} ${folder}) # the caller may have a memory.hpp, too
  set_target_properties(${target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF POSITION_INDEPENDENT_CODE ${may_be_shared}
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON CXX_EXTENSIONS OFF)
  ladon_arch_flags(flags ${arch})
  target_compile_options(${target} PRIVATE ${flags})
  target_compile_definitions(${target} PRIVATE NDEBUG LADON_CHECKED=$<BOOL:${arg_CHECKED}>
    LADON_ARGUMENT_CHECKS=$<BOOL:${arg_ARGUMENT_CHECKS}>
    LADON_ALLOW_UNOPTIMIZED # OPTIMIZE 0 is the user's decision
    LADON_CONSTANT_EVALUATION=0 # C programs call kernels only at run time
    $<$<BOOL:${arg_DETERMINISTIC}>:LADON_DETERMINISTIC=1> $<$<BOOL:${KEY_BLOCK_given}>:LADON_KEY_BLOCK=${arg_KEY_BLOCK}>)
  if(NOT MSVC)
    # The flags with -fno- and -U turn off calls of the runtime libraries, which some distributions turn on by default.
    target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti -fno-stack-protector -fno-threadsafe-statics
      $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique> # objcopy cannot make unique symbols local
      -U_FORTIFY_SOURCE -U_GLIBCXX_ASSERTIONS -U_GLIBCXX_DEBUG -ffunction-sections -fdata-sections -fno-lto
      $<$<NOT:$<CONFIG:Release,RelWithDebInfo,MinSizeRel>>:-O2> $<$<BOOL:${OPTIMIZE_given}>:-O${arg_OPTIMIZE}>
      $<$<CXX_COMPILER_ID:GNU>:-fcallgraph-info=su>) # for ladon_report
  endif()
endfunction()

# Compiles the description of the kernel for each instruction set: a text about its sizes, structs and functions in an
# object file (src/c_kernel/describe.hpp). From the text, CMake makes the header NAME.h, and the files NAME_<block>.inc,
# which the sources of the kernel include.
macro(ladon_kernel_header)
  set(blocks functions)
  if(WEIGHTS_given)
    list(APPEND blocks tensors initialiser)
  endif()
  foreach(block constants memory weights rotary options declarations workspace_bytes taken)
    set(${block} "@${block}@") # put_description.cmake replaces this placeholder
  endforeach()
  ladon_kernel_put(kernel.h ${folder}/without_description.h)
  ladon_kernel_put(describe.cpp ${folder}/describe.cpp)
  set(described "")
  foreach(isa IN LISTS isas)
    ladon_kernel_object_library(${NAME}_describe_${isa} ${isa} ${folder}/describe.cpp)
    list(APPEND described ${NAME}_describe_${isa})
  endforeach()
  list(TRANSFORM described REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE description)
  list(TRANSFORM blocks REPLACE "(.+)" "${folder}/${NAME}_\\1.inc" OUTPUT_VARIABLE files)
  add_custom_command(OUTPUT ${folder}/${NAME}.h ${files}
    COMMAND ${CMAKE_COMMAND} "-DOBJECTS=${description}" -DTEMPLATE=${folder}/without_description.h
      -DOUTPUT=${folder}/${NAME}.h "-DBLOCKS=${blocks}" -DPATH=${folder}/${NAME}_ -DTAKEN=${taken_header}
      -P ${modules}/put_description.cmake
    DEPENDS ${taken_header} ${description} ${folder}/without_description.h ${modules}/put_description.cmake
    COMMENT "Description of ${NAME}: ${NAME}.h" VERBATIM)
  add_custom_target(${NAME}_header DEPENDS ${folder}/${NAME}.h)
  add_dependencies(${NAME}_header ${described}) # make has no rule for the objects of another target
endmacro()

# For each instruction set, adds a translation unit with the C functions of the kernel. With DISPATCH, adds another
# translation unit. Its C functions call the functions for the instruction set of the machine.
macro(ladon_kernel_code)
  set(isa_number 0)
  set(variants "")
  string(MD5 mark "${NAME} ${ARGUMENTS}")
  string(SUBSTRING ${mark} 0 7 mark)
  foreach(isa IN LISTS isas)
    math(EXPR isa_number "${isa_number} + 1")
    set(prefix ${NAME})
    if(arg_DISPATCH)
      set(prefix ${NAME}_${isa})
    endif()
    ladon_kernel_put(kernel.cpp ${folder}/${prefix}.cpp)
    ladon_kernel_add_object(${prefix} ${isa})
    string(TOUPPER LADON_ISA_${isa} enumerator)
    string(APPEND variants " F(${enumerator}, ${prefix}, __VA_ARGS__)")
  endforeach()
  if(arg_DISPATCH)
    ladon_kernel_put(dispatch.cpp ${folder}/${NAME}.cpp)
    list(GET isas 0 every_machine) # every machine supports the first instruction set
    ladon_kernel_add_object(${NAME} ${every_machine})
    set_target_properties(${NAME}_code PROPERTIES LADON_INCLUDES_LADON FALSE) # for ladon_precompile_kernels
  endif()
endmacro()

# ladon_kernel_add_object(<file> <arch>): compiles <folder>/<file>.cpp, which includes c_header, and adds the object to
# the kernel's library
macro(ladon_kernel_add_object file arch)
  ladon_kernel_object_library(${file}_code ${arch} ${folder}/${file}.cpp ${c_header})
  add_dependencies(${file}_code ${NAME}_header)
  if(objects_can_be_local)
    set(linked ${folder}/${file}.r.o)
    set(local ${folder}/${file}.o)
    add_custom_command(OUTPUT ${local}
      COMMAND ${CMAKE_CXX_COMPILER} ${link_flags} -r -nostdlib -Wl,--force-group-allocation -o ${linked}
        $<TARGET_OBJECTS:${file}_code>
      COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=${NAME}_* ${linked} ${local}
      DEPENDS $<TARGET_OBJECTS:${file}_code> COMMAND_EXPAND_LISTS VERBATIM
      COMMENT "Making all but ${NAME}_* local in ${file}.o")
    list(APPEND objects ${local})
    list(APPEND compiled $<TARGET_OBJECTS:${file}_code>)
    list(APPEND code_targets ${file}_code)
  else()
    list(APPEND objects $<TARGET_OBJECTS:${file}_code>)
  endif()
endmacro()

macro(ladon_kernel_library)
  add_library(${NAME} STATIC ${objects})
  add_dependencies(${NAME} ${NAME}_header ${code_targets})
  target_include_directories(${NAME} INTERFACE $<BUILD_INTERFACE:${folder}>)
  # The library has no sources from which CMake could derive the language. It needs no C++ runtime.
  set(language CXX)
  if(CMAKE_C_COMPILER_LOADED) # a toolchain file may set a C compiler although the project does not use C
    set(language C)
  endif()
  set_target_properties(${NAME} PROPERTIES LINKER_LANGUAGE ${language} LADON_HEADER ${c_header}
    LADON_OBJECTS "${objects}" LADON_COMPILED "${compiled}" LADON_LINK_FLAGS "${link_flags}")
  if(objects_can_be_local)
    set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  endif()
endmacro()
