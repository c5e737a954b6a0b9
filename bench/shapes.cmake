# Reads shapes.json, the only list of the shapes that the benchmarks measure. After a change of shapes.json, CMake runs
# again.

# ladon_bench_shapes(<variable> <list>): sets <variable> to the shapes of <list>, each as tokens,model,heads.
function(ladon_bench_shapes out list)
  set(file ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/shapes.json)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} json)
  string(JSON count LENGTH "${json}" ${list})
  math(EXPR last "${count} - 1")
  set(shapes "")
  foreach(i RANGE ${last})
    set(sizes "")
    foreach(k RANGE 2)
      string(JSON size GET "${json}" ${list} ${i} ${k})
      list(APPEND sizes ${size})
    endforeach()
    list(JOIN sizes "," shape)
    list(APPEND shapes ${shape})
  endforeach()
  set(${out} ${shapes} PARENT_SCOPE)
endfunction()

# ladon_bench_split(<shape>): splits a shape such as 64,128,4. Sets the variables `tokens`, `model` and `heads` to the
# three numbers, and `name` to 64_128_4.
macro(ladon_bench_split shape)
  string(REPLACE "," "_" name ${shape})
  string(REPLACE "," ";" sizes ${shape})
  list(GET sizes 0 tokens)
  list(GET sizes 1 model)
  list(GET sizes 2 heads)
endmacro()

# ladon_bench_shapes_header(<target> <list>): gives the target a header shapes.hpp with the shapes of the list.
function(ladon_bench_shapes_header target list)
  ladon_bench_shapes(all ${list})
  set(shapes "")
  foreach(shape IN LISTS all)
    ladon_bench_split(${shape})
    list(APPEND shapes "{.queries = ${tokens}, .model = ${model}, .heads = ${heads}}")
  endforeach()
  list(JOIN shapes ", " shapes)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/shapes.hpp.in shapes/${list}/shapes.hpp @ONLY)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/shapes/${list})
endfunction()
