# ladon_add_wrong_arguments(<name> <message> <arguments>...): adds a test that calls ladon_add_kernel with <arguments>.
# The call must stop CMake with an error that contains <message>. The variable `definitions` may hold options for cmake.
function(ladon_add_wrong_arguments name message)
  add_test(NAME ladon.kernel_arguments.${name}
    COMMAND ${CMAKE_COMMAND} "-DARGUMENTS=${ARGN}" -DMODULE=${PROJECT_SOURCE_DIR}/cmake/ladon_add_kernel.cmake
      -DPROCESSOR=riscv64 ${definitions} -P ${CMAKE_CURRENT_SOURCE_DIR}/check_arguments.cmake)
  # CMake may break the lines of a message at any space. So each space of <message> also matches a line break.
  string(REPLACE " " "[ \n]+" message "${message}")
  set_tests_properties(ladon.kernel_arguments.${name} PROPERTIES PASS_REGULAR_EXPRESSION "${message}")
endfunction()

# Tests that the values that ladon_add_kernel allows are the enumerators of the headers.
add_test(NAME ladon.kernel_arguments.enumerators
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -P ${CMAKE_CURRENT_SOURCE_DIR}/check_enumerators.cmake)

# Tests which instruction sets DISPATCH compiles for.
add_test(NAME ladon.kernel_arguments.isas
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -P ${CMAKE_CURRENT_SOURCE_DIR}/check_isas.cmake)

# Tests how ladon_add_kernel escapes a path in a string of the assembler.
add_test(NAME ladon.kernel_arguments.assembler_string
  COMMAND ${CMAKE_COMMAND} -DMODULE=${PROJECT_SOURCE_DIR}/cmake/ladon_add_kernel.cmake
    -P ${CMAKE_CURRENT_SOURCE_DIR}/check_assembler_string.cmake)

# ladon_add_wrong_project(<name> <message> <lines>...): adds a test of a project with these lines, with which CMake must
# stop with <message>.
function(ladon_add_wrong_project name message)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/wrong_project_${name})
  list(JOIN ARGN "\n" lines)
  file(CONFIGURE OUTPUT ${folder}/CMakeLists.txt CONTENT "cmake_minimum_required(VERSION 3.25)\n${lines}\n" @ONLY)
  add_test(NAME ladon.kernel_project.${name} COMMAND ${CMAKE_COMMAND} -S ${folder} -B ${folder}/build -G Ninja)
  string(REPLACE " " "[ \n]+" message "${message}")
  set_tests_properties(ladon.kernel_project.${name} PROPERTIES PASS_REGULAR_EXPRESSION "${message}")
endfunction()
if(NOT CMAKE_CROSSCOMPILING)
  set(add_kernel "include(${PROJECT_SOURCE_DIR}/cmake/ladon_add_kernel.cmake)" "ladon_add_kernel(one QUERIES 8 MODEL 16 HEADS 2)")
  ladon_add_wrong_project(c "a kernel is compiled as C.., .* write project.... LANGUAGES C CXX" "project(x LANGUAGES C)"
    ${add_kernel})
  ladon_add_wrong_project(without_ladon "first write find_package.ladon CONFIG" "project(x LANGUAGES CXX)" ${add_kernel})
  set(add_model "add_library(ladon::ladon INTERFACE IMPORTED)"
    "include(${PROJECT_SOURCE_DIR}/cmake/ladon_add_model.cmake)")
  ladon_add_wrong_project(model_folder "FOLDER is .*nowhere, which has no config.json" "project(x LANGUAGES CXX)"
    ${add_model} "ladon_add_model(one FOLDER nowhere)")
  ladon_add_wrong_project(model_without_folder "FOLDER is missing, the folder of a model" "project(x LANGUAGES CXX)"
    ${add_model} "ladon_add_model(one TOKENS 8)")
  ladon_add_wrong_project(model_argument "'DISPACH' is unknown. perhaps DISPATCH. allowed: FOLDER, SOURCES" "project(x LANGUAGES CXX)"
    ${add_model} "ladon_add_model(one FOLDER nowhere DISPACH)")
  ladon_add_wrong_project(model_precision "ladon_add_model.one.: PRECISION is 'fp16'. allowed: float32, bfloat16, int8,"
    "project(x LANGUAGES CXX)" ${add_model} "ladon_add_model(one FOLDER nowhere PRECISION fp16)")
  ladon_add_wrong_project(model_weights "WEIGHTS is 'outside'. allowed: inside, mapped" "project(x LANGUAGES CXX)"
    ${add_model} "ladon_add_model(one FOLDER nowhere WEIGHTS outside)")
  ladon_add_wrong_project(model_tokens "TOKENS is 'many'. allowed: an integer above 0" "project(x LANGUAGES CXX)"
    ${add_model} "ladon_add_model(one FOLDER nowhere TOKENS many)")
  ladon_add_wrong_project(model_without_keyword "'models/one' is unknown. perhaps FOLDER models/one. allowed"
    "project(x LANGUAGES CXX)" ${add_model} "ladon_add_model(one models/one)")
  ladon_add_wrong_project(model_target "the target one exists. allowed: another name" "project(x LANGUAGES CXX)"
    ${add_model} "add_custom_target(one)" "ladon_add_model(one FOLDER nowhere)")
  ladon_add_wrong_project(model_safetensors "find_package.ladon CONFIG REQUIRED COMPONENTS kernel safetensors."
    "project(x LANGUAGES CXX)" "set(LADON_IMPORT_TOOL none)" ${add_model}
    "ladon_add_model(one FOLDER ${PROJECT_SOURCE_DIR}/tests/data/families/gpt2)")
  ladon_add_wrong_project(model_folder_twice "ladon_add_model.one.: FOLDER is given 2 times. allowed: once"
    "project(x LANGUAGES CXX)" ${add_model} "ladon_add_model(one FOLDER nowhere FOLDER elsewhere)")
  ladon_add_wrong_project(model_budget "for SOURCES, give ladon-import the options --budget" "project(x LANGUAGES CXX)"
    ${add_model} "ladon_add_model(one SOURCES there IMAGE there BUDGET 77)")
  ladon_add_wrong_project(model_cache_precision "CACHE_PRECISION is 'float16'; allowed: float32, bfloat16, int8" "project(x LANGUAGES CXX)"
    ${add_model} "ladon_add_model(one FOLDER nowhere CACHE_PRECISION float16)")
  ladon_add_wrong_project(model_activation_bits "ACTIVATION_BITS 7 needs PRECISION int8" "project(x LANGUAGES CXX)"
    ${add_model} "ladon_add_model(one FOLDER nowhere ACTIVATION_BITS 7)")
endif()

# Tests that make_kernel.cmake refuses a setting behind -P.
add_test(NAME ladon.kernel_arguments.setting_behind_script
  COMMAND ${CMAKE_COMMAND} -P ${PROJECT_SOURCE_DIR}/cmake/make_kernel.cmake one QUERIES 8 MODEL 16 HEADS 2 -DOUT=there)
set_tests_properties(ladon.kernel_arguments.setting_behind_script PROPERTIES
  PASS_REGULAR_EXPRESSION "-DOUT=there[ \n]+stands[ \n]+behind[ \n]+-P")

set(some one QUERIES 8 MODEL 16 HEADS 2)
ladon_add_wrong_arguments(name "the name is 'One-Two'. allowed: lower-case letters" One-Two QUERIES 8 MODEL 16 HEADS 2)
ladon_add_wrong_arguments(unknown "'QERIES 8' is unknown. perhaps QUERIES. allowed: QUERIES, KEYS, MODEL" one QERIES 8 MODEL 16 HEADS 2)
ladon_add_wrong_arguments(unlike "'colour 3' is unknown. allowed: QUERIES, KEYS, MODEL" ${some} colour 3)
ladon_add_wrong_arguments(lower_case "'queries 8' is unknown. perhaps QUERIES. allowed" one queries 8 MODEL 16 HEADS 2)
ladon_add_wrong_arguments(singular "'HEAD 2' is unknown. perhaps HEADS. allowed" one QUERIES 8 MODEL 16 HEAD 2)
ladon_add_wrong_arguments(swapped_letters "'FEED_FOWRARD 8' is unknown. perhaps FEED_FORWARD. allowed" ${some} FEED_FOWRARD 8)
ladon_add_wrong_arguments(without_underscore "'FEEDFORWARD 8' is unknown. perhaps FEED_FORWARD. allowed" ${some} FEEDFORWARD 8)
ladon_add_wrong_arguments(tokens "'TOKENS 8' is unknown. perhaps QUERIES. allowed" one TOKENS 8 MODEL 16 HEADS 2)
ladon_add_wrong_arguments(value_alone "'CAUSAL' is unknown. perhaps MASK causal. allowed" ${some} CAUSAL)
ladon_add_wrong_arguments(flag_with_value "'ON' is unknown. a flag has no value. allowed" ${some} CONTEXT ON)
ladon_add_wrong_arguments(equals_sign "'QUERIES=8' is unknown. perhaps QUERIES 8, with a space. allowed" one QUERIES=8 MODEL 16 HEADS 2)
ladon_add_wrong_arguments(twice "MODEL is given 2 times. allowed: once" ${some} MODEL 32)
ladon_add_wrong_arguments(missing "MODEL is missing" one QUERIES 8)
ladon_add_wrong_arguments(missing_heads "HEADS is missing" one QUERIES 8 MODEL 16)
ladon_add_wrong_arguments(no_value "no value is given for MODEL" one QUERIES 8 MODEL)
ladon_add_wrong_arguments(number "QUERIES is '0'. allowed: an integer above 0" one QUERIES 0 MODEL 16 HEADS 2)
ladon_add_wrong_arguments(negative "MODEL is '-3'. allowed: an integer above 0" one QUERIES 3 MODEL -3 HEADS 2)
ladon_add_wrong_arguments(heads "HEADS is 3 and MODEL 16. allowed: HEADS that divide MODEL" one QUERIES 8 MODEL 16 HEADS 3)
ladon_add_wrong_arguments(kv_heads "KV_HEADS is 3 and HEADS 4. allowed: KV_HEADS that divide HEADS"
  one QUERIES 8 MODEL 16 HEADS 4 KV_HEADS 3)
ladon_add_wrong_arguments(mask "MASK is 'caussal'. allowed: none, causal, window" ${some} MASK caussal)
ladon_add_wrong_arguments(mask_twice "MASK is .boolean.boolean_per_head.. allowed: each kind of mask once" ${some} MASK boolean boolean_per_head)
ladon_add_wrong_arguments(mask_none "MASK none stands alone" ${some} MASK none causal)
ladon_add_wrong_arguments(causal_window "causal and window" ${some} MASK causal window WINDOW 2 2)
ladon_add_wrong_arguments(window "WINDOW is '3'. allowed: all.0.<n> all.0.<n>" ${some} MASK window WINDOW 3)
ladon_add_wrong_arguments(window_side "WINDOW is 'far 0'. allowed: all.0.<n> all.0.<n>" ${some} MASK window WINDOW far 0)
ladon_add_wrong_arguments(window_alone "WINDOW needs MASK window" ${some} WINDOW 3 3)
ladon_add_wrong_arguments(window_missing "MASK window needs WINDOW <left> <right>" ${some} MASK window)
ladon_add_wrong_arguments(window_all "WINDOW is 'all all'. .*for one side, allowed: all" ${some} MASK window WINDOW all all)
ladon_add_wrong_arguments(offset "OFFSET is 'x'. allowed: an integer, run_time" ${some} MASK causal OFFSET x)
ladon_add_wrong_arguments(offset_octal "OFFSET is '010'" ${some} MASK causal OFFSET 010)
ladon_add_wrong_arguments(window_keys_alone "WINDOW_KEYS needs LAYER_KINDS" ${some} CACHE WINDOW_KEYS 9)
ladon_add_wrong_arguments(layer_bias_cache "LAYER_BIAS needs no CACHE" ${some} FEED_FORWARD 9 CACHE LAYER_BIAS)
ladon_add_wrong_arguments(relative_in_memory "MEMORY_MASK is 'relative'. allowed: none, padding"
  ${some} FEED_FORWARD 9 MEMORY 5 MEMORY_MASK relative)
ladon_add_wrong_arguments(offset_alone "OFFSET needs MASK causal.window.alibi" ${some} OFFSET 1)
ladon_add_wrong_arguments(offset_alibi "with MASK alibi allowed: run_time" ${some} MASK alibi OFFSET 1)
ladon_add_wrong_arguments(residual "RESIDUAL is 'both'. allowed: sequential, parallel, parallel_one_norm"
  ${some} FEED_FORWARD 8 RESIDUAL both)
ladon_add_wrong_arguments(layer_scale "LAYER_SCALE needs FEED_FORWARD" ${some} LAYER_SCALE)
ladon_add_wrong_arguments(layout "LAYOUT is 'packed'. allowed: in_proj, separate_qkv, per_head, in_out, in_proj_in_out" ${some} LAYOUT packed)
ladon_add_wrong_arguments(projection_blocks "PROJECTION_BLOCKS is 2. allowed: a number that divides HEADS and KV_HEADS"
  one QUERIES 5 MODEL 12 HEADS 4 KV_HEADS 1 PROJECTION_BLOCKS 2)
ladon_add_wrong_arguments(query_key_norm "QUERY_KEY_NORM is 'heads'. allowed: none, head, each_head, all"
  ${some} QUERY_KEY_NORM heads)
ladon_add_wrong_arguments(query_key_norm_kind "QUERY_KEY_NORM_KIND needs QUERY_KEY_NORM head.each_head.all"
  ${some} QUERY_KEY_NORM_KIND rms)
ladon_add_wrong_arguments(query_key_norm_bias "QUERY_KEY_NORM_BIAS needs QUERY_KEY_NORM_KIND layer"
  ${some} QUERY_KEY_NORM head QUERY_KEY_NORM_BIAS with)
ladon_add_wrong_arguments(norm_after_rotation "NORM_AFTER_ROTATION needs QUERY_KEY_NORM head.each_head"
  ${some} QUERY_KEY_NORM all NORM_AFTER_ROTATION)
ladon_add_wrong_arguments(norm_of_decoder "QUERY_KEY_NORM is all. with MEMORY, allowed: none, head, each_head"
  ${some} FEED_FORWARD 8 MEMORY 4 QUERY_KEY_NORM all)
ladon_add_wrong_arguments(values_before_keys "VALUES_BEFORE_KEYS needs LAYOUT in_proj.in_proj_in_out"
  ${some} LAYOUT separate_qkv VALUES_BEFORE_KEYS)
ladon_add_wrong_arguments(layout_kdim "KEY_MODEL needs LAYOUT separate_qkv.per_head.in_out" ${some} CONTEXT KEY_MODEL 4 VALUE_MODEL 4)
ladon_add_wrong_arguments(bias "BIAS is 'some'. allowed: all, projections, output, none" ${some} BIAS some)
ladon_add_wrong_arguments(precision "PRECISION is 'int3'. allowed: float32, bfloat16, int8, int4" ${some} PRECISION int3)
ladon_add_wrong_arguments(bfloat16_layout "with PRECISION bfloat16, whose weights are .out, in., allowed: in_proj, separate_qkv"
  ${some} PRECISION bfloat16 LAYOUT in_out)
ladon_add_wrong_arguments(bfloat16_bits "DETERMINISTIC needs PRECISION float32.int8"
  ${some} PRECISION bfloat16 DETERMINISTIC)
ladon_add_wrong_arguments(precision_layout "LAYOUT is in_out. with PRECISION int8, whose weights are .out, in., allowed: in_proj, separate_qkv"
  ${some} PRECISION int8 LAYOUT in_out)
ladon_add_wrong_arguments(precision_per_head "LAYOUT is per_head. with PRECISION int8, whose weights are .out, in.,"
  ${some} PRECISION int8 LAYOUT per_head)
ladon_add_wrong_arguments(activation_bits "ACTIVATION_BITS is '9'. allowed: 8, 7" ${some} PRECISION int8 ACTIVATION_BITS 9)
ladon_add_wrong_arguments(rotated_alone "ROTATED needs PRECISION int8" ${some} ROTATED)
ladon_add_wrong_arguments(activation_bits_alone "ACTIVATION_BITS needs PRECISION int8" ${some} ACTIVATION_BITS 7)
ladon_add_wrong_arguments(scale "SCALE is 'half'. allowed: a number other than 0, by_keys" ${some} SCALE half)
ladon_add_wrong_arguments(scale_zero "SCALE is '0'. allowed: a number other than 0, by_keys" ${some} SCALE 0)
ladon_add_wrong_arguments(softcap "SOFTCAP is '-3'. allowed: a number above 0" ${some} SOFTCAP -3)
ladon_add_wrong_arguments(softcap_zero "SOFTCAP is '0.0'. allowed: a number above 0" ${some} SOFTCAP 0.0)
ladon_add_wrong_arguments(epsilon_alone "EPSILON needs FEED_FORWARD" ${some} EPSILON 1e-9)
ladon_add_wrong_arguments(key_block "KEY_BLOCK is 48. allowed: a multiple of 32" ${some} KEY_BLOCK 48)
ladon_add_wrong_arguments(key_block_bits "DETERMINISTIC needs KEY_BLOCK 256"
  ${some} KEY_BLOCK 64 DETERMINISTIC)
ladon_add_wrong_arguments(optimize "OPTIMIZE is 'fast'. allowed: 0, 1, 2, 3, s, z" ${some} OPTIMIZE fast)
ladon_add_wrong_arguments(initial_memory "INITIAL_MEMORY is '64K'. allowed: an integer above 0" ${some} INITIAL_MEMORY 64K)
ladon_add_wrong_arguments(rotary_short "ROTARY has 4 positions. allowed: at least one for each query and key"
  ${some} ROTARY halves 8 4)
ladon_add_wrong_arguments(rotary_before "with more queries than keys the first have none"
  one QUERIES 8 KEYS 4 MODEL 16 HEADS 2 CONTEXT ROTARY halves 8 64)
ladon_add_wrong_arguments(cache_small "QUERIES is 8 and KEYS 4. a cache has room for KEYS tokens"
  one QUERIES 8 KEYS 4 MODEL 16 HEADS 2 CACHE)
ladon_add_wrong_arguments(size_huge "QUERIES is '99999999999999999999'. allowed: an integer above 0, of at most nine"
  one QUERIES 99999999999999999999 MODEL 16 HEADS 2)
ladon_add_wrong_arguments(rotary_odd "ROTARY's width is 3. allowed: an even number of the 8 features"
  ${some} ROTARY halves 3 64)
ladon_add_wrong_arguments(rotary_wide "ROTARY's width is 10. allowed: an even number of the 8 features"
  ${some} ROTARY halves 10 64)
ladon_add_wrong_arguments(rotary "ROTARY is 'halves 8'. allowed: halves.neighbours <n> <n>" ${some} ROTARY halves 8)
ladon_add_wrong_arguments(rotary_pairing "ROTARY is 'pairs 8 64'. allowed: halves.neighbours <n> <n>" ${some} ROTARY pairs 8 64)
ladon_add_wrong_arguments(activation "ACTIVATION is 'swish'. allowed: relu, gelu, gelu_tanh, silu"
  ${some} FEED_FORWARD 8 ACTIVATION swish)
ladon_add_wrong_arguments(activation_alone "ACTIVATION needs FEED_FORWARD" ${some} ACTIVATION gelu)
ladon_add_wrong_arguments(gated_alone "GATED needs FEED_FORWARD" ${some} GATED)
ladon_add_wrong_arguments(norm_bias "NORM_BIAS needs NORM_KIND layer"
  ${some} FEED_FORWARD 8 NORM_KIND rms NORM_BIAS without)
ladon_add_wrong_arguments(layers_alone "LAYERS needs FEED_FORWARD" ${some} LAYERS 2)
ladon_add_wrong_arguments(layer_kinds_alone "LAYER_KINDS needs LAYERS" ${some} FEED_FORWARD 8 LAYER_KINDS 2 0)
ladon_add_wrong_arguments(layer_kinds "LAYER_KINDS is 'two'. allowed" ${some} FEED_FORWARD 8 LAYERS 2 LAYER_KINDS two)
ladon_add_wrong_arguments(kind_of_layer "KIND_OF_LAYER needs LAYER_KINDS" ${some} FEED_FORWARD 8 LAYERS 2 KIND_OF_LAYER 0)
ladon_add_wrong_arguments(final_norm "FINAL_NORM needs LAYERS" ${some} FEED_FORWARD 8 FINAL_NORM)
ladon_add_wrong_arguments(layer_context "FEED_FORWARD needs no CONTEXT" ${some} FEED_FORWARD 8 CONTEXT)
ladon_add_wrong_arguments(keys "KEYS is 9 and QUERIES 8. they may differ with CONTEXT" ${some} KEYS 9)
ladon_add_wrong_arguments(key_model "KEY_MODEL needs CONTEXT" ${some} KEY_MODEL 4 VALUE_MODEL 4 LAYOUT in_out)
ladon_add_wrong_arguments(precision_without_cache "CACHE_PRECISION needs CACHE" ${some} CACHE_PRECISION int8)
ladon_add_wrong_arguments(cache_precision "CACHE_PRECISION is 'int4'. allowed: float32, bfloat16, int8"
  ${some} CACHE CACHE_PRECISION int4)
ladon_add_wrong_arguments(two_contexts "CONTEXT CACHE" ${some} CONTEXT KEY_MODEL 4 LAYOUT in_out)
ladon_add_wrong_arguments(cache_offset "no other offset is allowed" ${some} CACHE MASK causal OFFSET 1)
ladon_add_wrong_arguments(capture "CAPTURE is 'everything'. allowed: weights, none, scaled, capped, masked"
  ${some} CAPTURE everything)
ladon_add_wrong_arguments(tensors_alone "TENSORS needs WEIGHTS" ${some} TENSORS a.weight)
ladon_add_wrong_arguments(check_alone "CHECK needs WEIGHTS" ${some} CHECK s.safetensors)
ladon_add_wrong_arguments(check_cache "CHECK needs no CACHE" ${some} CACHE WEIGHTS m.safetensors CHECK s.safetensors)
ladon_add_wrong_arguments(tolerance_alone "TOLERANCE needs CHECK" ${some} WEIGHTS m.safetensors TOLERANCE 1e-4)
ladon_add_wrong_arguments(memory_alone "MEMORY needs FEED_FORWARD" ${some} MEMORY 4)
ladon_add_wrong_arguments(memory "MEMORY is '0'. allowed: an integer above 0" ${some} FEED_FORWARD 8 MEMORY 0)
ladon_add_wrong_arguments(memory_mask_alone "MEMORY_MASK needs MEMORY" ${some} FEED_FORWARD 8 MEMORY_MASK padding)
ladon_add_wrong_arguments(memory_mask "MEMORY_MASK is 'paddin'. allowed: none, padding, boolean"
  ${some} FEED_FORWARD 8 MEMORY 4 MEMORY_MASK paddin)
ladon_add_wrong_arguments(memory_mask_position
  "MEMORY_MASK is 'causal'. allowed: none, padding, boolean"
  ${some} FEED_FORWARD 8 MEMORY 4 MEMORY_MASK causal)
ladon_add_wrong_arguments(memory_mask_twice "MEMORY_MASK is .additive.additive_per_head.. allowed: each kind of mask once"
  ${some} FEED_FORWARD 8 MEMORY 4 MEMORY_MASK additive additive_per_head)
ladon_add_wrong_arguments(memory_mask_none "MEMORY_MASK none stands alone"
  ${some} FEED_FORWARD 8 MEMORY 4 MEMORY_MASK padding none)
ladon_add_wrong_arguments(memory_context "FEED_FORWARD needs no CONTEXT" ${some} FEED_FORWARD 8 MEMORY 4 CONTEXT)
ladon_add_wrong_arguments(memory_keys "KEYS is 9 and QUERIES 8. they may differ with CONTEXT"
  ${some} FEED_FORWARD 8 MEMORY 4 KEYS 9)
ladon_add_wrong_arguments(memory_per_head "with PRECISION int8, whose weights are .out, in., allowed: in_proj"
  ${some} FEED_FORWARD 8 MEMORY 4 LAYOUT per_head PRECISION int8)
ladon_add_wrong_arguments(projections "PROJECTIONS is 'none'. allowed: with, without" ${some} PROJECTIONS none)
foreach(other "CONTEXT" "CACHE" "FEED_FORWARD 8" "LAYOUT in_proj" "BIAS none" "PRECISION float32" "WEIGHTS a")
  separate_arguments(other)
  list(GET other 0 argument)
  string(TOLOWER ${argument} name)
  ladon_add_wrong_arguments(projections_${name} "${argument} needs PROJECTIONS with"
    ${some} PROJECTIONS without ${other})
endforeach()
ladon_add_wrong_arguments(projections_rotary "with more queries than keys the first have none"
  one QUERIES 8 KEYS 4 MODEL 16 HEADS 2 PROJECTIONS without ROTARY halves 8 64)
set(definitions -DCMAKE_CXX_BYTE_ORDER=BIG_ENDIAN)
ladon_add_wrong_arguments(weights_big_endian "WEIGHTS stores little-endian numbers, which a big-endian machine cannot use"
  ${some} WEIGHTS ${CMAKE_CURRENT_LIST_FILE} PREFIX a)
set(definitions "-DCMAKE_OSX_ARCHITECTURES=arm64$<SEMICOLON>x86_64")
ladon_add_wrong_arguments(architectures "allowed: one architecture. Build the library for each architecture" ${some})
unset(definitions)
ladon_add_wrong_arguments(argument_checks "ARGUMENT_CHECKS is 'off'. allowed: ON, OFF" ${some} ARGUMENT_CHECKS off)
ladon_add_wrong_arguments(dispatch "DISPATCH is for x86-64" ${some} DISPATCH)
ladon_add_wrong_arguments(dispatch_arch "ARCH needs no DISPATCH" ${some} DISPATCH ARCH avx2)
ladon_add_wrong_arguments(weights_prefix "PREFIX needs WEIGHTS" ${some} PREFIX a)
ladon_add_wrong_arguments(new_line "a control character, such as a new line, a backslash or .<. allowed: none"
  ${some} WEIGHTS model.safetensors PREFIX "a\nint b")
ladon_add_wrong_arguments(backslash "a backslash or .<. allowed: none of these. folders are separated by /"
  ${some} WEIGHTS "folder\\\\model.safetensors" PREFIX a)
ladon_add_wrong_arguments(generator_expression "a backslash or .<. allowed: none"
  ${some} WEIGHTS "model$<1:$><1:x>.safetensors" PREFIX a)
ladon_add_wrong_arguments(comment_end "written into a comment. allowed: no /[*] and no [*]/"
  ${some} WEIGHTS model.safetensors PREFIX "*/ int b /*")
ladon_add_wrong_arguments(variable "no word between two @" ${some} WEIGHTS model.safetensors PREFIX "a@NAME@b")
ladon_add_wrong_arguments(weights_layout "WEIGHTS needs LAYOUT in_proj.separate_qkv"
  ${some} LAYOUT per_head WEIGHTS model.safetensors PREFIX a)
