// SPDX-License-Identifier: Apache-2.0
#include "checkpoint.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "replace_file.hpp"
#include "safetensors.hpp"
#include "utf8.hpp"

namespace ladon::onnx {
namespace {

// Returns the transposed matrix of rows x columns numbers of `width` bytes.
std::string transposed(std::span<const std::byte> matrix, std::size_t rows, std::size_t columns, std::size_t width) {
  std::string result(matrix.size(), '\0');
  const auto* const from = reinterpret_cast<const char*>(matrix.data());
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      for (std::size_t i = 0; i < width; ++i)
        result[(column * rows + row) * width + i] = from[(row * columns + column) * width + i];
  return result;
}

}  // namespace

std::optional<std::filesystem::path> file_in(const std::filesystem::path& folder) {
  for (const char* name : {"model.safetensors", "model.safetensors.index.json"})
    if (std::filesystem::exists(folder / name)) return std::nullopt;
  for (const char* name : {"model.onnx", "onnx/model.onnx"})
    if (std::filesystem::exists(folder / name)) return folder / name;
  return std::nullopt;
}

Checkpoint::Checkpoint(const std::filesystem::path& file, const Names& is_in_out)
    : name_(files::utf8_of(file)),
      file_(file),
      graph_(read_graph(file_.bytes(), name_)),
      parameters_(parameters_of(graph_, name_)),
      data_(file) {
  for (const auto& [name, parameter] : parameters_.tensors) {
    const auto bytes = data_.bytes(*parameter.tensor);
    const bool is_transposed =
        parameter.order != Order::none && parameter.order != (is_in_out(name) ? Order::in_out : Order::out_in);
    std::vector<std::uint64_t> shape = parameter.tensor->shape;
    if (is_transposed) std::swap(shape[0], shape[1]);
    tensors_.emplace(name, safetensors::Tensor{dtype_of(parameter.tensor->type), std::move(shape), 0, bytes.size(), 0});
    transposed_.emplace(name, is_transposed);
  }
}

std::string Checkpoint::unknown_constants() const {
  constexpr std::size_t most = 3;
  const auto& all = parameters_.unknown;
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i) text += (i == 0 ? "" : ", ") + all[i];
  if (all.size() > most) text += " and " + std::to_string(all.size() - most) + " others";
  return all.empty() ? "" : "; no name and no node tells which tensor each of these constants is: " + text;
}

std::string Checkpoint::values(const std::string& name) {
  const Tensor& tensor = *parameters_.tensors.at(name).tensor;
  const auto bytes = data_.bytes(tensor);
  if (transposed_.at(name) && !bytes.empty()) {
    const auto rows = static_cast<std::size_t>(tensor.shape[0]), columns = static_cast<std::size_t>(tensor.shape[1]);
    return transposed(bytes, rows, columns, bytes.size() / rows / columns);
  }
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void Checkpoint::write(const std::filesystem::path& path, const Names& chosen) {
  std::vector<files::NamedTensor> written;
  std::uint64_t end = 0;
  for (const auto& [name, tensor] : tensors_) {
    if (!chosen(name)) continue;
    safetensors::Tensor placed = tensor;
    placed.begin = end, placed.end = end += tensor.end;
    written.push_back({name, std::move(placed)});
  }
  files::replace_file(files::utf8_of(path), [&](const files::Sink& sink) {
    sink(files::safetensors_header(written, ""));
    for (const auto& [name, tensor] : written) sink(values(name));
  });
}

}  // namespace ladon::onnx
