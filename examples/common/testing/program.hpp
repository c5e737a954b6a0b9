// Runs a program as a user does, in a POSIX shell, and returns its output.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "testing/fixtures.hpp"

namespace examples {

struct Answer {
  std::string out;
  std::string err;
  int status;
};

inline Answer run_in_shell(const std::string& command) {
  const TemporaryFolder folder;
  const auto out = folder.path() / "out", err = folder.path() / "err";
  const int status = std::system(("{ " + command + "; } >'" + out.string() + "' 2>'" + err.string() + "'").c_str());
  return {content_of(out), content_of(err), WEXITSTATUS(status)};
}

inline void check_refused(const Answer& answer, int status, const std::string& words) {
  CAPTURE(answer.err);
  CHECK(answer.status == status);
  CHECK(answer.out.empty());
  CHECK(has(answer.err, words));
}

}  // namespace examples
