// SPDX-License-Identifier: Apache-2.0
// The version of the headers. CMake and C read this file, too, so it contains only preprocessor lines.
#pragma once

#define LADON_VERSION_MAJOR 0
#define LADON_VERSION_MINOR 2
#define LADON_VERSION_PATCH 0

// Version 1.2.3 becomes 10203.
#define LADON_VERSION (LADON_VERSION_MAJOR * 10000 + LADON_VERSION_MINOR * 100 + LADON_VERSION_PATCH)

#define LADON_VERSION_TEXT_AS_WRITTEN(major, minor, patch) #major "." #minor "." #patch
#define LADON_VERSION_TEXT(major, minor, patch) LADON_VERSION_TEXT_AS_WRITTEN(major, minor, patch)
#define LADON_VERSION_STRING LADON_VERSION_TEXT(LADON_VERSION_MAJOR, LADON_VERSION_MINOR, LADON_VERSION_PATCH)
