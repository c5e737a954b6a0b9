// SPDX-License-Identifier: Apache-2.0
// Reads JSON texts of files that may come from an untrusted source.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace ladon::files {

// Parses a text. Rejects duplicate keys, which json::parse accepts, and more than `deepest` levels of nesting, because
// a hostile text could nest millions of levels. Throws Error or an exception of nlohmann::json. A header {"name":
// {"shape": [..]}} has three levels. A fourth level is accepted, so that the error about a wrong shape can name the
// tensor.
nlohmann::json parse_strictly(std::span<const std::byte> text, std::size_t deepest = 4);

// Returns a value from a file as JSON text for messages. The text is ASCII with escapes, so that a file cannot send
// control sequences to a terminal. A long text is truncated.
std::string shown_json(const nlohmann::json& value);

// Returns the value of a key, or null if `object` is no object or lacks the key.
nlohmann::json member(const nlohmann::json& object, const char* key);

}  // namespace ladon::files
