# cmake "-DARGUMENTS=<list>" -DMODULE=<ladon_add_kernel.cmake> -P check_arguments.cmake: calls it with these, which
# is expected to stop with a message. Nothing before a mistake needs a project.
cmake_minimum_required(VERSION 3.25)
set(CMAKE_SYSTEM_PROCESSOR ${PROCESSOR})
include(${MODULE})
ladon_add_kernel(${ARGUMENTS})
