// SPDX-License-Identifier: Apache-2.0
#include "take.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "file_error.hpp"
#include "floats.hpp"

namespace ladon::weights {
namespace {

constexpr std::size_t alignment_of_arrays = 64;  // bytes: the width of the widest vectors, and the usual cache line

// Returns whether `name` has the form of `pattern`, in which a * stands for any text.
bool has_form(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == pattern.npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t begin = star; begin <= name.size(); ++begin)
    if (has_form(name.substr(begin), rest)) return true;
  return false;
}

std::string c_name(std::string name) {
  std::ranges::replace_if(
      name,
      [](char c) { return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'); },
      '_');
  return name;
}

struct Type {
  std::string_view dtype, in_c;
};
constexpr std::array types = {
    Type{"F32", "float"},    Type{"F16", "float"},    Type{"BF16", "float"},  Type{"F64", "double"},
    Type{"BOOL", "uint8_t"}, Type{"U8", "uint8_t"},   Type{"I8", "int8_t"},   Type{"U16", "uint16_t"},
    Type{"I16", "int16_t"},  Type{"U32", "uint32_t"}, Type{"I32", "int32_t"}, Type{"U64", "uint64_t"},
    Type{"I64", "int64_t"},
};

// Returns the type of an array in C, or "" for an unknown dtype.
std::string_view c_type(std::string_view dtype) {
  for (const Type& type : types)
    if (type.dtype == dtype) return type.in_c;
  return "";
}

// Returns the quoted name for a comment of C, which must not end early.
std::string in_comment(std::string_view name) {
  std::string text = files::in_quotes(name);
  for (std::size_t end = text.find("*/"); end != text.npos; end = text.find("*/")) text.replace(end, 2, "* /");
  return text;
}

class Taker {
 public:
  Taker(const files::Safetensors& file, const std::string& symbol) : file_(file), symbol_(symbol) {}

  void add(const std::string& name, const files::Tensor& tensor) {
    const std::string_view type = c_type(tensor.dtype);
    if (type.empty())
      throw files::Error(files::in_quotes(name) + " has the dtype " + files::escaped(tensor.dtype) +
                         ", which no type of C has");
    if (std::ranges::find(tensor.shape, 0U) != tensor.shape.end())
      throw files::Error(files::in_quotes(name) + " has the shape " + files::shown(tensor.shape) +
                         "; an array has at least one element");
    const auto [other, is_new] = names_.try_emplace(c_name(name), name);
    if (!is_new)
      throw files::Error(files::in_quotes(name) + " and " + files::in_quotes(other->second) +
                         " have the same name in C: " + other->first);
    taken_.data.resize((taken_.data.size() + alignment_of_arrays - 1) / alignment_of_arrays * alignment_of_arrays);
    const std::size_t offset = taken_.data.size();
    append(tensor);
    declare(name, other->first, type, tensor, offset);
  }
  Taken end() { return std::move(taken_); }

 private:
  void append(const files::Tensor& tensor) {
    const auto bytes = file_.bytes(tensor);
    if (bytes_of_float(tensor.dtype) > 0) {
      append_floats(tensor.dtype, bytes, taken_.data);
    } else {
      taken_.data.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
  }
  void declare(const std::string& name, const std::string& id, std::string_view type, const files::Tensor& tensor,
               std::size_t offset) {
    std::string extents, brackets;
    for (const auto extent : tensor.shape) {
      extents += ", " + std::to_string(extent);
      brackets += "[" + std::to_string(extent) + "]";
    }
    if (tensor.shape.empty()) {
      extents = ", 1";
      brackets = "[1]";
    }
    taken_.list += "LADON_TENSOR(" + id + ", " + std::string(type) + ", " + std::to_string(offset) + ", " +
                   std::to_string(taken_.data.size() - offset) + extents + ")\n";
    taken_.header += "extern const " + std::string(type) + " " + symbol_ + "_" + id + brackets + "; /* " +
                     in_comment(name) + " */\n";
  }

  const files::Safetensors& file_;
  const std::string& symbol_;
  std::map<std::string, std::string> names_;  // from the names in C to the names in the file
  Taken taken_;
};

}  // namespace

Taken take(const files::Safetensors& file, const std::string& file_name, const std::vector<std::string>& wanted,
           const std::string& symbol) try {
  Taker taker(file, symbol);
  std::vector<bool> found(wanted.size(), false);
  for (const auto& [name, tensor] : file.tensors()) {
    bool is_wanted = false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!has_form(name, wanted[i])) continue;
      is_wanted = true;
      found[i] = true;
    }
    if (is_wanted) taker.add(name, tensor);
  }
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!found[i])
      throw files::Error("no tensor has the name " + files::in_quotes(wanted[i]) +
                         "; `ladon-weights list` prints the names");
  return taker.end();
} catch (const files::Error& error) {
  throw files::Error(file_name + ": " + error.what());
}

}  // namespace ladon::weights
