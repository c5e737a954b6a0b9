// Makes the doctest assertions of tests/support usable in a fuzzer. A failed assertion prints its expression and its
// context, and ends the program. libFuzzer then stores the input.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace {

struct ActiveContexts : doctest::IReporter {
  static void print() {
    for (int i = 0; i < get_num_active_contexts(); ++i) {
      get_active_contexts()[i]->stringify(&std::cerr);
      std::cerr << '\n';
    }
  }
};

void report(const doctest::AssertData& failed) {
  ActiveContexts::print();
  std::cerr << "broken promise: " << failed.m_file << ':' << failed.m_line << ": " << failed.m_expr << "\n  is "
            << failed.m_decomp.c_str() << std::endl;
  std::abort();
}

[[maybe_unused]] const bool is_installed = [] {
  static doctest::Context context;
  context.setAsDefaultForAssertsOutOfTestCases();
  context.setAssertHandler(report);
  return true;
}();

}  // namespace
