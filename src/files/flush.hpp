// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>

namespace ladon::files {

// Flushes `out`. Throws Error with the text "<what> could not be written: <reason>" if the flush or an earlier write to
// `out` failed. The reason comes from errno. After a failed write, the program must call `flush` before any function
// that may change errno. Otherwise, the reason is wrong.
void flush(std::ostream& out, const std::string& what);

}  // namespace ladon::files

namespace files = ladon::files;
