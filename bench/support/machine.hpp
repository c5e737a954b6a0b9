// Describes the machine, the compiler and the target that the figures were measured with.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include <ladon/detail/vec/choose.hpp>

namespace ladon_bench {

inline std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

inline nlohmann::ordered_json machine(std::size_t threads = 1) {
#define LADON_BENCH_TEXT(x) #x
#define LADON_BENCH_TEXT_OF(x) LADON_BENCH_TEXT(x)
#if defined(__clang__)
  const char* compiler = "clang++ " __clang_version__;
#elif defined(__GNUC__)
  const char* compiler = "g++ " __VERSION__;
#else
  const char* compiler = "unknown";
#endif
#if LADON_HAS_XSIMD
  const char* simd = "xsimd " LADON_BENCH_TEXT_OF(XSIMD_VERSION_MAJOR) "." LADON_BENCH_TEXT_OF(XSIMD_VERSION_MINOR);
#else
  const char* simd = "plain arrays";
#endif
  return {{"cpu", cpu_name()},
          {"target", LADON_BENCH_TEXT_OF(LADON_ABI)},
          {"lanes", ladon::detail::vec::NativeVectors::lanes},
          {"compiler", compiler},
          {"flags", LADON_BENCH_FLAGS},
          {"simd", simd},
          {"threads", threads}};
#undef LADON_BENCH_TEXT_OF
#undef LADON_BENCH_TEXT
}

}  // namespace ladon_bench
