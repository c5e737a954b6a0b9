// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ladon/safetensors/error.hpp>

namespace ladon::files {

using safetensors::Error;

}  // namespace ladon::files

namespace files = ladon::files;
