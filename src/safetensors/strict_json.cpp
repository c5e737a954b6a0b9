// SPDX-License-Identifier: Apache-2.0
#include "strict_json.hpp"

#include <set>
#include <vector>

#include "file_error.hpp"

namespace ladon::files {
namespace {

using nlohmann::json;

// Rejects duplicate keys and deep nesting. The format does not allow duplicate keys, but json::parse accepts them and
// keeps the last value. This is a handler of json::sax_parse and no callback of json::parse, because with a callback,
// the time of json::parse is quadratic in the number of tensors.
class StrictKeys : public nlohmann::json_sax<json> {
 public:
  explicit StrictKeys(std::size_t deepest) : deepest_(deepest) {}
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
    if (keys_.size() > deepest_) throw Error("the header is nested too deeply");
    return true;
  }
  bool end() {
    keys_.pop_back();
    return true;
  }

  std::size_t deepest_;
  std::vector<std::set<std::string>> keys_;  // of each open object; empty for an array
};

}  // namespace

json parse_strictly(std::span<const std::byte> text, std::size_t deepest) {
  const auto* begin = reinterpret_cast<const char*>(text.data());
  StrictKeys strict(deepest);
  json::sax_parse(begin, begin + text.size(), &strict);
  return json::parse(begin, begin + text.size());  // throws the errors of parse_error
}

std::string shown_json(const json& value) {
  constexpr std::size_t longest = 200;
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

json member(const json& object, const char* key) {
  return object.is_object() && object.contains(key) ? object.at(key) : json();
}

}  // namespace ladon::files
