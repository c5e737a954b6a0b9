// ladon_bench_memory [--json FILE]: compares the workspace of attention with the memory of textbook attention, which
// writes all scores to memory. The shapes are the list "scaling" of shapes.json.
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <utility>
#include <vector>

#include <ladon/ladon.hpp>

#include "json_file.hpp"
#include "machine.hpp"
#include "shapes.hpp"

namespace {

using nlohmann::ordered_json;

// Prints the figures of the shape `S`, and adds them to `rows`. Textbook attention stores Q, K, V and the results of
// the heads as matrices. It also stores a score for each head and each pair of query and key.
template <ladon::Shape S>
void add(ordered_json& rows) {
  using Attention = ladon::MultiHeadAttention<S>;
  constexpr std::size_t workspace = sizeof(typename Attention::Workspace);
  constexpr std::size_t scores = S.heads * S.queries * S.queries * sizeof(float);
  constexpr std::size_t textbook = scores + 4 * S.queries * S.model * sizeof(float);
  std::printf("%5zu, %4zu, %zu %12zu %12zu %12zu %9.1f\n", S.queries, S.model, S.heads, workspace, scores, textbook,
              static_cast<double>(textbook) / static_cast<double>(workspace));
  rows.push_back({{"tokens", S.queries},
                  {"model", S.model},
                  {"heads", S.heads},
                  {"workspace_bytes", workspace},
                  {"scores_bytes", scores},
                  {"textbook_bytes", textbook}});
}

template <std::size_t... I>
void add_all(ordered_json& rows, std::index_sequence<I...>) {
  (add<ladon_bench::shapes[I]>(rows), ...);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  const ladon_bench::JsonFile file(arguments, "ladon_bench_memory");
  if (!file.writable()) return 1;
  ordered_json rows = ordered_json::array();
  std::printf("%-14s %12s %12s %12s %9s\n", "bytes", "workspace", "scores", "textbook", "times");
  add_all(rows, std::make_index_sequence<std::size(ladon_bench::shapes)>());
  return file.write({{"machine", ladon_bench::machine()}, {"rows", rows}});
}
