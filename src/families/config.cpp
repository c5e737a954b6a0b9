// SPDX-License-Identifier: Apache-2.0
#include "config.hpp"

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

#include "mapped_file.hpp"
#include "safetensors.hpp"
#include "strict_json.hpp"
#include "utf8.hpp"

namespace ladon::families {

nlohmann::json parse_json(const std::string& text, const std::string& name) {
  try {
    return files::parse_strictly(std::as_bytes(std::span(text)), 16);
  } catch (const nlohmann::json::exception& error) {
    throw safetensors::Error(name + ": is not valid JSON: " + files::escaped(error.what()));
  } catch (const std::exception& error) {
    throw safetensors::Error(name + ": is not valid JSON: " + error.what());
  }
}

nlohmann::json read_json(const std::filesystem::path& path) {
  const files::MappedFile file(path, safetensors::Access::copy);
  return parse_json({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}, files::utf8_of(path));
}

Config::Config(nlohmann::json object, std::string where, std::size_t tokens)
    : object_(std::move(object)), where_(std::move(where)), tokens_(tokens) {
  if (!object_.is_object())
    throw safetensors::Error(where_ + ": expected an object, found " + files::shown_json(object_));
}

const nlohmann::json* Config::find(const char* key) const {
  const auto place = object_.find(key);
  return place == object_.end() || place->is_null() ? nullptr : &*place;
}

const char* Config::choose(const std::string& member, Keys keys) {
  for (const char* key : keys) {
    if (!has(key)) continue;
    if (!member.empty()) noted_[member] = key;
    return key;
  }
  if (!member.empty()) noted_[member] = *keys.begin();
  return nullptr;
}

std::size_t Config::size(const std::string& member, Keys keys, std::size_t otherwise) {
  constexpr std::uint64_t most = 1u << 30;
  const char* key = choose(member, keys);
  if (key == nullptr) return otherwise;
  const nlohmann::json& value = *find(key);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) fail(key, "a whole number from 0 to 2^30");
  return value.get<std::size_t>();
}

double Config::number(const std::string& member, Keys keys, double otherwise) {
  const char* key = choose(member, keys);
  if (key == nullptr) return otherwise;
  constexpr double most = 1e30;  // so that products with the number are finite floats
  if (!find(key)->is_number() || !(std::abs(find(key)->get<double>()) <= most)) fail(key, "a number");
  return find(key)->get<double>();
}

std::size_t Config::scaled(std::size_t size, const char* key, double otherwise) {
  const double product = static_cast<double>(size) * number("", {key}, otherwise);
  if (!(product >= 1 && product <= 1u << 30))
    fail(key, "a factor of " + std::to_string(size) + ", with a product of at most 2^30");
  return static_cast<std::size_t>(product);
}

bool Config::flag(const std::string& member, Keys keys, bool otherwise) {
  const char* key = choose(member, keys);
  if (key == nullptr) return otherwise;
  if (!find(key)->is_boolean()) fail(key, "true or false");
  return find(key)->get<bool>();
}

std::string Config::text(const std::string& member, Keys keys, const std::string& otherwise) {
  const char* key = choose(member, keys);
  if (key == nullptr) return otherwise;
  if (!find(key)->is_string()) fail(key, "a text");
  return find(key)->get<std::string>();
}

Config Config::inner(const char* key) const {
  const nlohmann::json* object = find(key);
  return {object == nullptr ? nlohmann::json::object() : *object, where_ + ": \"" + key + '"', tokens_};
}

std::vector<Config> Config::list(const char* key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return {};
  if (!value->is_array()) fail(key, "a list");
  std::vector<Config> items;
  items.reserve(value->size());
  for (std::size_t i = 0; i < value->size(); ++i)
    items.push_back({(*value)[i], where_ + ": \"" + key + "\"[" + std::to_string(i) + ']', tokens_});
  return items;
}

std::vector<std::string> Config::keys() const {
  std::vector<std::string> keys;
  keys.reserve(object_.size());
  for (const auto& item : object_.items()) keys.push_back(item.key());
  return keys;
}

void Config::refuse(const std::string& key, const std::string& why) const {
  const nlohmann::json* value = find(key.c_str());
  throw safetensors::Error(where_ + ": \"" + key + "\" is " +
                           (value == nullptr ? "absent" : files::shown_json(*value)) + ": " + why +
                           " (docs/limits.md)");
}

void Config::fail(const std::string& key, const std::string& expected) const {
  const nlohmann::json* value = find(key.c_str());
  throw safetensors::Error(where_ + ": \"" + key + "\": expected " + expected + ", found " +
                           (value == nullptr ? "nothing" : files::shown_json(*value)));
}

}  // namespace ladon::families
