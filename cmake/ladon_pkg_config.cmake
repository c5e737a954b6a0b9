# SPDX-License-Identifier: Apache-2.0
# ladon_configure_pkg_config(<template> <output> <folder of installation>): writes the pkg-config file <output> from
# <template>.
#
# Replaces @includedir@ and @libdir@ by the folders of GNUInstallDirs. The folders are relative to the .pc file, for
# example ${pcfiledir}/../include, so the installed files can be moved. (pkg-config replaces ${pcfiledir} by the folder
# of the .pc file.) If a distribution sets an absolute folder, the .pc file contains the absolute folder. The template
# may contain other words such as @name@, which CMake replaces by the caller's variable `name`.
function(ladon_configure_pkg_config template output folder)
  foreach(dir IN ITEMS includedir libdir)
    string(TOUPPER CMAKE_INSTALL_${dir} variable)
    set(${dir} "${${variable}}")
    if(NOT IS_ABSOLUTE "${${dir}}" AND IS_ABSOLUTE "${folder}")
      message(FATAL_ERROR "ladon: ${variable} is relative, and ${folder} is absolute: both must be relative or both absolute")
    elseif(NOT IS_ABSOLUTE "${${dir}}")
      file(RELATIVE_PATH path "/prefix/${folder}" "/prefix/${${dir}}")
      set(${dir} "\${pcfiledir}/${path}")
    endif()
  endforeach()
  configure_file(${template} ${output} @ONLY)
endfunction()
