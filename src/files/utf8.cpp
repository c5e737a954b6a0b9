// SPDX-License-Identifier: Apache-2.0
#include "utf8.hpp"

#ifdef _WIN32
#ifndef NOMINMAX  // some compilers define NOMINMAX themselves
#define NOMINMAX
#endif
#include <windows.h>

#include <shellapi.h>

#include <memory>

#ifdef _MSC_VER
#pragma comment(lib, "shell32")  // has CommandLineToArgvW
#endif
#endif

namespace ladon::files {

#ifdef _WIN32

std::vector<std::string> arguments_of_main(int, const char* const*) {
  int count = 0;
  const std::unique_ptr<wchar_t*, decltype(&LocalFree)> words(CommandLineToArgvW(GetCommandLineW(), &count),
                                                              &LocalFree);
  std::vector<std::string> arguments;
  for (int i = 1; i < count; ++i) arguments.push_back(utf8_of(words.get()[i]));
  return arguments;
}

#else

std::vector<std::string> arguments_of_main(int argc, const char* const* argv) {
  return argc == 0 ? std::vector<std::string>() : std::vector<std::string>(argv + 1, argv + argc);
}

#endif

}  // namespace ladon::files
