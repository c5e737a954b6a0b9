# -DCONFIG=<configuration>
# Installs Ladon and moves what it installed to PREFIX, below FOLDER, where the other consumers find it: it is written
# into nothing where it was built, or installed.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
run(said ${CMAKE_COMMAND} --install ${LADON_BUILD} --config "${CONFIG}" --prefix ${FOLDER}/elsewhere --component ladon)
file(RENAME ${FOLDER}/elsewhere ${PREFIX})
include(${CMAKE_CURRENT_LIST_DIR}/relocatable.cmake)
expect_relocatable(${PREFIX} ${FOLDER} ${LADON_BUILD} ${LADON_CHECKOUT})

foreach(file IN ITEMS include/ladon/ladon.hpp include/ladon/detail/simd/pack_xsimd.hpp share/ladon/cmake/ladonConfig.cmake
        share/ladon/cmake/ladonConfigVersion.cmake share/pkgconfig/ladon.pc)
  if(NOT EXISTS ${PREFIX}/${file})
    message(FATAL_ERROR "${file} was not installed:\n${said}")
  endif()
endforeach()

# For a machine whose pointers have two bytes: headers are the same everywhere.
set(CMAKE_SIZEOF_VOID_P 2)
include(${PREFIX}/share/ladon/cmake/ladonConfigVersion.cmake)
if(PACKAGE_VERSION_UNSUITABLE)
  message(FATAL_ERROR "${PACKAGE_VERSION} says that it is not for this architecture")
endif()
