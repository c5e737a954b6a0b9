// SPDX-License-Identifier: Apache-2.0
#include "safetensors.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "edit_distance.hpp"
#include "floats.hpp"
#include "other_files.hpp"

namespace ladon::files {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little,
              "the values of a file are little-endian, and the library uses the values in place");

constexpr std::size_t length_bytes = 8;
// The longest header that is accepted. The reference implementation of the format has the same limit. With the limit, a
// damaged length cannot make the reader allocate gigabytes.
constexpr std::uint64_t largest_header = 100'000'000;
// A header {"name": {"shape": [..]}} has three levels. A fourth level is accepted, so that the error about a wrong
// shape can name the tensor. More levels are rejected, because a hostile header could nest millions of levels.
constexpr std::size_t deepest_header = 4;

// Returns a value from a file as JSON text for messages. The text is ASCII with escapes, so that a file cannot send
// control sequences to a terminal. A long text is truncated.
std::string shown_json(const json& value) {
  constexpr std::size_t longest = 200;
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

// Rejects duplicate keys and deep nesting. The format does not allow duplicate keys, but json::parse accepts them and
// keeps the last value. This is a handler of json::sax_parse and no callback of json::parse, because with a callback,
// the time of json::parse is quadratic in the number of tensors.
class StrictKeys : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(json::number_integer_t) override { return true; }
  bool number_unsigned(json::number_unsigned_t) override { return true; }
  bool number_float(json::number_float_t, const json::string_t&) override { return true; }
  bool string(json::string_t&) override { return true; }
  bool binary(json::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return begin(); }
  bool start_array(std::size_t) override { return begin(); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool key(json::string_t& name) override {
    if (!keys_.back().insert(name).second) throw Error("the key " + shown_json(name) + " appears twice");
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override { return false; }

 private:
  bool begin() {
    keys_.emplace_back();
    if (keys_.size() > deepest_header) throw Error("the header is nested too deeply");
    return true;
  }
  bool end() {
    keys_.pop_back();
    return true;
  }

  std::vector<std::set<std::string>> keys_;  // of each open object; empty for an array
};

json parse_strictly(std::span<const std::byte> text) {
  const auto* begin = reinterpret_cast<const char*>(text.data());
  StrictKeys strict;
  json::sax_parse(begin, begin + text.size(), &strict);
  return json::parse(begin, begin + text.size());  // throws the errors of parse_error
}

// Appends the unsigned integers of a JSON list to `sizes`. Returns false if `values` is anything else than a list of
// unsigned integers.
bool read_sizes(const json& values, std::vector<std::uint64_t>& sizes) {
  if (!values.is_array()) return false;
  for (const json& value : values) {
    if (!value.is_number_unsigned()) return false;
    sizes.push_back(value.get<std::uint64_t>());
  }
  return true;
}

json member(const json& object, const char* key) {
  return object.is_object() && object.contains(key) ? object.at(key) : json();
}

}  // namespace

std::string in_quotes(std::string_view text) { return shown_json(json(text)); }

std::string escaped(std::string_view text) {
  const std::string with_quotes = json(text).dump(-1, ' ', true, json::error_handler_t::replace);
  return with_quotes.substr(1, with_quotes.size() - 2);
}

std::string shown(const std::vector<std::uint64_t>& shape) { return json(shape).dump(); }

std::string safetensors_header(std::span<const NamedTensor> tensors, const std::string& metadata) {
  std::string header = metadata.empty() ? "{" : "{\"__metadata__\":" + metadata;
  for (const auto& [name, tensor] : tensors) {
    // The header is appended piece by piece, because g++ 12 wrongly warns about the shorter form `text + dump()`
    // (-Wrestrict, GCC bug 105651).
    if (header.size() > 1) header += ',';
    header += json(name).dump();
    header += ":{\"dtype\":";
    header += json(tensor.dtype).dump();
    header += ",\"shape\":";
    header += shown(tensor.shape);
    header += ",\"data_offsets\":";
    header += shown(std::vector{tensor.begin, tensor.end});
    header += '}';
  }
  header += '}';
  header.resize((header.size() + length_bytes - 1) / length_bytes * length_bytes, ' ');
  if (header.size() > largest_header)
    throw Error("the output needs a header of " + std::to_string(header.size()) + " bytes; the largest has " +
                std::to_string(largest_header));
  const std::uint64_t length = header.size();
  std::string bytes(length_bytes, '\0');
  std::memcpy(bytes.data(), &length, length_bytes);
  return bytes + header;
}

}  // namespace ladon::files

namespace ladon::safetensors {

using files::in_quotes, files::json, files::length_bytes, files::largest_header, files::member, files::parse_strictly,
    files::read_sizes, files::shown, files::shown_json;

class File::Mapping : public files::MappedFile {
 public:
  using MappedFile::MappedFile;
  mutable std::mutex mutex;
  mutable std::map<std::string, std::string> kept;
};

File::File(const std::filesystem::path& file, Access access)
    : name_(file.string()), mapping_(std::make_unique<const Mapping>(file, access)) {
  read_header_length();
  read_header();
  check_offsets();
}

File::~File() = default;
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;

void File::read_header_length() {
  const auto bytes = mapping_->bytes();
  if (bytes.size() < length_bytes)
    fail("expected the header's length in 8 bytes, found a file of " + std::to_string(bytes.size()));
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), length_bytes);
  if (const auto kind = weights::kind_of_content(bytes); length > largest_header && !kind.empty())
    fail("expected a safetensors file, found " + kind);
  const std::uint64_t largest = std::min(largest_header, std::uint64_t{bytes.size() - length_bytes});
  if (length > largest)
    fail("expected a header of at most " + std::to_string(largest) + " bytes, found a length of " +
         std::to_string(length) + " (is the file truncated, or not a safetensors file?)");
  data_begin_ = length_bytes + static_cast<std::size_t>(length);
}

void File::read_header() {
  json header;
  try {
    header = parse_strictly(mapping_->bytes().subspan(length_bytes, data_begin_ - length_bytes));
  } catch (const std::exception& error) {
    fail("expected a header in JSON, found: " + in_quotes(error.what()));
  }
  if (!header.is_object()) fail("expected a JSON object as header, found " + shown_json(header));
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") {
      metadata_ = value.dump();
      continue;
    }
    const json dtype = member(value, "dtype");
    if (!dtype.is_string()) fail(name, "expected a \"dtype\", found " + shown_json(value));
    std::vector<std::uint64_t> shape;
    if (!read_sizes(member(value, "shape"), shape))
      fail(name, "expected a \"shape\" of sizes, found " + shown_json(value));
    std::vector<std::uint64_t> offsets;
    if (!read_sizes(member(value, "data_offsets"), offsets) || offsets.size() != 2)
      fail(name, "expected two \"data_offsets\", found " + shown_json(value));
    tensors_.emplace(name, Tensor{dtype.get<std::string>(), std::move(shape), offsets[0], offsets[1]});
  }
}

// Checks the tensors in the order of their data, so that the error about a truncated file names the first truncated
// tensor.
void File::check_offsets() const {
  std::vector<std::pair<std::string_view, const Tensor*>> by_offset;
  by_offset.reserve(tensors_.size());
  for (const auto& [name, tensor] : tensors_) by_offset.emplace_back(name, &tensor);
  std::ranges::sort(by_offset, {}, [](const auto& named) { return std::pair(named.second->begin, named.second->end); });

  const std::uint64_t size = mapping_->bytes().size() - data_begin_;
  std::uint64_t expected_begin = 0;
  for (const auto& [name, tensor] : by_offset) {
    const std::string found = shown({tensor->begin, tensor->end});
    if (tensor->begin != expected_begin)
      fail(name, "expected data that begins at byte " + std::to_string(expected_begin) +
                     ", where the tensor before it ends, found data_offsets " + found);
    if (tensor->end < tensor->begin)
      fail(name, "expected data that ends behind its beginning, found data_offsets " + found);
    if (tensor->end > size)
      fail(name, "expected data at data_offsets " + found + ", found a file that ends at byte " + std::to_string(size) +
                     " of the data (truncated?)");
    expected_begin = tensor->end;
  }
  if (expected_begin != size)
    fail("expected " + std::to_string(expected_begin) + " bytes of data, found " + std::to_string(size));
}

std::string File::metadata() const {
  if (metadata_.empty()) return "";
  const json values = json::parse(metadata_);
  if (!values.is_object() || !std::ranges::all_of(values, [](const json& value) { return value.is_string(); }))
    fail("expected a \"__metadata__\" of texts, found " + shown_json(values));
  return metadata_;
}

std::span<const std::byte> File::bytes(const Tensor& tensor) const {
  return mapping_->bytes().subspan(data_begin_ + static_cast<std::size_t>(tensor.begin),
                                   static_cast<std::size_t>(tensor.end - tensor.begin));
}

const std::byte* File::kept(const std::string& key, const std::function<std::string()>& make) const {
  const std::scoped_lock lock(mapping_->mutex);
  auto found = mapping_->kept.find(key);
  if (found == mapping_->kept.end()) found = mapping_->kept.emplace(key, make()).first;
  return reinterpret_cast<const std::byte*>(found->second.data());
}

const std::byte* File::values(std::string_view name, std::string_view dtype, std::size_t element_bytes,
                              std::span<const std::size_t> shape) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    const std::string kind = weights::kind_of_file(*this);
    fail(name, "expected a tensor of this name, found none" + similar_names(name) + (kind.empty() ? "" : "; " + kind));
  }
  const Tensor& tensor = found->second;
  const bool is_widened = dtype == "F32" && (tensor.dtype == "F16" || tensor.dtype == "BF16");
  if (tensor.dtype != dtype && !is_widened)
    fail(name, "expected dtype " + std::string(dtype) + ", found " + in_quotes(tensor.dtype));
  if (!std::ranges::equal(tensor.shape, shape))
    fail(name, "expected shape " + shown({shape.begin(), shape.end()}) + ", found " + shown(tensor.shape));

  // The product of the extents cannot overflow, because `shape` equals the shape that the program requested. A hostile
  // file does not determine the extents.
  const std::size_t width = is_widened ? 2 : element_bytes;
  const std::size_t bytes = std::accumulate(shape.begin(), shape.end(), width, std::multiplies<>());
  const auto found_bytes = this->bytes(tensor);
  if (found_bytes.size() != bytes)
    fail(name, "expected " + std::to_string(bytes) + " bytes of data, found " + std::to_string(found_bytes.size()));
  if (!is_widened && (data_begin_ + tensor.begin) % element_bytes == 0) return found_bytes.data();
  return kept(std::string(dtype).append(" ").append(name), [&] {
    std::string copy;
    if (is_widened)
      weights::append_floats(tensor.dtype, found_bytes, copy);
    else
      copy.assign(reinterpret_cast<const char*>(found_bytes.data()), bytes);
    return copy;
  });
}

std::string File::similar_names(std::string_view name) const {
  constexpr std::size_t most_compared = 4'000, most_shown = 3, longest = 200;
  std::vector<std::pair<std::size_t, std::string_view>> similar;
  std::size_t compared = 0;
  for (const auto& [other, tensor] : tensors_) {
    if (other.size() > longest || name.size() > longest) continue;
    if (++compared > most_compared) break;
    const std::size_t distance = files::edit_distance(name, other);
    if (2 * distance <= std::max(name.size(), other.size())) similar.emplace_back(distance, other);
  }
  std::ranges::sort(similar);
  std::string text;
  for (std::size_t i = 0; i < std::min(most_shown, similar.size()); ++i)
    text += (i == 0 ? "; similar names: " : ", ") + files::in_quotes(similar[i].second);
  return text;
}

void File::fail(const std::string& what) const { throw Error(name_ + ": " + what); }

void File::fail(std::string_view tensor, const std::string& what) const {
  fail("tensor " + in_quotes(tensor) + ": " + what);
}

}  // namespace ladon::safetensors
