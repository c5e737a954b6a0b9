# Defines functions that read the shapes and other template arguments from the JSON files of the cases. The program
# ladon_conformance reads the elements of the tensors at run time.

# ladon_json_text(<variable> <file>): sets <variable> to the text of the JSON <file>, but with an empty list as the
# value of each "data". CMake parses the whole text at each access, and the numbers in "data" would slow down this
# parsing.
function(ladon_json_text out file)
  file(READ ${file} text)
  string(REGEX REPLACE "\"data\"[ \t\r\n]*:[ \t\r\n]*\\[[^]]*\\]" "\"data\":[]" short "${text}")
  string(JSON type ERROR_VARIABLE error TYPE "${short}")
  if(error)
    set(short "${text}")
  endif()
  set(${out} "${short}" PARENT_SCOPE)
endfunction()

# ladon_json_has(<variable> <text> <path>...): sets <variable> to TRUE if the path exists in the JSON <text> and is not
# null, otherwise to FALSE.
function(ladon_json_has out text)
  string(JSON type ERROR_VARIABLE error TYPE "${text}" ${ARGN})
  if(error OR type STREQUAL "NULL")
    set(${out} FALSE PARENT_SCOPE)
  else()
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

# ladon_json_get(<variable> <default> <text> <path>...): sets <variable> to the value at the path, or to <default> if
# the path does not exist or is null.
function(ladon_json_get out default text)
  ladon_json_has(there "${text}" ${ARGN})
  set(value "${default}")
  if(there)
    string(JSON value GET "${text}" ${ARGN})
  endif()
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

# ladon_conformance_kind(<variable> <text>): sets <variable> to onnx, pytorch or other, depending on the fields of the
# JSON <text>.
function(ladon_conformance_kind out text)
  set(kind other)
  ladon_json_has(opset "${text}" opset)
  set(inputs TRUE)
  foreach(tensor Q K V)
    ladon_json_has(there "${text}" inputs ${tensor})
    if(NOT there)
      set(inputs FALSE)
    endif()
  endforeach()
  ladon_json_get(layer "" "${text}" layer)
  if(opset AND inputs)
    set(kind onnx)
  elseif(layer MATCHES "^Transformer(Encoder|Decoder)Layer")
    set(kind pytorch)
  endif()
  set(${out} ${kind} PARENT_SCOPE)
endfunction()

# ladon_onnx_instance(<variable> <text>): sets <variable> to "<form>|<scale>|<softcap>", which describes the template
# instantiation that a case of ONNX's Attention needs. <form> is the text of the struct Form in attention_instance.hpp.
# <scale> and <softcap> are numbers, or <scale> is "usual" for the default scale. If the case computes nothing,
# <variable> is empty. At run time, ladon_conformance derives an equal Form from the case (onnx.cpp).
function(ladon_onnx_instance out text)
  foreach(tensor Q K V attn_mask past_key)
    set(${tensor} "")
    ladon_json_has(there "${text}" inputs ${tensor})
    if(there)
      string(JSON rank LENGTH "${text}" inputs ${tensor} dims)
      if(rank GREATER 0)
        math(EXPR last "${rank} - 1")
        foreach(i RANGE ${last})
          string(JSON size GET "${text}" inputs ${tensor} dims ${i})
          list(APPEND ${tensor} ${size})
        endforeach()
      endif()
    endif()
  endforeach()

  list(LENGTH Q rank)
  if(rank EQUAL 4)
    list(GET Q 1 2 3 query_sizes)
    list(GET K 1 2 key_sizes)
    list(GET V 3 value_width)
    list(GET query_sizes 0 heads)
    list(GET query_sizes 1 queries)
    list(GET query_sizes 2 head_width)
    list(GET key_sizes 0 kv_heads)
    list(GET key_sizes 1 keys)
  else()
    string(JSON heads GET "${text}" attributes q_num_heads)
    string(JSON kv_heads GET "${text}" attributes kv_num_heads)
    list(GET Q 1 queries)
    list(GET K 1 keys)
    list(GET Q 2 query_model)
    list(GET V 2 value_model)
    math(EXPR head_width "${query_model} / ${heads}")
    math(EXPR value_width "${value_model} / ${kv_heads}")
  endif()
  if(past_key)
    list(GET past_key 2 past)
    math(EXPR keys "${keys} + ${past}")
  endif()
  if(queries EQUAL 0 OR heads EQUAL 0)
    set(${out} "" PARENT_SCOPE)
    return()
  endif()
  if(keys EQUAL 0)
    set(keys 1) # a shape has at least one key; the call then sees no key
  endif()

  set(stage -1)
  ladon_json_has(captured "${text}" outputs qk_matmul_output)
  if(captured)
    ladon_json_get(stage 0 "${text}" attributes qk_matmul_output_mode)
  endif()

  set(given none)
  if(attn_mask)
    string(JSON dtype GET "${text}" inputs attn_mask dtype)
    set(given additive)
    if(dtype STREQUAL "bool")
      set(given boolean)
    endif()
    list(LENGTH attn_mask rank)
    if(rank GREATER_EQUAL 3)
      list(GET attn_mask -3 mask_heads)
      if(NOT mask_heads EQUAL 1)
        string(APPEND given "_per_head")
      endif()
    endif()
  endif()

  ladon_json_get(is_causal 0 "${text}" attributes is_causal)
  set(causal false)
  if(is_causal)
    set(causal true)
  endif()
  ladon_json_get(left -1 "${text}" attributes left_window_size)
  ladon_json_get(right -1 "${text}" attributes right_window_size)
  ladon_json_has(padding "${text}" inputs nonpad_kv_seqlen)
  # A case that captures the scores of stage 0 or 1 (qk_matmul_output_mode) also expects the scores of padding keys.
  # Ladon computes scores only for active keys. So in such a case, padding keys are active, and a padding mask hides
  # them.
  if(padding AND (stage EQUAL 0 OR stage EQUAL 1))
    set(padding true)
  else()
    set(padding false)
  endif()

  ladon_json_get(scale usual "${text}" attributes scale)
  ladon_json_get(softcap 0 "${text}" attributes softcap)
  string(CONCAT form
    ".queries = ${queries}, .keys = ${keys}, .heads = ${heads}, .kv_heads = ${kv_heads}, "
    ".head_width = ${head_width}, .value_width = ${value_width}, .causal = ${causal}, .left = ${left}, "
    ".right = ${right}, .given = Given::${given}, .padding = ${padding}, .stage = ${stage}")
  set(${out} "${form}|${scale}|${softcap}" PARENT_SCOPE)
endfunction()

# ladon_pytorch_instances(<variable> <text>): sets <variable> to a list with the arguments of instance<> in
# layer_instance.hpp for each case of the JSON <text>.
function(ladon_pytorch_instances out text)
  string(JSON layer GET "${text}" layer)
  foreach(size model heads feed_forward)
    string(JSON ${size} GET "${text}" ${size})
  endforeach()
  set(decoder false)
  if(layer MATCHES "^TransformerDecoderLayer")
    set(decoder true)
  endif()
  set(norm post)
  if(layer MATCHES "pre-LN")
    set(norm pre)
  endif()
  string(JSON count LENGTH "${text}" cases)
  set(instances "")
  set(i 0)
  while(i LESS count)
    ladon_json_get(activation relu "${text}" cases ${i} activation)
    string(JSON length LENGTH "${text}" cases ${i} input)
    set(memory 0)
    if(decoder)
      string(JSON memory LENGTH "${text}" cases ${i} memory)
    endif()
    string(CONCAT form
      ".decoder = ${decoder}, .model = ${model}, .heads = ${heads}, .feed_forward = ${feed_forward}, "
      ".length = ${length}, .memory = ${memory}, .activation = ladon::Activation::${activation}, "
      ".norm = ladon::NormOrder::${norm}")
    if(activation MATCHES "^(relu|gelu)$") # the program reports other activations as failures
      list(APPEND instances "${form}")
    endif()
    math(EXPR i "${i} + 1")
  endwhile()
  list(REMOVE_DUPLICATES instances)
  set(${out} "${instances}" PARENT_SCOPE)
endfunction()
