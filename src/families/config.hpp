// SPDX-License-Identifier: Apache-2.0
// Reads keys of a config.json, and notes which key determines which member of a Model.
#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <ladon/safetensors/error.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ladon::families {

// Return the value of a JSON text or file. Throw Error with the name of the text, or the path.
nlohmann::json parse_json(const std::string& text, const std::string& name);
nlohmann::json read_json(const std::filesystem::path& path);

class Config {
 public:
  // The names that a key has in different model types and versions. A key whose value is null counts as absent.
  using Keys = std::initializer_list<const char*>;

  Config(nlohmann::json object, std::string where, std::size_t tokens);

  // Return the value of the first of `keys` that is present, or else `otherwise`. Note the key for the member `member`
  // of the Model, if `member` is not empty. Throw Error if the value has another type.
  std::size_t size(const std::string& member, Keys keys, std::size_t otherwise);
  double number(const std::string& member, Keys keys, double otherwise);
  bool flag(const std::string& member, Keys keys, bool otherwise);
  std::string text(const std::string& member, Keys keys, const std::string& otherwise);

  // Returns `size` times the number of a key, rounded down.
  std::size_t scaled(std::size_t size, const char* key, double otherwise);

  [[nodiscard]] bool has(const char* key) const { return find(key) != nullptr; }
  [[nodiscard]] bool is_null(const char* key) const { return object_.contains(key) && !has(key); }
  // Returns the value of a key, or null if the key is absent.
  [[nodiscard]] const nlohmann::json* find(const char* key) const;
  // Returns the object of a key. If the key is absent, the object is empty.
  [[nodiscard]] Config inner(const char* key) const;
  // Returns the objects in the list of a key. If the key is absent, there are none.
  [[nodiscard]] std::vector<Config> list(const char* key) const;
  [[nodiscard]] std::vector<std::string> keys() const;

  // Throw Error with the key and its value. `refuse` is for what Ladon lacks, `fail` for a wrong value.
  [[noreturn]] void refuse(const std::string& key, const std::string& why) const;
  [[noreturn]] void fail(const std::string& key, const std::string& expected) const;

  void note(const std::string& member, const std::string& key) { noted_[member] = key; }
  [[nodiscard]] const std::map<std::string, std::string>& noted() const { return noted_; }
  [[nodiscard]] std::size_t tokens() const { return tokens_; }  // as the caller of `describe` gave them

 private:
  // Returns the first key that is present, or null.
  const char* choose(const std::string& member, Keys keys);

  nlohmann::json object_;
  std::string where_;  // "config.json", or with the keys of the object in it
  std::size_t tokens_;
  std::map<std::string, std::string> noted_;
};

}  // namespace ladon::families
