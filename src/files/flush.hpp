// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>

namespace ladon::files {

// Flushes a stream. Throws Error, "<what> could not be written: <reason>", where this or an earlier write failed. The
// reason is errno's: a program that writes more than once stops at the first failed write, so that errno still holds
// the reason.
void flush(std::ostream& out, const std::string& what);

}  // namespace ladon::files

namespace files = ladon::files;
