// Tests the command line of programs that run a model.
#include <vector>

#include <doctest/doctest.h>

#include "ladon/safetensors/records.hpp"
#include "packing.hpp"

namespace ladon::weights {
namespace {

using examples::error_of, examples::TemporaryFolder, safetensors::Records;

// A command line with a file of recorded inputs.
struct RecordsScene {
  TemporaryFolder folder;
  std::string path;

  explicit RecordsScene(const files::Checkpoint& given) : path(folder.file("io", given.content()).string()) {}
  [[nodiscard]] std::vector<std::int32_t> ids(std::size_t most, std::size_t rows) const {
    const char* const arguments[] = {"program", "model", "--inputs", path.c_str()};
    return Records(4, arguments).ids("input_ids", most, rows);
  }
  // The types of two tokens of a model with 3 types.
  [[nodiscard]] std::vector<std::int32_t> types() const {
    const char* const arguments[] = {"program", "model", "--inputs", path.c_str()};
    return Records(4, arguments, {.takes_types = true}).types("token_type_ids", 2, 3);
  }
  [[nodiscard]] std::string types_error() const {
    return error_of<safetensors::Error>([&] { (void)types(); });
  }
  [[nodiscard]] std::string error(std::size_t most = 9, std::size_t rows = 9) const {
    return error_of<safetensors::Error>([&] { (void)ids(most, rows); });
  }
};

files::Checkpoint two_ids() {
  files::Checkpoint checkpoint;
  checkpoint.add("given.input_ids", "I32", "[1,2]", std::string("\3\0\0\0\4\0\0\0", 8));
  return checkpoint;
}

std::string usage_error(const std::vector<const char*>& arguments) {
  return error_of<safetensors::Error>([&] { Records(static_cast<int>(arguments.size()), arguments.data()); });
}

}  // namespace

TEST_SUITE_BEGIN("records");

TEST_CASE("ids of a file") {
  CHECK(RecordsScene(two_ids()).ids(9, 9) == std::vector<std::int32_t>{3, 4});
  CHECK(examples::has(RecordsScene(two_ids()).error(1), R"("input_ids" has 2 numbers; expected 1)"));
  CHECK(examples::has(RecordsScene(two_ids()).error(9, 4),
                      R"("input_ids" has the id 4, but the table of embeddings has 4 rows)"));
  files::Checkpoint floats;
  floats.add("given.input_ids", "F32", "[1]", "1234");
  CHECK(examples::has(RecordsScene(floats).error(), "given.input_ids has the dtype F32; expected I64 or I32"));
  CHECK(examples::has(RecordsScene(files::Checkpoint{}).error(), "has no tensor given.input_ids"));
}

TEST_CASE("types of tokens") {
  const auto scene = [](const char* dtype, const std::string& bytes) {
    return RecordsScene(two_ids().add("given.token_type_ids", dtype, "[1,2]", bytes));
  };
  CHECK(scene("I32", std::string("\2\0\0\0\1\0\0\0", 8)).types() == std::vector<std::int32_t>{2, 1});
  CHECK(RecordsScene(two_ids()).types() == std::vector<std::int32_t>{0, 0});
  CHECK(examples::has(scene("I32", std::string("\3\0\0\0\1\0\0\0", 8)).types_error(),
                      R"("token_type_ids" has the type 3, but the table of token types has 3 rows)"));
  CHECK(examples::has(scene("F32", std::string(8, '\0')).types_error(), "has the dtype F32; expected I64 or I32"));
  const RecordsScene one(two_ids().add("given.token_type_ids", "I64", "[1,1]", std::string(8, '\0')));
  CHECK(examples::has(one.types_error(), R"("token_type_ids" has 1 numbers; expected 2)"));
}

TEST_CASE("types of the ids of a text") {
  const char* const arguments[] = {"program", "model", "--text", "a"};
  Records records(4, arguments, {.takes_text = true, .takes_types = true});
  records.set_ids({7, 8}, {0, 1});
  CHECK(records.ids("input_ids", 2, 9) == std::vector<std::int32_t>{7, 8});
  CHECK(records.types("token_type_ids", 2, 2) == std::vector<std::int32_t>{0, 1});
  CHECK_THROWS_AS((void)records.types("token_type_ids", 2, 1), safetensors::Error);
}

TEST_CASE("a model of two stacks computes the stacks whose inputs are given") {
  const char* const words[] = {"program", "model", "1", "2"};
  Records of_words(4, words);
  CHECK(of_words.has_ids("input_ids"));
  (void)of_words.ids("input_ids", 2, 9);
  CHECK(of_words.has_ids("input_ids"));
  CHECK(!of_words.has_ids("other_ids"));
  CHECK(!of_words.has("input_ids"));
  const RecordsScene scene(two_ids());
  const char* const arguments[] = {"program", "model", "--inputs", scene.path.c_str()};
  const Records of_file(4, arguments);
  CHECK(of_file.has_ids("input_ids"));
  CHECK(!of_file.has_ids("other_ids"));
  CHECK(examples::has(error_of<safetensors::Error>([&] { of_file.write(); }),
                      "has no input of the model, such as given.input_ids; found given.input_ids"));
  CHECK(error_of<safetensors::Error>([&] { of_words.write(); }) == "the model needs --inputs");
}

// The results of a model without types would be wrong.
TEST_CASE("padding, frequencies other than 0, and types of tokens that a model lacks, are refused") {
  const std::string one("\1\0\0\0\0\0\0\0", 8), none(8, '\0');
  const auto error = [](const char* name, const std::string& bytes) {
    return RecordsScene(two_ids().add(name, "I64", "[1,1]", bytes)).error();
  };
  CHECK(error("given.attention_mask", one).empty());
  CHECK(error("given.token_type_ids", none).empty());
  CHECK(
      examples::has(error("given.attention_mask", none), "given.attention_mask has a number that is not 1; a program"));
  for (const std::string name : {"given.past_values_padding", "given.freq"}) {
    CHECK(error(name.c_str(), none).empty());
    CHECK(examples::has(error(name.c_str(), one), name + " has a number that is not 0; a program"));
  }
  CHECK(examples::has(error("given.token_type_ids", one),
                      "given.token_type_ids has a number that is not 0; the model has no table of token types"));
}

TEST_CASE("wrong command lines") {
  CHECK(examples::has(usage_error({"program"}), "usage: FOLDER --inputs IN.safetensors"));
  CHECK(examples::has(usage_error({"program", "model", "--inputs"}), "--inputs needs a value"));
  CHECK(examples::has(usage_error({"program", "model", "--text", "a"}), "the program takes no text"));
  CHECK(examples::has(usage_error({"program", "model", "x"}), R"("x" is no token id and no option)"));
}

TEST_SUITE_END();

}  // namespace ladon::weights
