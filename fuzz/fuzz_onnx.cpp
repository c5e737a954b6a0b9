// Fuzzes the reader of weights in ONNX files. Any bytes are accepted as model.onnx, or cause files::Error. The tensors
// of an accepted file have the bytes of their shapes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "checkpoint.hpp"
#include "file_error.hpp"
#include "support/memory_file.hpp"
#include "support/require.hpp"

using ladon_fuzz::require, ladon_fuzz::require_shown;

namespace {

void check(ladon::onnx::Checkpoint& checkpoint) {
  std::size_t left = 50;  // a tensor may have many names
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    std::uint64_t size = tensor.dtype == "F32" ? 4 : 2;
    for (const std::uint64_t extent : tensor.shape) size *= extent;
    require(tensor.end - tensor.begin == size, "a tensor has the bytes of its shape");
    if (left-- == 0) break;
    require(checkpoint.values(name).size() == size, "a tensor has its numbers");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ladon_fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  try {
    ladon::onnx::Checkpoint checkpoint(file.path(), [](std::string_view name) { return name.size() % 2 == 0; });
    check(checkpoint);
  } catch (const files::Error& error) {
    require_shown(error.what(), "an error");
  }
  return 0;
}
