# SPDX-License-Identifier: Apache-2.0
# ladon_configure_pkg_config(<template> <output> <folder of installation>): writes the pkg-config file <output> from
# <template>.
#
# Replaces @includedir@ and @libdir@ by the folders of GNUInstallDirs, relative to the folder of installation:
# ${pcfiledir}/../include. When a program asks pkg-config, pkg-config replaces ${pcfiledir} by the folder of the file.
# The installed files can therefore be moved. An absolute folder, which a distribution may set, stays unchanged. The
# caller sets the variables for all other words between @ in the template.
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
