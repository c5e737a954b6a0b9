// ladon_bench_memory [--json FILE]: the workspace that attention takes beside what it takes when scores are written to
// memory, for the shapes of the scaling sweep (peers/cases.py).
#include <cstdio>
#include <vector>

#include <ladon/ladon.hpp>

#include "json_file.hpp"
#include "machine.hpp"

namespace {

using nlohmann::ordered_json;

// A textbook's attention has Q, K, V and the heads' results side by side as matrices of their own, and a score for each
// pair and head.
template <std::size_t Tokens, std::size_t Model>
void add(ordered_json& rows) {
  constexpr std::size_t heads = 8;
  using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = Tokens, .model = Model, .heads = heads}>;
  constexpr std::size_t workspace = sizeof(typename Attention::Workspace);
  constexpr std::size_t scores = heads * Tokens * Tokens * sizeof(float);
  constexpr std::size_t textbook = scores + 4 * Tokens * Model * sizeof(float);
  std::printf("%5zu, %4zu, %zu %12zu %12zu %12zu %9.1f\n", Tokens, Model, heads, workspace, scores, textbook,
              static_cast<double>(textbook) / static_cast<double>(workspace));
  rows.push_back({{"tokens", Tokens},
                  {"model", Model},
                  {"heads", heads},
                  {"workspace_bytes", workspace},
                  {"scores_bytes", scores},
                  {"textbook_bytes", textbook}});
}

template <std::size_t Model, std::size_t... Tokens>
void add_tokens(ordered_json& rows) {
  (add<Tokens, Model>(rows), ...);
}

template <std::size_t Tokens, std::size_t... Models>
void add_models(ordered_json& rows) {
  (add<Tokens, Models>(rows), ...);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  ladon_bench::JsonFile file(arguments, "ladon_bench_memory");
  if (!file.opened()) return 1;
  ordered_json rows = ordered_json::array();
  std::printf("%-14s %12s %12s %12s %9s\n", "bytes", "workspace", "scores", "textbook", "times");
  add_tokens<256, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096>(rows);
  add_models<128, 32, 64, 128, 512, 1024>(rows);
  return file.write({{"machine", ladon_bench::machine()}, {"rows", rows}});
}
