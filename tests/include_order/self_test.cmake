# cmake -DFOLDER=<folder> -P self_test.cmake
# Tests check.cmake. check.cmake must accept a small set of correct headers, and must report each change that breaks a
# rule. FOLDER is overwritten.
cmake_minimum_required(VERSION 3.25)

# Writes four small headers into FOLDER, and runs check.cmake. The text of each header is in a variable with the name of
# the header, such as `low.hpp`. Sets `status` to the exit status of check.cmake, and `said` to its output.
macro(check_tree)
  file(REMOVE_RECURSE ${FOLDER})
  foreach(header IN ITEMS low.hpp middle.hpp detail/steps.hpp top.hpp)
    file(WRITE ${FOLDER}/include/${header} "${${header}}")
  endforeach()
  if(DEFINED extra)
    file(WRITE ${FOLDER}/include/${extra} "#pragma once\n")
  endif()
  file(WRITE ${FOLDER}/layers.cmake "${layers}")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -DINCLUDE=${FOLDER}/include -DLAYERS=${FOLDER}/layers.cmake
      -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/check.cmake
    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}") # CMake breaks long lines
endmacro()

# Sets the texts of correct headers. They also contain comments, string literals and uses of internal namespaces, which
# must not count as broken rules.
macro(usual_tree)
  set(low.hpp "#pragma once\n#include <cstddef>\n// namespace detail { __AVX2__ }\n/* avx2 */\nnamespace ladon { }\n")
  set(middle.hpp "#include <ladon/low.hpp>\n#include <ladon/detail/steps.hpp>\nconstexpr auto compiled = \"-mavx2\"\;\n")
  set(detail/steps.hpp "#include <ladon/low.hpp>\nnamespace ladon::detail {\n#if defined(__AVX2__)\n#endif\n}\n")
  set(top.hpp "#include <ladon/middle.hpp>\n  #  include <ladon/low.hpp>\nusing Steps = ladon::detail::Steps\;\n")
  set(layers "set(layers low.hpp detail/ \"middle.hpp\" top.hpp)\nset(isa_folders detail/)\n")
  unset(extra)
endmacro()

function(accepts)
  usual_tree()
  check_tree()
  if(NOT status EQUAL 0 OR NOT said MATCHES "4 headers are in order")
    message(FATAL_ERROR "check.cmake rejects a tree without errors:\n${said}")
  endif()
endfunction()

# must_report(<message> <variable> <value>): sets <variable> to <value>, and checks that check.cmake then reports
# <message>. If <variable> is the name of a header, <value> is the text of this header. The variable `layers` is the
# text of layers.cmake, and `extra` is the name of an additional header.
function(must_report expected variable value)
  usual_tree()
  set(${variable} "${value}")
  check_tree()
  string(FIND "${said}" "${expected}" found)
  if(status EQUAL 0 OR found EQUAL -1)
    message(FATAL_ERROR "check.cmake should have reported \"${expected}\", but it said:\n${said}")
  endif()
endfunction()

accepts()

# Breaks rule 1 of check.cmake (each header belongs to exactly one layer) in several ways.
must_report("other.hpp belongs to 0 layers" extra other.hpp)
must_report("low.hpp belongs to 2 layers" layers "set(layers low.hpp detail/ \"middle.hpp low.hpp\" top.hpp)")
must_report("detail/steps.hpp belongs to 2 layers" layers "set(layers low.hpp detail/ \"middle.hpp detail/\" top.hpp)")
must_report("the layers list gone.hpp, which has no header"
  layers "set(layers low.hpp detail/ middle.hpp \"top.hpp gone.hpp\")")

# Breaks rule 2 of check.cmake (includes only from the same and from lower layers, without cycles) in several ways.
must_report("low.hpp includes middle.hpp from a higher layer" low.hpp "#include <ladon/middle.hpp>\n")
must_report("detail/steps.hpp includes top.hpp from a higher layer"
  detail/steps.hpp "#if 0\n#  include  <ladon/top.hpp> // for steps\n#endif\n")
must_report("top.hpp includes gone.hpp, which does not exist" top.hpp "#include <ladon/gone.hpp>\n")
must_report("top.hpp includes a file in quotation marks" top.hpp "#include \"low.hpp\"\n")
must_report("a cycle of includes is among detail/steps.hpp, middle.hpp"
  layers "set(layers low.hpp \"detail/ middle.hpp top.hpp\")\nset(isa_folders detail/)\n
    file(APPEND \${INCLUDE}/detail/steps.hpp \"#include <ladon/middle.hpp>\\n\")")
must_report("a cycle of includes is among low.hpp" low.hpp "#include <ladon/low.hpp>\n")

# Breaks rule 3 of check.cmake: a header outside detail/ opens an internal namespace.
foreach(internal IN ITEMS detail vec assembly target)
  must_report("top.hpp opens the namespace ${internal}" top.hpp "namespace ${internal} {\n}\n")
endforeach()
must_report("top.hpp opens the namespace detail" top.hpp "namespace LADON_NAMESPACE::detail {\n}\n")
must_report("top.hpp opens the namespace vec" top.hpp "namespace ladon::detail_of::vec\n{\n}\n")

# Breaks rule 4 of check.cmake: a header that may not name an instruction set names one.
foreach(name IN ITEMS __AVX512F__ __SSE4_1__ __ARM_NEON __wasm_simd128__ __FMA__ __x86_64__ __aarch64__ _M_X64)
  must_report("top.hpp names an instruction set: ${name}" top.hpp "#if defined(${name})\n#endif\n")
endforeach()
must_report("top.hpp names an instruction set: avx2" top.hpp "constexpr bool has_avx2 = false\;\n")
must_report("top.hpp names an instruction set: neon" top.hpp "namespace neon {\n}\n")
must_report("top.hpp names an instruction set: _mm256_add_ps" top.hpp "auto a = _mm256_add_ps(b, c)\;\n")
must_report("top.hpp names no instruction set any more"
  layers "set(layers low.hpp detail/ middle.hpp top.hpp)\nset(isa_folders detail/)\nset(isa_exempt top.hpp)")
must_report("detail/steps.hpp names an instruction set" layers "set(layers low.hpp detail/ middle.hpp top.hpp)")
must_report("isa_exempt lists gone.hpp, which does not exist"
  layers "set(layers low.hpp detail/ middle.hpp top.hpp)\nset(isa_folders detail/)\nset(isa_exempt gone.hpp)")
message("every broken rule is reported")
