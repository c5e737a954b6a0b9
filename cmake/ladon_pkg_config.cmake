# SPDX-License-Identifier: Apache-2.0
# ladon_configure_pkg_config(<template> <output> <folder of installation>): writes the pkg-config file <output> from
# <template>.
#
# Replaces @includedir@ and @libdir@ by the folders of GNUInstallDirs, relative to the folder of installation: for
# example, by ${pcfiledir}/../include. pkg-config replaces ${pcfiledir} by the folder of the .pc file. The installed
# files can therefore be moved. If a distribution has set an absolute folder, the folder stays absolute. For every other
# word between @ in the template, the caller sets a variable with this name.
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
