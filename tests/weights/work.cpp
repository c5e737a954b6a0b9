// work TASK COUNT: reads a safetensors file with COUNT tensors. check_work.cmake counts the instructions of `measured`.
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

#include "conversion_plan.hpp"
#include "convert.hpp"
#include "file_error.hpp"
#include "find_tensors.hpp"
#include "list.hpp"
#include "safetensors_file.hpp"
#include "spec.hpp"
#include "testing/fixtures.hpp"

namespace {

using ladon::files::Checkpoint, ladon::files::Safetensors;
namespace weights = ladon::weights;

// Returns a file in which each tensor name consists of many parts.
std::string with_long_names(std::size_t count) {
  Checkpoint checkpoint;
  for (std::size_t i = 0; i < count; ++i)
    checkpoint.add("a.b.c.d.e.f.g.h." + std::to_string(i) + ".out_proj.bias", 1, 0);
  return checkpoint.content();
}

std::string with_matrices(std::size_t count) {
  Checkpoint checkpoint;
  for (std::size_t i = 0; i < count; ++i) checkpoint.add("embed" + std::to_string(i) + ".weight", 2, 8, 0);
  return checkpoint.content();
}

// Returns a file with the names of a stack of layers of PyTorch, four tensors each.
std::string stack_file(std::size_t count) {
  Checkpoint checkpoint;
  for (std::size_t i = 0; i < count / 4; ++i) {
    const std::string layer = "layers." + std::to_string(i) + ".self_attn.";
    checkpoint.add(layer + "in_proj_weight", 8, 4, 0).add(layer + "in_proj_bias", 8, 0);
    checkpoint.add(layer + "out_proj.weight", 4, 4, 0).add(layer + "out_proj.bias", 4, 0);
  }
  return checkpoint.content();
}

// Returns the list of the tensors that the stack needs. Queries, keys and values are separate.
std::string stack_spec(std::size_t count) {
  std::string spec;
  for (std::size_t i = 0; i < count / 4; ++i) {
    const std::string layer = "layers." + std::to_string(i) + ".attention.";
    for (const std::string line :
         {"query_proj_weight 4 4\n", "key_proj_weight 2 4\n", "value_proj_weight 2 4\n", "out_proj_weight 4 4\n"})
      spec += layer + line;
  }
  return spec;
}

void sink(std::string_view) {}

}  // namespace

// Counted by callgrind, which finds the function by its name.
extern "C" __attribute__((noinline)) void measured(const std::function<void()>& act) { act(); }

int main(int, char** arguments) {
  const std::string task = arguments[1];
  const std::size_t count = std::strtoul(arguments[2], nullptr, 10);
  const examples::TemporaryFolder folder;
  const std::string spec_text = task == "pack" ? stack_spec(count) : "out_proj_bias 4\n";
  const std::string content = task == "pack"       ? stack_file(count)
                              : task == "quantise" ? with_matrices(count)
                                                   : with_long_names(count);
  const auto path = folder.file("m.safetensors", content);
  const weights::Selection selection{.keep = {}, .embeddings = true, .rotate = false};
  measured([&] {
    const Safetensors file(path);
    if (task == "list") static_cast<void>(weights::list(file));
    if (task == "quantise") {
      const auto plan = weights::plan_conversion(file, "m", weights::Target::int8, selection);
      static_cast<void>(weights::write_converted(file, "m", plan, sink));
    }
    if (task == "pack" || task == "wrong_prefix") {
      const weights::Spec spec = weights::parse_spec(spec_text, "spec");
      static_cast<void>(examples::error_of<files::Error>(
          [&] { static_cast<void>(weights::find_tensors(file, "m", spec, task == "pack" ? "layers" : "wrong")); }));
    }
  });
}
