# -DCONFIG=<configuration>
# Installs Ladon to a folder below FOLDER, and then moves the installed files to PREFIX. The other tests find Ladon in
# PREFIX. The installed files must work in any folder, so none of them may contain the path of the build folder, of
# FOLDER or of the sources.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
run(said ${CMAKE_COMMAND} --install ${LADON_BUILD} --config "${CONFIG}" --prefix ${FOLDER}/elsewhere --component ladon)
file(RENAME ${FOLDER}/elsewhere ${PREFIX})
include(${CMAKE_CURRENT_LIST_DIR}/relocatable.cmake)
expect_relocatable(${PREFIX} ${FOLDER} ${LADON_BUILD} ${LADON_CHECKOUT})

foreach(file IN ITEMS include/ladon/ladon.hpp include/ladon/detail/vec/xsimd.hpp share/ladon/cmake/ladonConfig.cmake
        share/ladon/cmake/ladonConfigVersion.cmake share/pkgconfig/ladon.pc)
  if(NOT EXISTS ${PREFIX}/${file})
    message(FATAL_ERROR "${file} was not installed:\n${said}")
  endif()
endforeach()

# The headers do not depend on the size of pointers. So find_package must accept the package for any target, even for a
# machine with pointers of two bytes.
set(CMAKE_SIZEOF_VOID_P 2)
include(${PREFIX}/share/ladon/cmake/ladonConfigVersion.cmake)
if(PACKAGE_VERSION_UNSUITABLE)
  message(FATAL_ERROR "${PACKAGE_VERSION} rejects this architecture")
endif()
