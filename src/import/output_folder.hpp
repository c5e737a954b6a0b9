// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>

#include "cpp_project.hpp"

namespace ladon::import {

// Throws Error if `folder` is a file, or has files without the mark of the importer (file_mark). Folders in `folder`,
// such as a build folder, may be there.
void expect_own_files(const std::filesystem::path& folder);

// Writes the files into `folder`, all of them or none, after expect_own_files.
void write_folder(const std::filesystem::path& folder, std::span<const SourceFile> sources);

}  // namespace ladon::import
