// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "description.hpp"

namespace ladon::import {

// Returns the namespace of a stack: its model, its class, and the type of its rotary tables.
std::string namespace_of(const families::Stack& stack, PrecisionKind precision, bool writes_texts);

// Returns the multiply-adds of the largest call.
double multiply_adds_of(const families::Stack& stack);

}  // namespace ladon::import
