// SPDX-License-Identifier: Apache-2.0
// What sentence-transformers computes behind a model: pooling, linear maps and a division by the length.
#pragma once

#include <filesystem>

#include "description.hpp"

namespace ladon::families {

// If `folder` has a modules.json, replaces the pooler of the first stack by these modules, and removes the head. If
// steps lack a module, `outside` names the module, and the pooler and the head stay.
void read_modules(const std::filesystem::path& folder, Description& description);

}  // namespace ladon::families
