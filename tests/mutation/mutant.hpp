// Selects one mutant at run time. The copy of include/ladon that tests/mutation/run.py makes contains all mutants, and
// includes this header.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <type_traits>

// `active` is the number of the mutant that runs. The environment variable LADON_MUTANT sets this number. `reached`
// marks the mutants that the program has reached so far. When the program reaches a mutant for the first time, reach()
// appends the mutant's number to the file LADON_MUTANTS_REACHED.
struct LadonMutants {
  int active = -1;
  std::FILE* file = nullptr;
  bool reached[LADON_MUTANT_COUNT] = {};
  LadonMutants() {
    if (const char* number = std::getenv("LADON_MUTANT")) active = std::atoi(number);
    if (const char* name = std::getenv("LADON_MUTANTS_REACHED")) file = std::fopen(name, "a");
  }
  [[gnu::noinline]] void reach(int number) {
    reached[number] = true;
    std::fprintf(file, "%d\n", number);
    std::fflush(file);
  }
};
inline LadonMutants ladon_mutants;

// Returns whether the mutant is active. No mutant is active in constant evaluation.
[[gnu::always_inline]] constexpr bool ladon_mutant(int number) {
  if (std::is_constant_evaluated()) return false;
  if (ladon_mutants.file != nullptr && !ladon_mutants.reached[number]) ladon_mutants.reach(number);
  return ladon_mutants.active == number;
}
