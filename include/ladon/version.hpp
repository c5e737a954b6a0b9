// SPDX-License-Identifier: Apache-2.0
// The version of the headers. CMake reads the version from this file. The file contains only preprocessor lines, so C
// code can also include this file.
#pragma once

#define LADON_VERSION_MAJOR 0
#define LADON_VERSION_MINOR 1
#define LADON_VERSION_PATCH 0

// The version as one number, for comparisons: for version 1.2.3, the number is 10203.
#define LADON_VERSION (LADON_VERSION_MAJOR * 10000 + LADON_VERSION_MINOR * 100 + LADON_VERSION_PATCH)

#define LADON_VERSION_TEXT_AS_WRITTEN(major, minor, patch) #major "." #minor "." #patch
#define LADON_VERSION_TEXT(major, minor, patch) LADON_VERSION_TEXT_AS_WRITTEN(major, minor, patch)
#define LADON_VERSION_STRING LADON_VERSION_TEXT(LADON_VERSION_MAJOR, LADON_VERSION_MINOR, LADON_VERSION_PATCH)
