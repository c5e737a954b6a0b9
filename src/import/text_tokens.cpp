// SPDX-License-Identifier: Apache-2.0
#include "text_tokens.hpp"

#include <array>
#include <string>
#include <vector>

#include "config.hpp"
#include "utf8.hpp"

namespace ladon::import {
namespace {

using Ids = std::vector<std::int32_t>;
using nlohmann::json;

class Settings {
 public:
  explicit Settings(const std::filesystem::path& folder) {
    for (const char* name : {"generation_config.json", "config.json"}) {
      const auto path = folder / name;
      if (std::filesystem::exists(path)) files_.push_back({files::utf8_of(path), families::read_json(path)});
    }
  }

  // Returns the ids of a key: a number or a list of numbers.
  [[nodiscard]] Ids ids(const char* key) const {
    const auto [value, file] = find(key);
    Ids ids;
    if (value == nullptr) return ids;
    for (const json& id : value->is_array() ? *value : json::array({*value})) ids.push_back(id_of(id, key, *file));
    return ids;
  }

  // Returns the bad_words_ids that have one id. The key has a list of lists.
  [[nodiscard]] Ids bad_words() const {
    const auto [value, file] = find("bad_words_ids");
    Ids ids;
    if (value == nullptr) return ids;
    for (const json& word : *value)
      if (word.is_array() && word.size() == 1) ids.push_back(id_of(word[0], "bad_words_ids", *file));
    return ids;
  }

  // Appends the forced_decoder_ids that have the next places: [[1, 50259], [2, null]]. An id that is null is unknown.
  void append_forced(Ids& starts) const {
    const auto [value, file] = find("forced_decoder_ids");
    if (value == nullptr) return;
    for (const json& forced : *value) {
      if (!forced.is_array() || forced.size() != 2 || forced[0] != starts.size() || forced[1].is_null()) return;
      starts.push_back(id_of(forced[1], "forced_decoder_ids", *file));
    }
  }

 private:
  struct File {
    std::string name;
    json content;
  };
  struct Found {
    const json* value = nullptr;
    const File* file = nullptr;
  };
  [[nodiscard]] Found find(const char* key) const {
    for (const File& file : files_) {
      const auto found = file.content.find(key);
      if (found != file.content.end() && !found->is_null()) return {&*found, &file};
    }
    return {};
  }
  static std::int32_t id_of(const json& id, const std::string& key, const File& file) {
    if (!id.is_number_integer() || id < 0 || id > 0x7fffffff)
      throw safetensors::Error(file.name + ": \"" + key + "\" has " + id.dump() + ", which is not a token id");
    return id.get<std::int32_t>();
  }

  std::vector<File> files_{};
};

}  // namespace

TextTokens text_tokens_of(const std::filesystem::path& folder) {
  const Settings settings(folder);
  TextTokens tokens{.ends = settings.ids("eos_token_id"),
                    .starts = settings.ids("decoder_start_token_id"),
                    .suppressed = settings.ids("suppress_tokens"),
                    .suppressed_first = settings.ids("begin_suppress_tokens")};
  for (const std::int32_t id : settings.bad_words()) tokens.suppressed.push_back(id);
  if (tokens.starts.empty()) tokens.starts = settings.ids("bos_token_id");
  if (tokens.starts.empty()) return tokens;
  for (const std::int32_t id : settings.ids("forced_bos_token_id")) tokens.starts.push_back(id);
  settings.append_forced(tokens.starts);
  return tokens;
}

}  // namespace ladon::import
