// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>

#include "cpp_files.hpp"

namespace ladon::import {

// Writes the files into `folder`, all of them or none. Throws Error if the folder has other files, or files without the
// mark of the importer (file_mark). Folders in `folder`, such as a build folder, stay.
void write_folder(const std::filesystem::path& folder, std::span<const SourceFile> sources);

}  // namespace ladon::import
