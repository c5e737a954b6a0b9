// Runs the parts of a program that this processor can run. PARTS is a macro of the command line: PART(name, level) for
// each part, where `level` is a level of the x86-64 architecture.
#include <cstdio>

#define PART(name, level) int name();
PARTS
#undef PART

namespace {
bool supported(int level) {
  if (level <= 1) return true;
  if (level == 3) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}
}  // namespace

int main() {
  int failures = 0;
#define PART(name, level)                                           \
  if (supported(level)) {                                           \
    const int found = name();                                       \
    std::printf("%s: %s\n", #name, found == 0 ? "right" : "wrong"); \
    failures += found;                                              \
  }
  PARTS
  return failures;
}
