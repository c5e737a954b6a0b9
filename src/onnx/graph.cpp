// SPDX-License-Identifier: Apache-2.0
#include "graph.hpp"

#include <charconv>
#include <protozero/pbf_reader.hpp>
#include <utility>

#include "other_files.hpp"
#include "safetensors.hpp"

namespace ladon::onnx {
namespace {

using protozero::pbf_reader, protozero::pbf_wire_type;

// The largest counts that are accepted. An empty message takes two bytes of the file and a hundred times as much
// memory.
constexpr std::size_t most_nodes = 1'000'000, most_tensors = 1'000'000, most_extents = 16, most_names = 100'000;
constexpr std::size_t longest_name = 4096;

constexpr std::uint32_t number(std::uint32_t tag) { return protozero::tag_and_type(tag, pbf_wire_type::varint); }
constexpr std::uint32_t real(std::uint32_t tag) { return protozero::tag_and_type(tag, pbf_wire_type::fixed32); }
constexpr std::uint32_t bytes(std::uint32_t tag) {
  return protozero::tag_and_type(tag, pbf_wire_type::length_delimited);
}

std::string_view text_of(pbf_reader& message) {
  const protozero::data_view view = message.get_view();
  return {view.data(), view.size()};
}

std::string_view name_of(pbf_reader& message) {
  const std::string_view name = text_of(message);
  if (name.size() > longest_name) throw files::Error("a name of " + std::to_string(name.size()) + " bytes");
  return name;
}

template <class T>
void append(std::vector<T>& list, T value, std::size_t most, const char* what) {
  if (list.size() == most) throw files::Error("more than " + std::to_string(most) + " " + what);
  list.push_back(std::move(value));
}

// StringStringEntryProto
std::pair<std::string_view, std::string_view> read_entry(pbf_reader message) {
  std::pair<std::string_view, std::string_view> entry;
  while (message.next()) {
    const std::uint32_t field = message.tag_and_type();
    if (field == bytes(1)) {
      entry.first = text_of(message);
    } else if (field == bytes(2)) {
      entry.second = text_of(message);
    } else {
      message.skip();
    }
  }
  return entry;
}

std::uint64_t size_of(std::string_view digits) {
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (error != std::errc() || end != digits.data() + digits.size())
    throw files::Error("external data with the offset or length " + files::in_quotes(digits));
  return size;
}

void add_external(Tensor& tensor, pbf_reader message) {
  const auto [key, value] = read_entry(message);
  if (key == "location") tensor.location = value;
  if (key == "offset") tensor.offset = size_of(value);
  if (key == "length") tensor.length = size_of(value);
}

void set_numbers(Tensor& tensor, std::string_view numbers) {
  if (tensor.numbers) throw files::Error("the tensor " + files::in_quotes(tensor.name) + " has its numbers twice");
  tensor.numbers = numbers;
}

// TensorProto
Tensor read_tensor(pbf_reader message) {
  Tensor tensor;
  const auto add_extent = [&](std::int64_t extent) {
    append(tensor.shape, static_cast<std::uint64_t>(extent), most_extents, "extents of a tensor");
  };
  while (message.next()) {
    const std::uint32_t field = message.tag_and_type();
    if (field == number(1)) {
      add_extent(message.get_int64());
    } else if (field == bytes(1)) {
      for (const std::int64_t extent : message.get_packed_int64()) add_extent(extent);
    } else if (field == number(2)) {
      tensor.type = message.get_int32();
    } else if (field == bytes(4) || field == bytes(9)) {
      set_numbers(tensor, text_of(message));
    } else if (field == bytes(8)) {
      tensor.name = name_of(message);
    } else if (field == bytes(13)) {
      add_external(tensor, message.get_message());
    } else if (field == number(14)) {
      tensor.is_external = message.get_enum() == 1;
    } else {
      message.skip();
    }
  }
  return tensor;
}

struct Attribute {
  std::string_view name;
  std::int64_t number = 0;
  float real = 0;
  std::vector<std::int64_t> numbers{};
  std::optional<Tensor> tensor{};
};

// AttributeProto
Attribute read_attribute(pbf_reader message) {
  Attribute attribute;
  const auto add = [&](std::int64_t value) { append(attribute.numbers, value, most_names, "numbers of an attribute"); };
  while (message.next()) {
    const std::uint32_t field = message.tag_and_type();
    if (field == bytes(1)) {
      attribute.name = name_of(message);
    } else if (field == real(2)) {
      attribute.real = message.get_float();
    } else if (field == number(3)) {
      attribute.number = message.get_int64();
    } else if (field == bytes(5)) {
      attribute.tensor = read_tensor(message.get_message());
    } else if (field == number(8)) {
      add(message.get_int64());
    } else if (field == bytes(8)) {
      for (const std::int64_t value : message.get_packed_int64()) add(value);
    } else {
      message.skip();
    }
  }
  return attribute;
}

void add_attribute(Node& node, Attribute attribute, std::optional<Tensor>& value) {
  if (attribute.name == "epsilon") node.epsilon = attribute.real;
  if (attribute.name == "transB") node.transposes_second = attribute.number != 0;
  if (attribute.name == "perm") node.permutation = std::move(attribute.numbers);
  if (attribute.name == "value") value = std::move(attribute.tensor);
}

void add_metadata(Node& node, pbf_reader message) {
  const auto [key, value] = read_entry(message);
  if (key == "pkg.torch.onnx.name_scopes") node.scopes = value;
}

// NodeProto
void read_node(pbf_reader message, Graph& graph) {
  Node node;
  std::optional<Tensor> value;
  while (message.next()) {
    const std::uint32_t field = message.tag_and_type();
    if (field == bytes(1)) {
      append(node.inputs, name_of(message), most_names, "inputs of a node");
    } else if (field == bytes(2)) {
      append(node.outputs, name_of(message), most_names, "outputs of a node");
    } else if (field == bytes(3)) {
      node.name = name_of(message);
    } else if (field == bytes(4)) {
      node.type = name_of(message);
    } else if (field == bytes(5)) {
      add_attribute(node, read_attribute(message.get_message()), value);
    } else if (field == bytes(7)) {
      node.domain = name_of(message);
    } else if (field == bytes(9)) {
      add_metadata(node, message.get_message());
    } else {
      message.skip();
    }
  }
  if (node.type == "Constant" && value && node.outputs.size() == 1) {
    value->name = node.outputs[0];
    append(graph.tensors, std::move(*value), most_tensors, "constants");
  }
  append(graph.nodes, std::move(node), most_nodes, "nodes");
}

// GraphProto
void read_graph(pbf_reader message, Graph& graph) {
  while (message.next()) {
    const std::uint32_t field = message.tag_and_type();
    if (field == bytes(1)) {
      read_node(message.get_message(), graph);
    } else if (field == bytes(5)) {
      append(graph.tensors, read_tensor(message.get_message()), most_tensors, "constants");
    } else {
      message.skip();
    }
  }
}

// ModelProto
Graph read_model(pbf_reader message) {
  Graph graph;
  bool is_model = false;
  while (message.next()) {
    const std::uint32_t field = message.tag_and_type();
    if (field == bytes(7)) {
      is_model = true, read_graph(message.get_message(), graph);
    } else if (field == bytes(25)) {
      throw files::Error("has functions of its own, which Ladon does not read; export without them");
    } else {
      message.skip();
    }
  }
  if (!is_model) throw files::Error("expected an ONNX file, found one without a graph");
  return graph;
}

}  // namespace

Graph read_graph(std::span<const std::byte> file, const std::string& name) {
  if (const std::string kind = weights::kind_of_content(file); !kind.empty())
    throw files::Error(files::escaped(name) + ": expected an ONNX file, found " + kind);
  try {
    return read_model({reinterpret_cast<const char*>(file.data()), file.size()});
  } catch (const files::Error& error) {
    throw files::Error(files::escaped(name) + ": " + error.what());
  } catch (const protozero::exception& error) {
    throw files::Error(files::escaped(name) + ": expected an ONNX file, found: " + error.what());
  }
}

}  // namespace ladon::onnx
