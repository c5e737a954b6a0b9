// Fuzzes the reader of sharded checkpoints. Any bytes are accepted as model.safetensors.index.json, or cause an Error.
// For an accepted index, each tensor lies in the shard that the index names.
//
// An input is an index. The folder of the index has the shards "one" with the tensor a, and "two" with b and c.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ladon/safetensors/file.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "support/require.hpp"

namespace {

using ladon_fuzz::require, ladon_fuzz::require_shown;

void write(const std::filesystem::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

// Writes a safetensors file whose tensors have one byte each.
void write_shard(const std::filesystem::path& path, std::string_view names) {
  nlohmann::json header = nlohmann::json::object();
  for (std::size_t i = 0; i < names.size(); ++i)
    header[std::string(1, names[i])] = {{"dtype", "U8"}, {"shape", {1}}, {"data_offsets", {i, i + 1}}};
  const std::string text = header.dump();
  std::string length(8, '\0');
  length[0] = static_cast<char>(text.size()), length[1] = static_cast<char>(text.size() >> 8);
  write(path, length + text + std::string(names));
}

// A folder with two shards, which the end of the program removes.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/ladon_fuzz_XXXXXX";
    require(mkdtemp(name) != nullptr, "the system gives a folder");
    path_ = name;
    write_shard(path_ / "one", "a");
    write_shard(path_ / "two", "bc");
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::filesystem::path index() const { return path_ / "model.safetensors.index.json"; }

 private:
  std::filesystem::path path_;
};

void check(const ladon::safetensors::File& file, std::string_view text) {
  const auto map = nlohmann::json::parse(text).at("weight_map");
  for (const auto& [name, shard] : map.items()) {
    const auto& tensor = file.tensors().at(name);
    require((shard == "one") == (name == "a"), "a tensor lies in the shard that the index names");
    require(static_cast<char>(file.bytes(tensor)[0]) == name[0], "a tensor has the bytes of its shard");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  write(folder.index(), text);
  try {
    check(ladon::safetensors::File(folder.index()), text);
  } catch (const ladon::safetensors::Error& error) {
    require_shown(error.what(), "an error");
  }
  return 0;
}
