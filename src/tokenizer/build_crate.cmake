# SPDX-License-Identifier: Apache-2.0
# cmake -DCARGO=<program> -DSOURCE=<src/tokenizer> -DFOLDER=<folder> -P build_crate.cmake
#
# Compiles the crate of SOURCE in FOLDER, whose subfolder `release` then has the archive. Cargo.lock.in is the crate's
# Cargo.lock without the address of the registry, which is the address that cargo writes into a Cargo.lock of its own.
cmake_minimum_required(VERSION 3.25)

set(crate ${FOLDER}/source)
file(COPY ${SOURCE}/Cargo.toml ${SOURCE}/c_functions.rs DESTINATION ${crate})
set(lock ${CARGO} generate-lockfile --quiet --manifest-path ${crate}/Cargo.toml)
execute_process(COMMAND ${lock} --offline RESULT_VARIABLE status ERROR_QUIET)
if(NOT status EQUAL 0)
  execute_process(COMMAND ${lock} COMMAND_ERROR_IS_FATAL ANY)
endif()
file(STRINGS ${crate}/Cargo.lock sources REGEX "^source = ")
list(GET sources 0 REGISTRY)
string(REGEX REPLACE "^source = \"(.*)\"$" "\\1" REGISTRY "${REGISTRY}")
configure_file(${SOURCE}/Cargo.lock.in ${crate}/Cargo.lock @ONLY)

execute_process(COMMAND ${CARGO} build --quiet --release --locked --manifest-path ${crate}/Cargo.toml --target-dir ${FOLDER}
  COMMAND_ERROR_IS_FATAL ANY)
