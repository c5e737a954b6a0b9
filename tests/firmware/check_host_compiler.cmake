# cmake -DROOT=<source folder> -DFOLDER=<folder> -DCOMPILERS=<files> -P check_host_compiler.cmake
# In a cross build, a kernel with WEIGHTS needs the program ladon-weights, which must be compiled for the host. Checks
# which compiler ladon_host_compiler chooses for the host. Each call of check() below only configures a project. Then
# configures the separate build of ladon-weights, and checks where that build would put the program.
# COMPILERS are the paths of the cross compiler and of the build tool. The last call hides all other programs, so that
# CMake finds no compiler for the host.
cmake_minimum_required(VERSION 3.25)
set(checkpoint ${ROOT}/tests/recipes/files/pytorch/model.safetensors)
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/bin)
foreach(compiler IN LISTS COMPILERS)
  cmake_path(GET compiler FILENAME name)
  file(CREATE_LINK ${compiler} ${FOLDER}/bin/${name} SYMBOLIC)
endforeach()
file(WRITE ${FOLDER}/CMakeLists.txt "
cmake_minimum_required(VERSION 3.25)
project(host_compiler LANGUAGES C CXX)
add_subdirectory(${ROOT} ladon EXCLUDE_FROM_ALL)
ladon_host_compiler(compiler)
message(STATUS \"the compiler is '\${compiler}'\")
ladon_add_kernel(stored QUERIES 6 MODEL 8 HEADS 2 FEED_FORWARD 16 ACTIVATION gelu NORM pre LAYERS 2 FINAL_NORM
  MASK padding WEIGHTS ${checkpoint} PREFIX layers)
")

# check(<name> <pattern> <environment> <argument>...): configures the project with the environment variable
# <environment> and the arguments. CMake's output must match <pattern>. No call uses a compiler launcher such as ccache,
# because the last call hides the folders of such launchers.
function(check name pattern environment)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=CMAKE_C_COMPILER_LAUNCHER --unset=CMAKE_CXX_COMPILER_LAUNCHER
      ${environment}
      ${CMAKE_COMMAND} -S ${FOLDER} -B ${FOLDER}/${name} -G Ninja
        -DCMAKE_TOOLCHAIN_FILE=${ROOT}/cmake/arm-none-eabi.cmake -DLADON_CPU=cortex-m7 ${ARGN}
    OUTPUT_VARIABLE out ERROR_VARIABLE out)
  string(REGEX REPLACE "[ \n]+" " " out "${out}") # CMake wraps the lines of messages
  if(NOT out MATCHES "${pattern}")
    message(FATAL_ERROR "${name}: the output does not match \"${pattern}\":\n${out}")
  endif()
endfunction()

check(system "the compiler is '/[^']*(c|g|clang)[+][+]'.*Generating done" --unset=CXX)
set(build ${CMAKE_COMMAND} --build ${FOLDER}/system)
execute_process(COMMAND ${build} --target ladon/host_weights/CMakeCache.txt
  COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE out ERROR_VARIABLE out)
execute_process(COMMAND ${build}/ladon/host_weights --target ladon_weights -- -n -v
  COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(NOT out MATCHES "[+][+] [^\n]* -o ladon-weights " OR out MATCHES "arm-none-eabi")
  message(FATAL_ERROR "no command of the host's compiler links ladon/host_weights/ladon-weights:\n${out}")
endif()
check(cross "the compiler is '/[^']*/(c|g|clang)[+][+]'.*Generating done" CXX=arm-none-eabi-g++)
check(environment "the compiler is 'my-compiler [+]x'.*Generating done" "CXX=my-compiler +x")
check(setting "the compiler is '/my/compiler'.*Generating done" --unset=CXX -DLADON_HOST_CXX=/my/compiler)
file(WRITE ${FOLDER}/hidden.cmake "set(CMAKE_IGNORE_PATH /usr/bin /bin /usr/local/bin CACHE STRING \"\")")
check(absent "WEIGHTS needs a C[+][+] compiler for this machine.*-DLADON_HOST_CXX=<file>.*-DLADON_WEIGHTS_TOOL=<file>"
  "--unset=CXX;PATH=${FOLDER}/bin" -C ${FOLDER}/hidden.cmake)
