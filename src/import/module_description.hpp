// SPDX-License-Identifier: Apache-2.0
// Describes the functions of a model for the WebAssembly modules (wasm/src/model-description.ts reads the description).
#pragma once

#include "c_library.hpp"

namespace ladon::import {

// Returns NAME_module.cmake, which sets `description` to a JSON object. cmake/kernel/put_model_description.cmake fills
// in
// @LADON_VERSION@ and @variant@.
SourceFile module_description(const Program& program);

}  // namespace ladon::import
