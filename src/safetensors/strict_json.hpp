// SPDX-License-Identifier: Apache-2.0
// Reads JSON texts of files that may come from an untrusted source.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace ladon::files {

// Parses a text. Rejects duplicate keys, which json::parse accepts, and more than four levels of nesting. Throws Error
// or an exception of nlohmann::json.
nlohmann::json parse_strictly(std::span<const std::byte> text);

// Returns a value from a file as JSON text for messages. The text is ASCII with escapes, so that a file cannot send
// control sequences to a terminal. A long text is truncated.
std::string shown_json(const nlohmann::json& value);

// Returns the value of a key, or null if `object` is no object or lacks the key.
nlohmann::json member(const nlohmann::json& object, const char* key);

}  // namespace ladon::files
