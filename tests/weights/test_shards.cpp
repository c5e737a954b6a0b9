// Tests sharded checkpoints: an index, its shards, and folders.
#include <doctest/doctest.h>

#include <ladon/safetensors/folder.hpp>

#include "packing.hpp"

namespace ladon::files {

using examples::TemporaryFolder, safetensors::File, safetensors::Folder;

TEST_SUITE_BEGIN("shards");

namespace {

const std::string map_of_two =
    R"({"metadata":{"total_size":24},"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})";

// Writes an index and two shards with the tensors a and b.
struct Sharded {
  explicit Sharded(const std::string& map = map_of_two) {
    static_cast<void>(folder.file("one.safetensors", Checkpoint().add("a", 2, 1).content()));
    two = folder.file("two.safetensors", Checkpoint().add("b", 4, 5).content());
    index = folder.file("model.safetensors.index.json", map);
  }
  [[nodiscard]] std::string complaint() const {
    return examples::error_of<Error>([&] { static_cast<void>(File(index)); });
  }
  TemporaryFolder folder;
  std::filesystem::path index, two;
};

void check_ends(const std::string& text, const std::string& end) {
  CAPTURE(text);
  CHECK(text.ends_with(end));
}

}  // namespace

TEST_CASE("an index or its folder opens all shards") {
  const Sharded sharded;
  for (const auto& path : {sharded.index, sharded.index.parent_path()}) {
    File opened(path);
    const File file(std::move(opened));
    CHECK(file.tensor("a", {2})[1] == 2);
    CHECK(file.tensor("b", {4})[3] == 8);
    CHECK(file.tensors().at("b").shard == 1);
  }
}

TEST_CASE("a folder with config.json") {
  const Sharded sharded;
  check_ends(examples::error_of<Error>([&] { static_cast<void>(Folder(sharded.index.parent_path())); }),
             "config.json: no such file");
  static_cast<void>(sharded.folder.file("config.json", R"({"model_type": "llama"})"));
  const Folder folder(sharded.index.parent_path());
  CHECK(folder.config() == R"({"model_type": "llama"})");
  CHECK(folder.find("b") == &folder.file().tensors().at("b"));
  CHECK(folder.find("c") == nullptr);
}

TEST_CASE("a folder with one or with several safetensors files") {
  const TemporaryFolder folder;
  const auto path = folder.file("other.safetensors", Checkpoint().add("a", 2, 1).content()).parent_path();
  CHECK(File(path).tensors().contains("a"));
  static_cast<void>(folder.file("another.safetensors", Checkpoint().add("a", 2, 1).content()));
  check_ends(examples::error_of<Error>([&] { static_cast<void>(File(path)); }), "found 2 safetensors files");
}

TEST_CASE("all missing shards are named, with their numbers of tensors") {
  const Sharded sharded(
      R"({"weight_map":{"a":"one.safetensors","b":"3.safetensors","c":"4.safetensors","d":"3.safetensors"}})");
  check_ends(sharded.complaint(),
             "these shards are missing in the folder of the index:\n"
             "  \"3.safetensors\", which has 2 of the 4 tensors\n"
             "  \"4.safetensors\", which has 1 of the 4 tensors");
}

TEST_CASE("a tensor that is in another shard than the index says, or in two") {
  check_ends(Sharded(R"({"weight_map":{"a":"one.safetensors","b":"one.safetensors"}})").complaint(),
             R"(tensor "b": expected this tensor in the shard "one.safetensors", as the index says, found none)");
  check_ends(Sharded(R"({"weight_map":{"a":"two.safetensors","b":"one.safetensors"}})").complaint(),
             R"(as the index says, found it in another shard)");
  const Sharded sharded;
  static_cast<void>(sharded.folder.file("two.safetensors", Checkpoint().add("a", 4, 5).content()));
  check_ends(sharded.complaint(), R"(tensor "a": expected this tensor in one shard only, found it in two)");
}

TEST_CASE("an index may not name files of other folders") {
  for (const std::string name : {"../one.safetensors", "/one.safetensors", "..", "", R"(a\\b)", "C:b"}) {
    CAPTURE(name);
    const Sharded sharded(R"({"weight_map":{"a":")" + name + "\"}}");
    CHECK(sharded.complaint().find("expected the name of a file in the same folder") != std::string::npos);
  }
}

TEST_CASE("wrong indexes") {
  check_ends(Sharded("{}").complaint(), R"(expected a "weight_map" with the shard of each tensor, found null)");
  CHECK(Sharded("{").complaint().find("expected an index in JSON") != std::string::npos);
  CHECK(Sharded(R"({"weight_map":{"a":3}})").complaint().find("found 3") != std::string::npos);
}

TEST_CASE("the tensors of a kernel may come from several shards") {
  const TemporaryFolder folder;
  static_cast<void>(
      folder.file("1.safetensors", Checkpoint().add("in_proj_weight", 8, 4, 0).add("in_proj_bias", 8, 100).content()));
  static_cast<void>(folder.file("2.safetensors",
                                Checkpoint().add("out_proj.weight", 4, 4, 200).add("out_proj.bias", 4, 300).content()));
  const auto index =
      folder.file("m.index.json", R"({"weight_map":{"in_proj_weight":"1.safetensors","in_proj_bias":"1.safetensors",
      "out_proj.weight":"2.safetensors","out_proj.bias":"2.safetensors"}})");
  const File file(index);
  const weights::Spec spec = weights::parse_spec(weights::in_proj_spec, "spec");
  const weights::Found found = weights::find_tensors(file, "m", spec, "");
  weights::check_packed_attention({weights::pack(file, spec, found, {"m", "", "n"}), {}, ""});
}

TEST_SUITE_END();

}  // namespace ladon::files
