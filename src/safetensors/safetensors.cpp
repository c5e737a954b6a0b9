// SPDX-License-Identifier: Apache-2.0
#include "safetensors.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <utility>

#include "byte_order.hpp"
#include "edit_distance.hpp"
#include "floats.hpp"
#include "mutex.hpp"
#include "other_files.hpp"
#include "shard.hpp"
#include "strict_json.hpp"
#include "utf8.hpp"

namespace ladon::files {

using nlohmann::json;

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
  const std::uint64_t length = swapped_if_big_endian(std::uint64_t{header.size()});
  std::string bytes(length_bytes, '\0');
  std::memcpy(bytes.data(), &length, length_bytes);
  return bytes + header;
}

}  // namespace ladon::files

namespace ladon::safetensors {

using files::in_quotes, files::shown, files::shown_json;

class File::Contents {
 public:
  std::vector<files::Shard> shards;
  mutable files::Mutex mutex;
  mutable std::map<std::string, std::string> kept;
};

File::File(const std::filesystem::path& file, Access access)
    : name_(files::utf8_of(file)), contents_(std::make_unique<Contents>()) {
  const auto [shards, places] = files::shards_of(file);
  for (const auto& shard : shards) contents_->shards.emplace_back(shard, access, contents_->shards.size(), tensors_);
  for (const auto& [name, place] : places) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end() || found->second.shard != place)
      fail(name, "expected this tensor in the shard " + in_quotes(files::utf8_of(shards[place].filename())) +
                     ", as the index says, found " + (found == tensors_.end() ? "none" : "it in another shard"));
  }
}

File::~File() = default;
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;

std::string File::metadata() const {
  const std::string& text = contents_->shards.front().metadata();
  if (text.empty()) return "";
  const auto values = nlohmann::json::parse(text);
  if (!values.is_object() || !std::ranges::all_of(values, [](const auto& value) { return value.is_string(); }))
    fail("expected a \"__metadata__\" of texts, found " + shown_json(values));
  return text;
}

std::span<const std::byte> File::bytes(const Tensor& tensor) const {
  return contents_->shards[tensor.shard].bytes(tensor);
}

const std::byte* File::kept(const std::string& key, const std::function<std::string()>& make) const {
  const std::lock_guard lock(contents_->mutex);
  auto found = contents_->kept.find(key);
  if (found == contents_->kept.end()) {
    std::string bytes = make();
    bytes.reserve(64);  // on the heap, which aligns the bytes. In libc++, short strings begin at odd addresses
    found = contents_->kept.emplace(key, std::move(bytes)).first;
  }
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
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(found_bytes.data()) % element_bytes == 0;
  if (!is_widened && is_aligned && (files::is_little_endian || element_bytes == 1)) return found_bytes.data();
  return kept(std::string(dtype).append(" ").append(name), [&] {
    std::string copy;
    if (is_widened) {
      weights::append_floats(tensor.dtype, found_bytes, copy);
    } else {
      copy.assign(reinterpret_cast<const char*>(found_bytes.data()), bytes);
      files::swap_if_big_endian(std::as_writable_bytes(std::span(copy)), element_bytes);
    }
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
