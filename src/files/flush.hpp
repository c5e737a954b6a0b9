// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>

namespace ladon::files {

// Flushes a stream. Throws Error with the text "<what> could not be written: <reason>" if this write or an earlier
// write failed. The reason comes from errno. A program with several writes stops at the first failed write, so that
// errno still holds the reason.
void flush(std::ostream& out, const std::string& what);

}  // namespace ladon::files

namespace files = ladon::files;
