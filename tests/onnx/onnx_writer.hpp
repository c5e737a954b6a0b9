// Writes small ONNX files for tests.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <utility>
#include <vector>

#include "safetensors_file.hpp"

namespace ladon::onnx {

struct WrittenNode {
  std::string type;
  std::vector<std::string> inputs{}, outputs{};
  std::string name{}, domain{}, scopes{};
  std::vector<std::pair<std::string, std::int64_t>> numbers{};  // attributes
  std::vector<std::int64_t> permutation{};
  std::optional<float> epsilon{};
};

class OnnxWriter {
 public:
  // Adds an initialiser with the numbers first, first + 1, and so on.
  OnnxWriter& add(const std::string& name, const std::vector<std::int64_t>& shape, float first) {
    std::size_t size = 1;
    for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
    return add_bytes(name, shape, 1, files::floats(files::counted(size, first)));
  }
  OnnxWriter& add_bytes(const std::string& name, const std::vector<std::int64_t>& shape, int type,
                        const std::string& bytes) {
    protozero::pbf_writer graph(graph_);
    graph.add_message(5, tensor(name, shape, type, bytes));
    return *this;
  }
  // Adds an initialiser whose numbers are in another file.
  OnnxWriter& add_external(const std::string& name, const std::vector<std::int64_t>& shape,
                           const std::vector<std::pair<std::string, std::string>>& entries) {
    std::string text = tensor(name, shape, 1, "");
    protozero::pbf_writer writer(text);
    for (const auto& [key, value] : entries) {
      protozero::pbf_writer entry(writer, 13);
      entry.add_string(1, key);
      entry.add_string(2, value);
    }
    writer.add_enum(14, 1);
    protozero::pbf_writer(graph_).add_message(5, text);
    return *this;
  }
  OnnxWriter& add(const WrittenNode& node) {
    protozero::pbf_writer graph(graph_);
    protozero::pbf_writer writer(graph, 1);
    for (const std::string& input : node.inputs) writer.add_string(1, input);
    for (const std::string& output : node.outputs) writer.add_string(2, output);
    writer.add_string(3, node.name);
    writer.add_string(4, node.type);
    for (const auto& [name, number] : node.numbers) {
      protozero::pbf_writer attribute(writer, 5);
      attribute.add_string(1, name);
      attribute.add_int64(3, number);
    }
    if (!node.permutation.empty()) {
      protozero::pbf_writer attribute(writer, 5);
      attribute.add_string(1, "perm");
      for (const std::int64_t number : node.permutation) attribute.add_int64(8, number);
    }
    if (node.epsilon) {
      protozero::pbf_writer attribute(writer, 5);
      attribute.add_string(1, "epsilon");
      attribute.add_float(2, *node.epsilon);
    }
    writer.add_string(7, node.domain);
    if (!node.scopes.empty()) {
      protozero::pbf_writer entry(writer, 9);
      entry.add_string(1, "pkg.torch.onnx.name_scopes");
      entry.add_string(2, node.scopes);
    }
    return *this;
  }
  // Adds a node Constant with the numbers first, first + 1, and so on.
  OnnxWriter& add_constant(const std::string& output, std::int64_t size, float first) {
    return add_constant_node(
        output, tensor("", {size}, 1, files::floats(files::counted(static_cast<std::size_t>(size), first))));
  }
  // Adds a node Constant with one number and no extents.
  OnnxWriter& add_scalar(const std::string& output, float number) {
    return add_constant_node(output, tensor("", {}, 1, files::floats({number})));
  }

  [[nodiscard]] std::string content() const {
    std::string file;
    protozero::pbf_writer model(file);
    model.add_int64(1, 8);
    model.add_string(2, "tests");
    model.add_message(7, graph_);
    return file;
  }

 private:
  OnnxWriter& add_constant_node(const std::string& output, const std::string& value) {
    protozero::pbf_writer graph(graph_);
    protozero::pbf_writer node(graph, 1);
    node.add_string(2, output);
    node.add_string(4, "Constant");
    protozero::pbf_writer attribute(node, 5);
    attribute.add_string(1, "value");
    attribute.add_message(5, value);
    return *this;
  }
  static std::string tensor(const std::string& name, const std::vector<std::int64_t>& shape, int type,
                            const std::string& bytes) {
    std::string text;
    protozero::pbf_writer writer(text);
    writer.add_packed_int64(1, shape.begin(), shape.end());
    writer.add_int32(2, type);
    writer.add_string(8, name);
    if (!bytes.empty()) writer.add_bytes(9, bytes);
    return text;
  }

  std::string graph_;
};

}  // namespace ladon::onnx
