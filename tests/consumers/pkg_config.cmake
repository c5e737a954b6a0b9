# -DPACKAGE=<name> -DSOURCE=<file in shared/> -DFROM=<prefix> -DLANGUAGE=<CXX or C>
# Compiles and runs one file with the flags that pkg-config prints. The only other flags are warnings, -O1 and the
# standard.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(COPY ${CMAKE_CURRENT_LIST_DIR}/shared/ DESTINATION ${FOLDER})
set(ENV{PKG_CONFIG_PATH} "${FROM}/share/pkgconfig:${FROM}/lib/pkgconfig")
run(flags ${PKG_CONFIG} --cflags --libs ${PACKAGE})
separate_arguments(flags UNIX_COMMAND "${flags}")
run(said ${COMPILE_${LANGUAGE}} ${SOURCE} -o app ${flags} -lm)
run(said ${FOLDER}/app)
message(STATUS "${flags}: ${said}")
