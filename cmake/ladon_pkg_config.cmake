# SPDX-License-Identifier: Apache-2.0
# ladon_configure_pkg_config(<template> <output> <folder it is installed to>)
#
# Fills @includedir@ and @libdir@ with what GNUInstallDirs says, seen from the file's own folder: pkg-config replaces
# ${pcfiledir}, so a prefix can be moved. A folder that is absolute (a distribution may say so) stays as it is.
# All else that stands between @ is the caller's.
function(ladon_configure_pkg_config template output folder)
  foreach(dir IN ITEMS includedir libdir)
    string(TOUPPER CMAKE_INSTALL_${dir} variable)
    set(${dir} "${${variable}}")
    if(NOT IS_ABSOLUTE "${${dir}}" AND IS_ABSOLUTE "${folder}")
      message(FATAL_ERROR "ladon: ${variable} is relative, ${folder} is not: one can't be found from the other")
    elseif(NOT IS_ABSOLUTE "${${dir}}")
      file(RELATIVE_PATH path "/prefix/${folder}" "/prefix/${${dir}}")
      set(${dir} "\${pcfiledir}/${path}")
    endif()
  endforeach()
  configure_file(${template} ${output} @ONLY)
endfunction()
