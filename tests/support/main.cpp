// zig c++ for macOS declares nothing of <cfloat> in C++20 if another header stands before it
// (findings/zig_macos_cfloat.sh).
#include <cfloat>

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
