# SPDX-License-Identifier: Apache-2.0
# cmake -DTEXT=<file> -DLADON_VERSION=<version> -Dvariant=<variant> -DOUTPUT=<file> -P put_model_description.cmake
# Writes the description of a model's module (src/import/module_description.cpp) to OUTPUT.
cmake_minimum_required(VERSION 3.25)
include(${TEXT})
string(CONFIGURE "${description}" description @ONLY)
file(WRITE ${OUTPUT} "${description}")
