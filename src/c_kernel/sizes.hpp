// The sizes of a kernel's memory as text: "LADON_SIZES workspace=12345 ...". cmake/kernel/put_sizes.cmake finds the
// text in an object file, so the code of the object file is not executed.
#pragma once

#include <array>
#include <cstddef>

namespace c_kernel {

// Sizes in bytes. If a kernel does not need a kind of memory, the size is 0.
struct Sizes {
  std::size_t workspace;
  std::size_t shared;   // part of the workspace that all threads of a call share
  std::size_t scratch;  // part of the workspace that each thread has for itself
  std::size_t cache;
};

using Text = std::array<char, 128>;

// Returns the sizes as text, followed by zeros.
constexpr Text text(const Sizes& sizes) {
  Text out{};
  std::size_t at = 0;
  const auto put = [&](const char* words) {
    while (*words != '\0') out[at++] = *words++;
  };
  const auto number = [&](const char* name, std::size_t value) {
    put(name);
    std::array<char, 20> digits{};
    std::size_t count = 0;
    do digits[count++] = static_cast<char>('0' + value % 10);
    while ((value /= 10) != 0);
    while (count > 0) out[at++] = digits[--count];
  };
  put("LADON_SIZES");
  number(" workspace=", sizes.workspace);
  number(" shared=", sizes.shared);
  number(" scratch=", sizes.scratch);
  number(" cache=", sizes.cache);
  return out;
}

}  // namespace c_kernel
