# SPDX-License-Identifier: Apache-2.0
# Reads, completes and checks the arguments of ladon_add_kernel. A wrong argument stops CMake with a message that names
# the allowed values. The compiler checks the rules that CMake cannot check (ladon/shape.hpp).

# ladon_kernel_vocabulary(): sets variables such as ladon_kernel_flags to the names of the arguments, and
# ladon_kernel_<ARGUMENT> to the values that <ARGUMENT> allows. ladon_kernel_vocabulary is a macro, so it sets the
# variables in its caller. Variables of this file would not do, because they do not exist if the caller is called from
# another folder.
macro(ladon_kernel_vocabulary)
  set(ladon_kernel_flags CONTEXT SINKS GATED FINAL_NORM CACHE DISPATCH DETERMINISTIC CHECKED ROTATED)
  set(ladon_kernel_shape QUERIES KEYS MODEL HEADS KV_HEADS HEAD_WIDTH VALUE_WIDTH KEY_MODEL VALUE_MODEL)
  set(ladon_kernel_sizes ${ladon_kernel_shape} FEED_FORWARD LAYERS MEMORY)
  set(ladon_kernel_choices PROJECTIONS LAYOUT BIAS PRECISION ACTIVATION_BITS CACHE_PRECISION ACTIVATION NORM NORM_KIND
    NORM_BIAS FEED_FORWARD_BIAS CAPTURE ARGUMENT_CHECKS)
  set(ladon_kernel_values OFFSET SCALE SOFTCAP EPSILON KEY_BLOCK ARCH OPTIMIZE WEIGHTS PREFIX)
  set(ladon_kernel_lists MASK WINDOW MEMORY_MASK ROTARY)

  # The first value of each ladon_kernel_<ARGUMENT> is the default of the argument.
  set(ladon_kernel_PROJECTIONS with without)
  set(ladon_kernel_LAYOUT in_proj separate_qkv per_head in_out)
  set(ladon_kernel_BIAS all projections output none)
  set(ladon_kernel_PRECISION float32 bfloat16 int8)
  set(ladon_kernel_ACTIVATION_BITS 8 7)
  set(ladon_kernel_CACHE_PRECISION float32 bfloat16 int8)
  set(ladon_kernel_ACTIVATION relu gelu gelu_tanh silu)
  set(ladon_kernel_NORM post pre)
  set(ladon_kernel_NORM_KIND layer rms)
  set(ladon_kernel_NORM_BIAS with without)
  set(ladon_kernel_FEED_FORWARD_BIAS with without)
  set(ladon_kernel_CAPTURE weights none scaled capped masked)
  set(ladon_kernel_ARGUMENT_CHECKS ON OFF)
  set(ladon_kernel_ROTARY halves neighbours)
  ladon_kernel_mask_names()
endmacro()

# ladon_kernel_mask_names(): reads the names of the mask structs in src/c_kernel/masks.hpp. Sets ladon_kernel_MASK to
# the names of all masks. Sets ladon_kernel_moved_masks to the masks whose offset can be an option of each call (OFFSET
# run_time), and ladon_kernel_placed_masks to the masks whose offset can be a constant (OFFSET <n>).
function(ladon_kernel_mask_names)
  set(kinds MASK moved_masks placed_masks)
  set(bases "" "With(Fixed)?Offset" WithFixedOffset)
  foreach(names base IN ZIP_LISTS kinds bases)
    file(STRINGS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../src/c_kernel/masks.hpp masks REGEX "^struct [a-z0-9_]+ : ${base}")
    list(TRANSFORM masks REPLACE "struct ([a-z0-9_]+) .*" "\\1")
    set(ladon_kernel_${names} ${masks} PARENT_SCOPE)
  endforeach()
endfunction()

# ladon_kernel_truth(<variable> <condition of if()>...): sets <variable> to the C++ keyword `true` if the condition
# holds, otherwise to `false`
function(ladon_kernel_truth out)
  set(${out} false PARENT_SCOPE)
  if(${ARGN})
    set(${out} true PARENT_SCOPE)
  endif()
endfunction()

# ladon_kernel_value(<variable> <argument> <default>): sets <variable> to the value of <argument>, or to <default> if
# <argument> is not given
macro(ladon_kernel_value out argument default)
  set(${out} ${default})
  if(DEFINED arg_${argument})
    set(${out} ${arg_${argument}})
  endif()
endmacro()

# ladon_kernel_refuse(<message> <condition of if()>...): stops with the message if the condition holds. If a word of the
# condition is the name of a variable, if() replaces the word by the variable's value. if() does not replace the regular
# expression after MATCHES. Callers therefore use MATCHES instead of STREQUAL.
function(ladon_kernel_refuse message)
  if(${ARGN})
    message(FATAL_ERROR "ladon_add_kernel(${NAME}): ${message}")
  endif()
endfunction()

# ladon_kernel_needs(<needed> <reason> <argument>...): refuses each <argument> that is given, if the argument <needed>
# is not given
function(ladon_kernel_needs needed reason)
  foreach(argument IN LISTS ARGN)
    ladon_kernel_refuse("${argument} needs ${needed}: ${reason}" ${argument}_given AND NOT ${needed}_given)
  endforeach()
endfunction()

# ladon_kernel_limit(<argument> <list> <cause> <condition of if()>...): if the condition holds, refuses every value of
# <argument> that the variable <list> does not contain. <cause> is the reason, such as "PRECISION int8".
function(ladon_kernel_limit argument values with)
  list(JOIN ${values} ", " allowed)
  ladon_kernel_refuse("${argument} is ${arg_${argument}}; with ${with} allowed: ${allowed}"
    (${ARGN}) AND NOT arg_${argument} IN_LIST ${values})
endfunction()

function(ladon_kernel_check_one argument value)
  list(JOIN ladon_kernel_${argument} ", " allowed)
  ladon_kernel_refuse("${argument} is '${value}'; allowed: ${allowed}" NOT value IN_LIST ladon_kernel_${argument})
endfunction()

# ladon_kernel_check_number(<argument> <value> <kind> [<text>]): refuses <value> if it is not a number of <kind>. If the
# argument also allows words, such as `run_time`, the caller checks for them, and names them in <text>, the message's end.
function(ladon_kernel_check_number argument value kind)
  set(exponent "([eE][-+]?[0-9]+)?$")
  set(integer "^(0|-?[1-9][0-9]*)$") # no leading zeros, because 010 is 8 in C++
  set(size "^[1-9][0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?$")
  set(number "^-?(0|[1-9][0-9]*)([.][0-9]*)?${exponent}")
  set(positive "^[1-9][0-9]*([.][0-9]*)?${exponent}|^0[.]0*[1-9][0-9]*${exponent}")
  set(integer_is "an integer")
  set(size_is "an integer above 0, of at most nine digits")
  set(number_is "a number")
  set(positive_is "a number above 0")
  ladon_kernel_refuse("${argument} is '${value}'; allowed: ${${kind}_is}${ARGN}" NOT value MATCHES "${${kind}}")
endfunction()

# The arguments of ladon_add_kernel become part of comments, strings and build rules. ladon_kernel_check_text and
# ladon_kernel_check_written reject arguments that would change the meaning of the surrounding text, or that CMake or
# ninja cannot quote. For example, CMake would take $< as the beginning of a generator expression.
function(ladon_kernel_check_text)
  string(ASCII 1 first)
  string(ASCII 31 last)
  ladon_kernel_refuse("an argument has a control character, such as a new line, a backslash or $<; allowed: none of \
these; folders are separated by /" given_arguments MATCHES "[${first}-${last}\\]|[$]<")
endfunction()

# Checks ARGUMENTS, a text with all arguments. CMake writes this text into a comment of NAME.h, and into the description
# of a WebAssembly module.
function(ladon_kernel_check_written)
  ladon_kernel_refuse("the arguments '${ARGUMENTS}' are written into a comment; allowed: no /* and no */"
    ARGUMENTS MATCHES "/[*]|[*]/")
  ladon_kernel_refuse("the arguments '${ARGUMENTS}' are written by configure_file(); allowed: no word between two @"
    ARGUMENTS MATCHES "@[^ @]+@")
endfunction()

# ladon_kernel_assembler_string(<variable> <path>): sets <variable> to <path> with two levels of escapes, because <path>
# becomes a string of the assembler inside a string of C++
function(ladon_kernel_assembler_string out path)
  foreach(language assembler c++)
    string(REGEX REPLACE "([\"\\])" "\\\\\\1" path "${path}")
  endforeach()
  set(${out} "${path}" PARENT_SCOPE)
endfunction()

# ladon_kernel_read_arguments(): reads the arguments of ladon_add_kernel from the variable given_arguments. Sets
# arg_<ARGUMENT> for every given argument and for every choice, S_<size> for the sizes of the shape, and
# <ARGUMENT>_given. A macro without parameters, because CMake would evaluate the values of parameters a second time.
macro(ladon_kernel_read_arguments)
  ladon_kernel_check_text()
  ladon_kernel_vocabulary()
  cmake_parse_arguments(arg "${ladon_kernel_flags}"
    "${ladon_kernel_sizes};${ladon_kernel_choices};${ladon_kernel_values}" "${ladon_kernel_lists}" ${given_arguments})
  foreach(argument IN LISTS ladon_kernel_flags)
    set(${argument}_given ${arg_${argument}})
  endforeach()
  foreach(argument IN LISTS ladon_kernel_sizes ladon_kernel_choices ladon_kernel_values ladon_kernel_lists)
    ladon_kernel_truth(${argument}_given DEFINED arg_${argument})
  endforeach()
  ladon_kernel_check_words()
  ladon_kernel_needs(FEED_FORWARD "only an encoder or decoder layer has it"
    LAYERS MEMORY ACTIVATION NORM NORM_KIND NORM_BIAS FEED_FORWARD_BIAS GATED EPSILON)
  ladon_kernel_needs(MEMORY "only a decoder layer has it" MEMORY_MASK)
  ladon_kernel_needs(LAYERS "only a stack has it" FINAL_NORM)
  ladon_kernel_needs(WEIGHTS "the file that has the tensors" PREFIX)
  ladon_kernel_needs(CACHE "the precision is that of the keys and values in the cache" CACHE_PRECISION)
  foreach(choice IN LISTS ladon_kernel_choices)
    if(${choice}_given)
      ladon_kernel_check_one(${choice} "${arg_${choice}}")
    else()
      list(GET ladon_kernel_${choice} 0 arg_${choice})
    endif()
  endforeach()
  if(MEMORY_given AND NOT MASK_given)
    set(arg_MASK causal)
  endif()
  if(CACHE_given AND FEED_FORWARD_given AND NOT CAPTURE_given)
    set(arg_CAPTURE none)
  endif()
  ladon_kernel_check_projections()
  ladon_kernel_complete_shape()
  ladon_kernel_check_shape()
  ladon_kernel_check_mask()
  ladon_kernel_check_score()
  ladon_kernel_check_choices()
  ladon_kernel_check_build()
endmacro()

function(ladon_kernel_check_words)
  list(JOIN ladon_kernel_flags ", " flags)
  set(with_values ${ladon_kernel_sizes} ${ladon_kernel_choices} ${ladon_kernel_values} ${ladon_kernel_lists})
  list(JOIN with_values ", " with_values)
  list(JOIN arg_UNPARSED_ARGUMENTS " " unknown)
  ladon_kernel_refuse("'${unknown}' is unknown; allowed: ${with_values}, each with a value, and ${flags}"
    DEFINED arg_UNPARSED_ARGUMENTS)
  ladon_kernel_refuse("no value is given for ${arg_KEYWORDS_MISSING_VALUES}" DEFINED arg_KEYWORDS_MISSING_VALUES)
  foreach(argument IN LISTS ladon_kernel_sizes ITEMS KEY_BLOCK SOFTCAP EPSILON)
    set(kind size)
    if(argument MATCHES "^(SOFTCAP|EPSILON)$")
      set(kind positive)
    endif()
    if(${argument}_given)
      ladon_kernel_check_number(${argument} "${arg_${argument}}" ${kind})
    endif()
  endforeach()
  foreach(size QUERIES MODEL)
    ladon_kernel_refuse("${size} is missing; QUERIES and MODEL are needed" NOT ${size}_given)
  endforeach()
endfunction()

# Sets S_<size>, such as S_KEYS, to the size that the user has given, or to the default of ladon::Shape. Later checks
# and their messages use these variables.
macro(ladon_kernel_complete_shape)
  ladon_kernel_value(S_QUERIES QUERIES 0)
  ladon_kernel_value(S_KEYS KEYS ${S_QUERIES})
  ladon_kernel_value(S_MODEL MODEL 0)
  ladon_kernel_value(S_HEADS HEADS 1)
  ladon_kernel_value(S_KV_HEADS KV_HEADS ${S_HEADS})
  math(EXPR width "${S_MODEL} / ${S_HEADS}")
  ladon_kernel_value(S_HEAD_WIDTH HEAD_WIDTH ${width})
  ladon_kernel_value(S_KEY_MODEL KEY_MODEL ${S_MODEL})
  ladon_kernel_value(S_VALUE_MODEL VALUE_MODEL ${S_MODEL})
  ladon_kernel_truth(other_widths NOT (S_KEY_MODEL EQUAL S_MODEL AND S_VALUE_MODEL EQUAL S_MODEL))
endmacro()

# Refuses each argument that attention without projections does not have.
function(ladon_kernel_check_projections)
  foreach(argument CONTEXT CACHE FEED_FORWARD KEY_MODEL VALUE_MODEL LAYOUT BIAS PRECISION ACTIVATION_BITS WEIGHTS)
    ladon_kernel_refuse("${argument} is given; with PROJECTIONS without, the caller gives queries, keys and values, so \
allowed: no ${argument}" ${argument}_given AND arg_PROJECTIONS MATCHES "^without$")
  endforeach()
endfunction()

function(ladon_kernel_check_shape)
  math(EXPR rest "${S_MODEL} % ${S_HEADS}")
  ladon_kernel_refuse("HEADS is ${S_HEADS} and MODEL ${S_MODEL}; allowed: HEADS that divide MODEL, or a HEAD_WIDTH"
    NOT arg_HEAD_WIDTH AND rest)
  math(EXPR rest "${S_HEADS} % ${S_KV_HEADS}")
  ladon_kernel_refuse("KV_HEADS is ${S_KV_HEADS} and HEADS ${S_HEADS}; allowed: KV_HEADS that divide HEADS" rest)
  ladon_kernel_refuse("KEYS is ${S_KEYS} and QUERIES ${S_QUERIES}; they may differ with CONTEXT (keys from other tokens), \
CACHE (KEYS is its capacity) or PROJECTIONS without (the caller gives the keys)"
    NOT arg_CONTEXT AND NOT arg_CACHE AND NOT arg_PROJECTIONS MATCHES "^without$" AND NOT S_KEYS EQUAL S_QUERIES)
  ladon_kernel_refuse("QUERIES is ${S_QUERIES} and KEYS ${S_KEYS}; a cache has room for KEYS tokens, so allowed: at \
most KEYS queries" arg_CACHE AND NOT arg_CONTEXT AND S_QUERIES GREATER S_KEYS)
  ladon_kernel_refuse("KEY_MODEL and VALUE_MODEL are widths of the tokens of a context, so they need CONTEXT"
    NOT arg_CONTEXT AND other_widths)
  ladon_kernel_refuse("KEY_MODEL is ${S_KEY_MODEL} and VALUE_MODEL ${S_VALUE_MODEL}; allowed: equal widths, or, \
if keys and values come from different tokens, CONTEXT CACHE"
    NOT S_KEY_MODEL EQUAL S_VALUE_MODEL AND NOT arg_CACHE)
  ladon_kernel_refuse("an encoder layer attends to itself: with FEED_FORWARD allowed: no CONTEXT, KEY_MODEL, \
VALUE_MODEL; MEMORY makes a decoder layer, which also attends to the output of an encoder"
    arg_FEED_FORWARD AND (arg_CONTEXT OR other_widths))
endfunction()

# Checks that LAYOUT, ACTIVATION_BITS, ROTATED and NORM_BIAS fit the other arguments.
function(ladon_kernel_check_choices)
  set(out_in in_proj separate_qkv)
  set(of_two_widths separate_qkv per_head in_out)
  ladon_kernel_limit(LAYOUT out_in "PRECISION ${arg_PRECISION}, whose weights are (out, in),"
    NOT arg_PRECISION MATCHES "^float32$")
  ladon_kernel_limit(LAYOUT out_in "WEIGHTS, whose tensors are (out, in)," DEFINED arg_WEIGHTS)
  ladon_kernel_limit(LAYOUT of_two_widths "KEY_MODEL or VALUE_MODEL, tokens of another width," other_widths)
  ladon_kernel_refuse("ACTIVATION_BITS needs PRECISION int8: with ${arg_PRECISION} weights activations are not quantised"
    ACTIVATION_BITS_given AND NOT arg_PRECISION MATCHES "^int8$")
  ladon_kernel_refuse("ROTATED needs PRECISION int8: only int8 weights are rotated"
    arg_ROTATED AND NOT arg_PRECISION MATCHES "^int8$")
  ladon_kernel_refuse("NORM_BIAS is given; allowed with NORM_KIND layer only, because RMSNorm has no bias"
    NORM_BIAS_given AND arg_NORM_KIND MATCHES "^rms$")
endfunction()

# ladon_kernel_check_mask_list(<argument>): checks the masks of <argument>, which is MASK or MEMORY_MASK
function(ladon_kernel_check_mask_list argument)
  set(kinds "")
  foreach(mask IN LISTS arg_${argument})
    list(JOIN ladon_kernel_MASK ", " allowed)
    ladon_kernel_refuse("${argument} is '${mask}'; allowed: ${allowed}" NOT mask IN_LIST ladon_kernel_MASK)
    string(REPLACE "_per_head" "" kind ${mask})
    ladon_kernel_refuse("${argument} names ${kind} twice; allowed: each kind once" kind IN_LIST kinds)
    list(APPEND kinds ${kind})
  endforeach()
  list(LENGTH kinds count)
  ladon_kernel_refuse("${argument} none stands alone" none IN_LIST kinds AND count GREATER 1)
endfunction()

function(ladon_kernel_check_mask)
  ladon_kernel_check_mask_list(MASK)
  ladon_kernel_check_mask_list(MEMORY_MASK)
  set(still ${ladon_kernel_MASK})
  list(REMOVE_ITEM still ${ladon_kernel_moved_masks})
  list(JOIN still ", " allowed)
  foreach(mask IN LISTS arg_MEMORY_MASK)
    ladon_kernel_refuse("MEMORY_MASK is ${mask}, which compares positions, but tokens of the memory are not tokens of \
the text; allowed: ${allowed}" mask IN_LIST ladon_kernel_moved_masks)
  endforeach()
  ladon_kernel_refuse("MASK names causal and window; a window that ends at the query is causal: WINDOW <left> 0"
    causal IN_LIST arg_MASK AND window IN_LIST arg_MASK)
  ladon_kernel_refuse("WINDOW is given; allowed with MASK window only"
    DEFINED arg_WINDOW AND NOT window IN_LIST arg_MASK)
  string(REGEX MATCH "^(all|0|[1-9][0-9]*);(all|0|[1-9][0-9]*)$" sides "${arg_WINDOW}")
  ladon_kernel_refuse("WINDOW is '${arg_WINDOW}'; MASK window needs WINDOW <left> <right>; allowed for each side: a number \
of keys, or all" window IN_LIST arg_MASK AND NOT sides)
  if(DEFINED arg_OFFSET)
    if(NOT arg_OFFSET STREQUAL "run_time")
      ladon_kernel_check_number(OFFSET "${arg_OFFSET}" integer ", or run_time")
    endif()
    set(moved ${arg_MASK})
    list(REMOVE_ITEM moved ${still})
    foreach(mask IN LISTS moved)
      ladon_kernel_refuse("OFFSET is ${arg_OFFSET}; with MASK ${mask} allowed: run_time"
        NOT arg_OFFSET MATCHES "^run_time$" AND NOT mask IN_LIST ladon_kernel_placed_masks)
    endforeach()
    list(JOIN ladon_kernel_moved_masks ", " masks)
    ladon_kernel_refuse("OFFSET is given; allowed with the masks ${masks} only" NOT moved)
    ladon_kernel_refuse("OFFSET is given; with CACHE, a new token follows the tokens in the cache, and no other offset is \
allowed" arg_CACHE AND NOT arg_CONTEXT)
  endif()
endfunction()

function(ladon_kernel_check_score)
  if(DEFINED arg_SCALE AND NOT arg_SCALE MATCHES "^by_(keys|model)$")
    ladon_kernel_check_number(SCALE "${arg_SCALE}" number ", by_keys for 1 / sqrt(keys), by_model for 1 / sqrt(model)")
  endif()
  if(DEFINED arg_ROTARY)
    list(LENGTH arg_ROTARY count)
    ladon_kernel_refuse("ROTARY is '${arg_ROTARY}'; allowed: ROTARY halves|neighbours <width> <positions>"
      NOT count EQUAL 3)
    list(GET arg_ROTARY 0 pairing)
    list(GET arg_ROTARY 1 width)
    list(GET arg_ROTARY 2 positions)
    ladon_kernel_check_one(ROTARY ${pairing})
    ladon_kernel_check_number("ROTARY's width" "${width}" size)
    ladon_kernel_check_number("ROTARY's positions" "${positions}" size)
    math(EXPR odd "${width} % 2")
    ladon_kernel_refuse("ROTARY's width is ${width}; allowed: an even number of the ${S_HEAD_WIDTH} features of a head"
      odd OR width GREATER S_HEAD_WIDTH)
    ladon_kernel_refuse("ROTARY has ${positions} positions; allowed: at least one for each query and key"
      positions LESS S_QUERIES OR (positions LESS S_KEYS AND NOT arg_CACHE))
    ladon_kernel_refuse("ROTARY puts query i at position i + KEYS - QUERIES; with more queries than keys the first have none"
      (arg_CONTEXT OR arg_PROJECTIONS MATCHES "^without$") AND S_QUERIES GREATER S_KEYS)
  endif()
endfunction()

# ladon_kernel_isas(<variable>): sets <variable> to the instruction sets for which DISPATCH compiles the kernel. With
# int8 weights, AVX512_BF16 accelerates only attention, and only if attention computes with bfloat16 numbers
# (attends_in_pairs in ladon/detail/attention/heads.hpp). With DETERMINISTIC, with CACHE or with a single
# query, attention never computes with bfloat16 numbers. int8 libraries of such kernels therefore omit AVX512_BF16.
function(ladon_kernel_isas out)
  ladon_kernel_truth(pairs NOT arg_DETERMINISTIC AND NOT arg_CACHE AND S_QUERIES GREATER 1)
  ladon_dispatched_isas(isas ${arg_PRECISION} ${pairs})
  set(${out} ${isas} PARENT_SCOPE)
endfunction()

function(ladon_kernel_check_build)
  ladon_kernel_isas(dispatched)
  ladon_kernel_value(key_block KEY_BLOCK 256)
  math(EXPR rest "${key_block} % 32")
  ladon_kernel_refuse("KEY_BLOCK is ${key_block}; allowed: a multiple of 32" rest)
  ladon_kernel_refuse("KEY_BLOCK is ${key_block}; with DETERMINISTIC allowed: 256"
    arg_DETERMINISTIC AND NOT key_block EQUAL 256)
  ladon_kernel_refuse("PRECISION is bfloat16; modules of WebAssembly have float32 or int8 weights, so allowed: float32, \
int8, or the library alone, by LADON_WASM_MODULES=OFF"
    arg_PRECISION MATCHES "^bfloat16$" AND EMSCRIPTEN AND LADON_WASM_MODULES)
  ladon_kernel_refuse("modules of WebAssembly have neither decoders (MEMORY) nor attention without projections \
(PROJECTIONS without); allowed: the library alone, by LADON_WASM_MODULES=OFF"
    (arg_MEMORY OR arg_PROJECTIONS MATCHES "^without$") AND EMSCRIPTEN AND LADON_WASM_MODULES)
  ladon_kernel_refuse("PRECISION is bfloat16, whose instructions flush subnormals to zero; with DETERMINISTIC allowed: \
float32, int8" arg_PRECISION MATCHES "^bfloat16$" AND arg_DETERMINISTIC)
  ladon_kernel_refuse("OPTIMIZE is '${arg_OPTIMIZE}'; allowed: 0, 1, 2, 3, s, z"
    DEFINED arg_OPTIMIZE AND NOT arg_OPTIMIZE MATCHES "^[0123sz]$")
  ladon_kernel_refuse("DISPATCH and ARCH are for processors; for WebAssembly, three modules are made, and a program \
loads the fastest module that its engine supports"
    EMSCRIPTEN AND (arg_DISPATCH OR (DEFINED arg_ARCH AND NOT arg_ARCH MATCHES "^default$")))
  ladon_kernel_refuse("ARCH is given beside DISPATCH, which compiles for several instruction sets"
    arg_DISPATCH AND DEFINED arg_ARCH)
  ladon_kernel_refuse(
    "DISPATCH is for x86-64, and for 64-bit Arm with Linux, with a GNU objcopy (${CMAKE_SYSTEM_NAME} \
${CMAKE_SYSTEM_PROCESSOR} here)" arg_DISPATCH AND
    NOT (dispatched AND objects_can_be_local))
endfunction()
