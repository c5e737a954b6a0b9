// Breaks the promise that its argument names: a checked build ends the program and says which it was.
#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include <ladon/ladon.hpp>

namespace {

constexpr ladon::Shape shape{.queries = 3, .keys = 4, .model = 2};
template <class Mask>
using Attention = ladon::Attention<shape, Mask>;

// A run with everything as it must be, but for the options.
template <class Mask>
void run(const typename Attention<Mask>::Options& options) {
  static typename Attention<Mask>::Workspace workspace;
  const std::array<float, 6> q{};
  const std::array<float, 8> k{}, v{};
  std::array<float, 6> out{};
  Attention<Mask>::run(q, k, v, out, workspace, options);
}

}  // namespace

int main(int, char** arguments) {
  using namespace ladon::mask;
  const std::string_view broken(arguments[1]);
  const std::array<std::uint8_t, 12> pairs{};
  const std::array<float, 12> values{};
  if (broken == "queries") run<None>({.queries = 4});
  if (broken == "keys") run<None>({.keys = 5});
  if (broken == "tokens") run<None>({.tokens = 4});
  if (broken == "boolean_columns") run<Boolean>({.mask = {.may_see = pairs, .keys = 5}});
  if (broken == "additive_columns") run<Additive>({.mask = {.values = values, .keys = 5}});
  std::puts("nothing was said");
  return 0;
}
