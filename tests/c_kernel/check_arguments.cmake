# cmake "-DARGUMENTS=<list>" -DMODULE=<ladon_add_kernel.cmake> -P check_arguments.cmake: calls ladon_add_kernel with
# wrong arguments. A script has no project, so ladon_add_kernel must print its error message before it calls a command
# that needs a project.
cmake_minimum_required(VERSION 3.25)
set(CMAKE_SYSTEM_PROCESSOR ${PROCESSOR})
include(${MODULE})
ladon_add_kernel(${ARGUMENTS})
