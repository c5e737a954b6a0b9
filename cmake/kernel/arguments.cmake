# SPDX-License-Identifier: Apache-2.0
# Reads, completes and checks the arguments of ladon_add_kernel. A wrong argument stops CMake with a message that names
# the allowed values. The compiler checks the rules that CMake cannot check (ladon/shape.hpp).

# ladon_kernel_arguments(<names> <allowed> <needed> [<statement>]): adds arguments to the vocabulary
#   allowed      the values, such as "halves|neighbours <n> <n>". ladon_kernel_check_argument has the meaning of <n>.
#                "..." stands for more values. If the values are words, the first is the default. "": a flag
#   needed       the arguments without which the argument is refused: "PRECISION int8" needs this value of PRECISION,
#                and "no DISPATCH" excludes DISPATCH
#   statement    writes the argument into the ladon::Model of the kernel (ladon_kernel_definition). %0 is the name in
#                lower case, and %1, %2, ... are the values
macro(ladon_kernel_arguments names allowed needed)
  foreach(name IN ITEMS ${names})
    string(TOLOWER ${name} member)
    set(ladon_kernel_${name} "${allowed}")
    string(CONCAT ladon_kernel_${name}_needs "${needed}") # set() would read CACHE as its own word
    string(REPLACE %0 ${member} ladon_kernel_${name}_statement "${ARGN}")
    if(ladon_kernel_${name} MATCHES " |[.]$")
      list(APPEND ladon_kernel_lists ${name})
    elseif(ladon_kernel_${name})
      list(APPEND ladon_kernel_values ${name})
    else()
      list(APPEND ladon_kernel_flags ${name})
    endif()
  endforeach()
endmacro()

# ladon_kernel_vocabulary(): defines all arguments. Sets ladon_kernel_flags, ladon_kernel_values and ladon_kernel_lists
# to the names of the arguments with no value, one value and several values. A macro, because variables of this file do
# not exist if its caller is called from another folder.
macro(ladon_kernel_vocabulary)
  foreach(kind flags values lists)
    set(ladon_kernel_${kind} "")
  endforeach()
  ladon_kernel_arguments(QUERIES "<n>" "" "tokens = %1")
  ladon_kernel_arguments("KEYS;MODEL;HEADS;KV_HEADS;HEAD_WIDTH;VALUE_WIDTH" "<n>" "" "%0 = %1")
  ladon_kernel_arguments("KEY_MODEL;VALUE_MODEL" "<n>" "CONTEXT;LAYOUT separate_qkv|per_head|in_out" "%0 = %1")
  ladon_kernel_arguments(PROJECTIONS "with|without" "")
  ladon_kernel_arguments("CONTEXT;CACHE" "" "PROJECTIONS with")
  ladon_kernel_arguments(CACHE_PRECISION "float32|bfloat16|int8" CACHE "%0 = ladon::CachePrecision::%1")
  ladon_kernel_arguments(CAPTURE "weights|none|scaled|capped|masked" "")
  # The feed-forward network and the layers.
  ladon_kernel_arguments(FEED_FORWARD "<n>" "PROJECTIONS with;no CONTEXT" "%0 = %1")
  ladon_kernel_arguments("LAYERS;MEMORY" "<n>" FEED_FORWARD "%0 = %1")
  ladon_kernel_arguments(FINAL_NORM "" LAYERS "%0 = ladon::FinalNorm::with")
  ladon_kernel_arguments(ACTIVATION "relu|gelu|gelu_tanh|silu|quick_gelu|squared_relu|xielu" FEED_FORWARD
    "%0 = ladon::Activation::%1")
  ladon_kernel_arguments(NORM "post|pre|both|output" FEED_FORWARD "%0 = ladon::NormOrder::%1")
  ladon_kernel_arguments(RESIDUAL "sequential|parallel|parallel_one_norm" FEED_FORWARD "%0 = ladon::Residual::%1")
  ladon_kernel_arguments(RESIDUAL_SCALE "<positive>" FEED_FORWARD "%0 = static_cast<float>(%1)")
  ladon_kernel_arguments(LAYER_SCALE "" FEED_FORWARD "%0 = true")
  ladon_kernel_arguments(NORM_KIND "layer|rms" FEED_FORWARD "%0 = ladon::NormKind::%1")
  ladon_kernel_arguments(FEED_FORWARD_NORM_KIND "same|layer|rms" FEED_FORWARD "%0 = ladon::NormKind::%1")
  ladon_kernel_arguments(NORM_GAIN "weight|one_plus_weight" FEED_FORWARD "%0 = ladon::NormGain::%1")
  ladon_kernel_arguments(NORM_BIAS "with|without" "FEED_FORWARD;NORM_KIND layer" "%0 = ladon::Bias::%1")
  ladon_kernel_arguments(FEED_FORWARD_BIAS "with|without" FEED_FORWARD "bias = ladon::Bias::%1")
  ladon_kernel_arguments(GATED "" FEED_FORWARD "%0 = true")
  ladon_kernel_arguments(EPSILON "<positive>" "")
  # The mask, the score and the position encoding.
  set(masks padding|boolean|boolean_per_head|bits|additive|additive_per_head)
  ladon_kernel_arguments(MASK "none|causal|window|${masks}|alibi|relative..." "")
  ladon_kernel_arguments(MEMORY_MASK "none|${masks}..." MEMORY)
  ladon_kernel_arguments(WINDOW "all|0|<n> all|0|<n>" "MASK window" "mask.left = %1;\n  model.mask.right = %2")
  ladon_kernel_arguments(LAYER_BIAS "" "FEED_FORWARD;no MEMORY;no CACHE" "%0 = true")
  ladon_kernel_arguments(OFFSET "<integer>|run_time" "MASK causal|window|alibi")
  ladon_kernel_arguments(SCALE "<number>|by_keys|by_model" "")
  ladon_kernel_arguments(SOFTCAP "<positive>" "" "score.softcap = static_cast<float>(%1)")
  ladon_kernel_arguments(SINKS "" "" "score.sinks = true")
  ladon_kernel_arguments(ROTARY "halves|neighbours <n> <n>" "" "position.pairing = ladon::Pairing::%1;\n  model.position.width = %2;\n  model.position.positions = %3")
  ladon_kernel_arguments(LAYER_KINDS "unrotated|unnormed_attention|0|<n>..." LAYERS)
  ladon_kernel_arguments(KIND_OF_LAYER "0|<n>..." LAYER_KINDS)
  ladon_kernel_arguments(WINDOW_KEYS "<n>" "LAYER_KINDS;CACHE" "%0 = %1")
  ladon_kernel_arguments(QUERY_KEY_NORM "none|head|each_head|all" "PROJECTIONS with" "%0.over = ladon::HeadNorm::%1")
  set(normed "QUERY_KEY_NORM head|each_head")
  ladon_kernel_arguments(QUERY_KEY_NORM_KIND "rms|layer" "${normed}|all" "query_key_norm.kind = ladon::NormKind::%1")
  ladon_kernel_arguments(QUERY_KEY_NORM_BIAS "without|with" "QUERY_KEY_NORM_KIND layer"
    "query_key_norm.bias = ladon::Bias::%1")
  ladon_kernel_arguments(NORM_AFTER_ROTATION "" "${normed};ROTARY" "query_key_norm.after_rotation = true")
  # The weights.
  ladon_kernel_arguments(LAYOUT "in_proj|separate_qkv|per_head|in_out|in_proj_in_out" "PROJECTIONS with"
    "%0 = ladon::LayoutKind::%1")
  ladon_kernel_arguments(PROJECTION_BLOCKS "<n>" "LAYOUT in_proj|in_proj_in_out" "%0 = %1")
  ladon_kernel_arguments(VALUES_BEFORE_KEYS "" "LAYOUT in_proj|in_proj_in_out" "%0 = true")
  ladon_kernel_arguments(BIAS "all|projections|output|none" "PROJECTIONS with")
  ladon_kernel_arguments(PRECISION "float32|bfloat16|int8|int4" "PROJECTIONS with" "%0 = ladon::PrecisionKind::%1")
  ladon_kernel_arguments(ROTATED "" "PRECISION int8|int4")
  ladon_kernel_arguments(ACTIVATION_BITS "8|7" "PRECISION int8|int4" "%0 = %1")
  ladon_kernel_arguments(WEIGHTS "<text>" "PROJECTIONS with;LAYOUT in_proj|separate_qkv|in_out|in_proj_in_out")
  ladon_kernel_arguments(PREFIX "<text>" WEIGHTS)
  ladon_kernel_arguments(TENSORS "<text>..." WEIGHTS)
  ladon_kernel_arguments(CHECK "<text>" "WEIGHTS;no CACHE")
  ladon_kernel_arguments(TOLERANCE "<positive>" CHECK)
  # The code.
  ladon_kernel_arguments("DISPATCH;CHECKED" "" "")
  ladon_kernel_arguments(ARCH "<text>" "no DISPATCH")
  ladon_kernel_arguments(DETERMINISTIC "" "PRECISION float32|int8|int4;KEY_BLOCK 256")
  ladon_kernel_arguments(KEY_BLOCK "<n>" "")
  ladon_kernel_arguments(ARGUMENT_CHECKS "ON|OFF" "")
  ladon_kernel_arguments(OPTIMIZE "0|1|2|3|s|z" "")
  ladon_kernel_arguments(INITIAL_MEMORY "<n>" "")
  ladon_kernel_arguments(THREADS "" "no WEIGHTS;no INITIAL_MEMORY")
endmacro()

# ladon_kernel_truth(<variable> <condition of if()>...): sets <variable> to the C++ keyword `true` if the condition
# holds, otherwise to `false`
function(ladon_kernel_truth out)
  set(${out} false PARENT_SCOPE)
  if(${ARGN})
    set(${out} true PARENT_SCOPE)
  endif()
endfunction()

# Sets arg_<argument> to <value> if <argument> is not given.
macro(ladon_kernel_default argument value)
  if(NOT DEFINED arg_${argument})
    set(arg_${argument} ${value})
  endif()
endmacro()

# ladon_kernel_refuse(<message> <condition of if()>...): stops with the message if the condition holds. If a word of the
# condition is the name of a variable, if() replaces the word by the variable's value. if() does not replace the regular
# expression after MATCHES. Callers therefore use MATCHES instead of STREQUAL. The message begins with the function that
# the user called: ladon_add_model sets ladon_kernel_caller.
function(ladon_kernel_refuse message)
  if(${ARGN})
    if(NOT DEFINED ladon_kernel_caller)
      set(ladon_kernel_caller ladon_add_kernel)
    endif()
    message(FATAL_ERROR "${ladon_kernel_caller}(${NAME}): ${message}")
  endif()
endfunction()

# Stops if the project cannot compile a kernel. A script without a project only checks arguments.
function(ladon_kernel_check_project)
  ladon_kernel_refuse("a kernel is compiled as C++, and the program that uses it need not be; write project(... LANGUAGES C \
CXX)" NOT CMAKE_SCRIPT_MODE_FILE AND NOT CMAKE_CXX_COMPILER_LOADED)
  ladon_kernel_refuse("the headers of Ladon are missing; first write find_package(ladon CONFIG REQUIRED COMPONENTS kernel) or \
add_subdirectory(ladon)" NOT CMAKE_SCRIPT_MODE_FILE AND NOT TARGET ladon::ladon)
  # On Apple's systems, a library may have code for several processors. The sizes in its header are those of one of them.
  list(LENGTH CMAKE_OSX_ARCHITECTURES architectures)
  ladon_kernel_refuse("CMAKE_OSX_ARCHITECTURES is '${CMAKE_OSX_ARCHITECTURES}'; allowed: one architecture. Build the library \
for each architecture, and join the archives with lipo -create. Their headers have different sizes"
    architectures GREATER 1)
endfunction()

# Checks an argument by the vocabulary. The message has the allowed values as the vocabulary has them, but for a single
# value the meaning of <n>, <integer>, <positive> and <number>.
function(ladon_kernel_check_argument argument)
  list(JOIN arg_${argument} " " value)
  set(allowed "${ladon_kernel_${argument}}")
  string(REPLACE "|" ", " words "${allowed}")
  string(REGEX REPLACE "([^ ]+)" "(\\1)" pattern "${allowed}")
  string(REGEX REPLACE "(.+)[.][.][.][)]" "\\1)( \\1))*" pattern "${pattern}")
  set(names <n> <integer> <positive> <number> <text>)
  set(number "([1-9][0-9]*([.][0-9]*)?|0[.]0*[1-9][0-9]*)([eE][-+]?[0-9]+)?")
  set(patterns "[1-9][0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?" "0|-?[1-9][0-9]*" ${number} -?${number} .*)
  set(meanings "an integer above 0, of at most nine digits" "an integer" "a number above 0" "a number other than 0" text)
  foreach(name by meaning IN ZIP_LISTS names patterns meanings)
    string(REPLACE "${name}" "${by}" pattern "${pattern}")
    string(REPLACE "${name}" "${meaning}" words "${words}")
  endforeach()
  if(NOT allowed MATCHES " ")
    set(allowed "${words}")
  endif()
  ladon_kernel_refuse("${argument} is '${value}'; allowed: ${allowed}" allowed AND NOT value MATCHES "^${pattern}$")
  foreach(needed IN LISTS ladon_kernel_${argument}_needs)
    string(REGEX MATCH "^(no )?([A-Z_]+) ?(.*)" found "${needed}")
    set(found "${arg_${CMAKE_MATCH_2}}")
    if(CMAKE_MATCH_3)
      list(FILTER found INCLUDE REGEX "^(${CMAKE_MATCH_3})$")
    endif()
    ladon_kernel_refuse("${argument} needs ${needed}" (NOT found AND NOT CMAKE_MATCH_1) OR (found AND CMAKE_MATCH_1))
  endforeach()
endfunction()

# The arguments of ladon_add_kernel become part of comments, strings and build rules. Refuses arguments that would
# change the meaning of the text around them, or that CMake or ninja cannot quote. ARGUMENTS is the text that CMake
# writes into a comment of NAME.h and into the description of a WebAssembly module.
function(ladon_kernel_check_text)
  string(ASCII 1 first)
  string(ASCII 31 last)
  ladon_kernel_refuse("an argument has a control character, such as a new line, a backslash or $<; allowed: none of \
these; folders are separated by /" given_arguments MATCHES "[${first}-${last}\\]|[$]<")
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

# ladon_kernel_similar(<variable> <word> <name>...): sets <variable> to the first of the names that is one edit away from
# <word>, which is in capitals: a letter replaced, left out, added or swapped with the next one, and any number of _.
function(ladon_kernel_similar out word)
  set(${out} "" PARENT_SCOPE)
  string(REPLACE _ "" letters ${word})
  string(LENGTH ${letters} length)
  set(pattern ${letters})
  foreach(i RANGE ${length})
    string(SUBSTRING ${letters} 0 ${i} before)
    string(SUBSTRING ${letters} ${i} -1 behind)
    string(APPEND pattern "|${before}.${behind}")
    if(behind MATCHES "^.(.*)$")
      string(APPEND pattern "|${before}.?${CMAKE_MATCH_1}")
    endif()
    if(behind MATCHES "^(.)(.)(.*)$")
      string(APPEND pattern "|${before}${CMAKE_MATCH_2}${CMAKE_MATCH_1}${CMAKE_MATCH_3}")
    endif()
  endforeach()
  foreach(name IN LISTS ARGN)
    string(REPLACE _ "" bare ${name})
    if(bare MATCHES "^(${pattern})$")
      set(${out} ${name} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# ladon_kernel_guess(<variable> <unknown> <name>...): sets <variable> to what the first word of the list <unknown> probably
# means, as a clause of a message such as "; perhaps HEADS", or to no text. <name>... are the known arguments.
function(ladon_kernel_guess out unknown)
  list(APPEND unknown "" "") # so that there is a first word
  list(GET unknown 0 word)
  string(TOUPPER "${word}" upper)
  string(LENGTH "${upper}" length)
  set(guess "")
  if(word MATCHES "^([A-Za-z_]+)=(.+)$")
    string(TOUPPER ${CMAKE_MATCH_1} name)
    set(guess "; perhaps ${name} ${CMAKE_MATCH_2}, with a space")
  elseif(word MATCHES "/" AND FOLDER IN_LIST ARGN)
    set(guess "; perhaps FOLDER ${word}")
  elseif(upper MATCHES "^(ON|OFF|TRUE|FALSE|YES|NO)$")
    set(guess "; a flag has no value")
  elseif(upper MATCHES "^[A-Z0-9_]*[A-Z0-9][A-Z0-9_]*$" AND length LESS 40)
    ladon_kernel_similar(similar ${upper} ${ARGN})
    # A value without the name of its argument
    string(TOLOWER ${upper} lower)
    foreach(name MASK PRECISION LAYOUT ACTIVATION)
      string(REGEX MATCHALL "[a-z0-9_]+" values "${ladon_kernel_${name}}")
      if(NOT similar AND name IN_LIST ARGN AND lower IN_LIST values)
        set(similar "${name} ${lower}")
      endif()
    endforeach()
    # The number of tokens is called tokens in ladon::Model, and TOKENS in ladon_add_model.
    if(upper MATCHES "^TOKENS$" AND QUERIES IN_LIST ARGN)
      set(similar QUERIES)
    endif()
    if(similar)
      set(guess "; perhaps ${similar}")
    endif()
  endif()
  set(${out} "${guess}" PARENT_SCOPE)
endfunction()

# ladon_kernel_check_once(<name>...): stops if one of these arguments is given more than once. cmake_parse_arguments takes
# the last value.
function(ladon_kernel_check_once)
  foreach(argument IN LISTS ARGN)
    set(found "${given_arguments}") # without quotes, set() would read CACHE as its own word
    list(FILTER found INCLUDE REGEX "^${argument}$")
    list(LENGTH found count)
    ladon_kernel_refuse("${argument} is given ${count} times; allowed: once" count GREATER 1)
  endforeach()
endfunction()

# ladon_kernel_read_arguments(): reads the arguments of ladon_add_kernel from the variable given_arguments. Sets
# arg_<ARGUMENT> for every argument that is given or has a default, and <ARGUMENT>_given to true or false. A macro
# without parameters, because CMake would evaluate the values of parameters a second time.
macro(ladon_kernel_read_arguments)
  ladon_kernel_vocabulary()
  cmake_parse_arguments(arg "${ladon_kernel_flags}" "${ladon_kernel_values}" "${ladon_kernel_lists}" ${given_arguments})
  string(JOIN ", " flags ${ladon_kernel_flags})
  string(JOIN ", " others ${ladon_kernel_values} ${ladon_kernel_lists})
  list(JOIN arg_UNPARSED_ARGUMENTS " " unknown)
  ladon_kernel_guess(guess "${arg_UNPARSED_ARGUMENTS}" ${ladon_kernel_values} ${ladon_kernel_lists} ${ladon_kernel_flags})
  ladon_kernel_refuse("'${unknown}' is unknown${guess}; allowed: ${others}, each with a value, and ${flags}" unknown)
  ladon_kernel_check_once(${ladon_kernel_values})
  ladon_kernel_refuse("no value is given for ${arg_KEYWORDS_MISSING_VALUES}" DEFINED arg_KEYWORDS_MISSING_VALUES)
  foreach(size QUERIES MODEL HEADS)
    ladon_kernel_refuse("${size} is missing; QUERIES, MODEL and HEADS are needed" NOT DEFINED arg_${size})
  endforeach()
  foreach(argument IN LISTS ladon_kernel_flags)
    ladon_kernel_truth(${argument}_given arg_${argument})
  endforeach()
  foreach(argument IN LISTS ladon_kernel_values ladon_kernel_lists)
    ladon_kernel_truth(${argument}_given DEFINED arg_${argument})
    if(ladon_kernel_${argument} MATCHES "^([^<| ]+)[^< ]*$")
      ladon_kernel_default(${argument} ${CMAKE_MATCH_1})
    endif()
  endforeach()
  ladon_kernel_default(EPSILON 1e-5)
  ladon_kernel_default(KEY_BLOCK 256)
  foreach(argument IN LISTS ladon_kernel_values ladon_kernel_lists ladon_kernel_flags)
    if(${argument}_given)
      ladon_kernel_check_argument(${argument})
    endif()
  endforeach()
  if(MEMORY_given AND NOT MASK_given)
    set(arg_MASK causal)
  endif()
  if(CACHE_given AND FEED_FORWARD_given AND NOT CAPTURE_given)
    set(arg_CAPTURE none)
  endif()
  ladon_kernel_default(KEYS ${arg_QUERIES})
  ladon_kernel_default(KV_HEADS ${arg_HEADS})
  math(EXPR width "${arg_MODEL} / ${arg_HEADS}")
  ladon_kernel_default(HEAD_WIDTH ${width})
  ladon_kernel_default(KEY_MODEL ${arg_MODEL})
  ladon_kernel_default(VALUE_MODEL ${arg_MODEL})
  ladon_kernel_check_shape()
  ladon_kernel_check_mask()
  ladon_kernel_check_build()
endmacro()

# Checks the rules that relate sizes to each other, and the layout to the precision.
function(ladon_kernel_check_shape)
  math(EXPR rest "${arg_MODEL} % ${arg_HEADS}")
  ladon_kernel_refuse("HEADS is ${arg_HEADS} and MODEL ${arg_MODEL}; allowed: HEADS that divide MODEL, or a HEAD_WIDTH"
    NOT HEAD_WIDTH_given AND rest)
  math(EXPR rest "${arg_HEADS} % ${arg_KV_HEADS}")
  ladon_kernel_refuse("KV_HEADS is ${arg_KV_HEADS} and HEADS ${arg_HEADS}; allowed: KV_HEADS that divide HEADS" rest)
  ladon_kernel_refuse("EPSILON needs FEED_FORWARD or QUERY_KEY_NORM"
    EPSILON_given AND NOT arg_FEED_FORWARD AND arg_QUERY_KEY_NORM MATCHES "^none$")
  ladon_kernel_refuse("QUERY_KEY_NORM is all; with MEMORY, allowed: none, head, each_head"
    arg_MEMORY AND arg_QUERY_KEY_NORM MATCHES "^all$")
  if(PROJECTION_BLOCKS_given)
    math(EXPR rest "${arg_HEADS} % ${arg_PROJECTION_BLOCKS} + ${arg_KV_HEADS} % ${arg_PROJECTION_BLOCKS}")
    ladon_kernel_refuse("PROJECTION_BLOCKS is ${arg_PROJECTION_BLOCKS}; allowed: a number that divides HEADS and KV_HEADS"
      rest)
  endif()
  ladon_kernel_refuse("KEYS is ${arg_KEYS} and QUERIES ${arg_QUERIES}; they may differ with CONTEXT (keys from other \
tokens), CACHE (KEYS is its capacity) or PROJECTIONS without (the caller gives the keys)" NOT arg_KEYS EQUAL arg_QUERIES
    AND NOT arg_CONTEXT AND NOT arg_CACHE AND NOT arg_PROJECTIONS MATCHES "^without$")
  ladon_kernel_refuse("QUERIES is ${arg_QUERIES} and KEYS ${arg_KEYS}; a cache has room for KEYS tokens, so allowed: at \
most KEYS queries" arg_CACHE AND NOT arg_CONTEXT AND arg_QUERIES GREATER arg_KEYS)
  ladon_kernel_refuse("KEY_MODEL is ${arg_KEY_MODEL} and VALUE_MODEL ${arg_VALUE_MODEL}; allowed: equal widths, or, \
if keys and values come from different tokens, CONTEXT CACHE"
    NOT arg_KEY_MODEL EQUAL arg_VALUE_MODEL AND NOT arg_CACHE)
  ladon_kernel_refuse("LAYOUT is ${arg_LAYOUT}; with PRECISION ${arg_PRECISION}, whose weights are (out, in), allowed: \
in_proj, separate_qkv" arg_LAYOUT MATCHES "^(per_head|in_out|in_proj_in_out)$" AND NOT arg_PRECISION MATCHES "^float32$")
  if(ROTARY_given)
    list(GET arg_ROTARY 1 width)
    list(GET arg_ROTARY 2 positions)
    math(EXPR odd "${width} % 2")
    ladon_kernel_refuse("ROTARY's width is ${width}; allowed: an even number of the ${arg_HEAD_WIDTH} features of a head"
      odd OR width GREATER arg_HEAD_WIDTH)
    ladon_kernel_refuse("ROTARY has ${positions} positions; allowed: at least one for each query and key"
      positions LESS arg_QUERIES OR (positions LESS arg_KEYS AND NOT arg_CACHE))
    ladon_kernel_refuse("ROTARY puts query i at position i + KEYS - QUERIES; with more queries than keys the first have none"
      (arg_CONTEXT OR arg_PROJECTIONS MATCHES "^without$") AND arg_QUERIES GREATER arg_KEYS)
  endif()
endfunction()

function(ladon_kernel_check_mask)
  foreach(argument MASK MEMORY_MASK)
    list(TRANSFORM arg_${argument} REPLACE "_per_head" "" OUTPUT_VARIABLE kinds)
    set(distinct ${kinds})
    list(REMOVE_DUPLICATES distinct)
    ladon_kernel_refuse("${argument} is '${arg_${argument}}'; allowed: each kind of mask once"
      NOT kinds STREQUAL distinct)
    ladon_kernel_refuse("${argument} none stands alone" none IN_LIST kinds AND NOT kinds MATCHES "^none$")
  endforeach()
  ladon_kernel_refuse("MASK names causal and window; a window that ends at the query is causal: WINDOW <left> 0"
    causal IN_LIST arg_MASK AND window IN_LIST arg_MASK)
  list(JOIN arg_WINDOW " " sides)
  ladon_kernel_refuse("WINDOW is '${sides}'; MASK window needs WINDOW <left> <right>: a number of keys for each side; \
for one side, allowed: all" window IN_LIST arg_MASK AND (NOT WINDOW_given OR sides MATCHES "^all all$"))
  ladon_kernel_refuse("OFFSET is ${arg_OFFSET}; with MASK alibi allowed: run_time"
    OFFSET_given AND NOT arg_OFFSET MATCHES "^run_time$" AND alibi IN_LIST arg_MASK)
  ladon_kernel_refuse("OFFSET is given; with CACHE, a new token follows the tokens in the cache, and no other offset is \
allowed" OFFSET_given AND arg_CACHE AND NOT arg_CONTEXT)
endfunction()

# ladon_kernel_isas(<variable>): sets <variable> to the instruction sets for which DISPATCH compiles the kernel. With
# int8 weights, AVX512_BF16 accelerates only attention, and only if attention computes with bfloat16 numbers
# (attends_in_pairs in ladon/detail/attention/heads.hpp). With DETERMINISTIC, with CACHE or with a single
# query, attention never computes with bfloat16 numbers. int8 libraries of such kernels therefore omit AVX512_BF16.
function(ladon_kernel_isas out)
  ladon_kernel_truth(pairs NOT arg_DETERMINISTIC AND NOT arg_CACHE AND arg_QUERIES GREATER 1)
  ladon_dispatched_isas(isas ${arg_PRECISION} ${pairs})
  set(${out} ${isas} PARENT_SCOPE)
endfunction()

function(ladon_kernel_check_build)
  ladon_kernel_isas(dispatched)
  math(EXPR rest "${arg_KEY_BLOCK} % 32")
  ladon_kernel_refuse("KEY_BLOCK is ${arg_KEY_BLOCK}; allowed: a multiple of 32" rest)
  ladon_kernel_refuse("THREADS needs a kernel that computes a call in phases; allowed: CONTEXT or CACHE, but not both"
    arg_THREADS AND arg_CONTEXT AND arg_CACHE)
  ladon_kernel_refuse("DISPATCH and ARCH are for processors; for WebAssembly, three modules are made, and a program \
loads the fastest module that its engine supports"
    EMSCRIPTEN AND (arg_DISPATCH OR (DEFINED arg_ARCH AND NOT arg_ARCH MATCHES "^default$")))
  # All names of a kernel contain the instruction set (LADON_ABI), so that its objects need no local symbols on Windows
  # and macOS.
  ladon_kernel_refuse("DISPATCH is for x86-64, and for 64-bit Arm with Linux or macOS, with a GNU objcopy, MinGW or \
Apple's linker (${CMAKE_SYSTEM_NAME} ${CMAKE_SYSTEM_PROCESSOR} here)"
    arg_DISPATCH AND NOT (dispatched AND (objects_can_be_local OR MINGW OR APPLE)))
endfunction()
