// SPDX-License-Identifier: Apache-2.0
// Finds the files of a checkpoint. An index of shards is a JSON object:
//
//   {"metadata": {"total_size": ..}, "weight_map": {"TENSOR": "model-00001-of-00002.safetensors", ..}}
#include <system_error>

#include "shard.hpp"
#include "strict_json.hpp"
#include "utf8.hpp"

namespace ladon::files {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view index_ending = ".index.json";

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

[[noreturn]] void refuse_index(const fs::path& file, const std::string& what) {
  throw Error(utf8_of(file) + ": " + what);
}

// Rejects names of other folders, because an index may come from an untrusted source.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of("/\\:") == name.npos &&
         name.find('\0') == name.npos;
}

nlohmann::json weight_map(const fs::path& index) {
  try {
    const MappedFile file(index, Load::copy);
    return member(parse_strictly(file.bytes()), "weight_map");
  } catch (const nlohmann::json::exception& error) {
    refuse_index(index, "expected an index in JSON, found: " + in_quotes(error.what()));
  }
}

Shards shards_of_index(const fs::path& index) {
  const nlohmann::json map = weight_map(index);
  if (!map.is_object() || map.empty())
    refuse_index(index, "expected a \"weight_map\" with the shard of each tensor, found " + shown_json(map));
  Shards shards;
  std::map<std::string, std::size_t> numbers, tensors;  // number and number of tensors of each shard
  for (const auto& [tensor, shard] : map.items()) {
    if (!shard.is_string() || !is_plain_name(shard.get_ref<const std::string&>()))
      refuse_index(index, "tensor " + in_quotes(tensor) + ": expected the name of a file in the same folder, found " +
                              shown_json(shard));
    const auto& name = shard.get_ref<const std::string&>();
    const auto [found, is_new] = numbers.emplace(name, shards.files.size());
    if (is_new) shards.files.push_back(index.parent_path() / path_of(name));
    ++tensors[name];
    shards.places.emplace(tensor, found->second);
  }
  std::string missing;
  for (const auto& [name, count] : tensors)
    if (!is_there(index.parent_path() / path_of(name)))
      missing += "\n  " + in_quotes(name) + ", which has " + std::to_string(count) + " of the " +
                 std::to_string(map.size()) + " tensors";
  if (!missing.empty()) refuse_index(index, "these shards are missing in the folder of the index:" + missing);
  return shards;
}

// Returns the file of a folder that stands for the whole checkpoint.
fs::path checkpoint_of_folder(const fs::path& folder) {
  for (const char* name : {"model.safetensors", "model.safetensors.index.json"})
    if (is_there(folder / name)) return folder / name;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".safetensors") found.push_back(entry.path());
  if (found.size() != 1)
    refuse_index(folder,
                 "expected model.safetensors, model.safetensors.index.json or one other safetensors file in this "
                 "folder, found " +
                     (found.empty() ? "none" : std::to_string(found.size()) + " safetensors files") +
                     (is_there(folder / "pytorch_model.bin")
                          ? "; pytorch_model.bin is not read: save_pretrained of transformers writes model.safetensors"
                          : ""));
  return found.front();
}

}  // namespace

Shards shards_of(const fs::path& path) {
  std::error_code ignored;
  const fs::path file = fs::is_directory(path, ignored) ? checkpoint_of_folder(path) : path;
  if (utf8_of(file.filename()).ends_with(index_ending)) return shards_of_index(file);
  return {{file}, {}};
}

}  // namespace ladon::files
