// SPDX-License-Identifier: Apache-2.0
#include "flush.hpp"

#include <cerrno>
#include <ostream>
#include <system_error>

#include "file_error.hpp"

namespace ladon::files {

void flush(std::ostream& out, const std::string& what) {
  if (out) {
    errno = 0;
    out.flush();
  }
  if (out) return;
  const std::error_code reason(errno, std::generic_category());
  throw Error(what + " could not be written" + (reason ? ": " + reason.message() : ""));
}

}  // namespace ladon::files
