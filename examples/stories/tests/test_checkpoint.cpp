#include <doctest/doctest.h>

#include <array>
#include <string>

#include "checkpoint.hpp"
#include "error.hpp"
#include "fixtures.hpp"
#include "mapped_file.hpp"
#include "model.hpp"

namespace stories {
namespace {

constexpr std::size_t right_size = 1'056'540;

std::string header(const std::array<std::int32_t, 7>& numbers) {
  std::string bytes;
  for (const std::int32_t number : numbers) bytes += bytes_of(number);
  return bytes;
}

const std::string right_header = header({64, 172, 5, 8, 4, 512, 512});

std::string model_error(const std::string& content) { return error_of_loading<Model>("model.bin", content); }

}  // namespace

TEST_SUITE_BEGIN("checkpoint");

TEST_CASE("the file stores tensor after tensor, each for all layers") {
  std::string content = right_header;
  for (std::size_t i = 0; i < (right_size - right_header.size()) / sizeof(float); ++i)
    content += bytes_of(static_cast<float>(i));
  REQUIRE(content.size() == right_size);
  const TemporaryFolder folder;
  const files::MappedFile file(folder.file("model.bin", content));
  const Checkpoint found = find_tensors(file.bytes(), "model.bin");
  CHECK(reinterpret_cast<const std::byte*>(found.embedding) == file.bytes().data() + right_header.size());
  CHECK(*found.embedding == 0);
  CHECK(*found.layers[0].attention_norm == 512 * 64);
  CHECK(found.layers[4].attention_norm - found.layers[0].attention_norm == 4 * 64);
  CHECK(found.layers[0].query - found.layers[0].attention_norm == 5 * 64);
  CHECK(found.layers[1].query - found.layers[0].query == 64 * 64);
  CHECK(found.layers[0].key - found.layers[0].query == 5 * 64 * 64);
  CHECK(found.layers[0].value - found.layers[0].key == 5 * 32 * 64);
  CHECK(found.layers[0].output - found.layers[0].value == 5 * 32 * 64);
  CHECK(found.layers[0].feed_forward_norm - found.layers[0].output == 5 * 64 * 64);
  CHECK(found.layers[0].gate - found.layers[0].feed_forward_norm == 5 * 64);
  CHECK(found.layers[0].down - found.layers[0].gate == 5 * 172 * 64);
  CHECK(found.layers[0].up - found.layers[0].down == 5 * 172 * 64);
  CHECK(found.layers[4].up - found.layers[0].up == 4 * 172 * 64);
  CHECK(found.final_norm - found.layers[0].up == 5 * 172 * 64);
}

TEST_CASE("a file of another size is refused, and the message has both sizes") {
  check_says(model_error(""), "model.bin: expected a header of 28 bytes, found 0 bytes");
  check_says(model_error(right_header.substr(1)), "expected a header of 28 bytes, found 27 bytes");
  check_says(model_error(right_header), "expected 1056540 bytes, found 28 bytes");
  const std::string content = right_header + std::string(right_size - right_header.size(), '\0');
  check_says(model_error(content.substr(1)), "expected the header ");
  check_says(model_error(content.substr(0, right_size - 1)), "expected 1056540 bytes, found 1056539 bytes");
  check_says(model_error(content + '\0'), "expected 1056540 bytes, found 1056541 bytes");
  CHECK(model_error(content).empty());
}

TEST_CASE("a file of another model is refused, and the message has both headers") {
  const std::string expected =
      "expected the header dim 64, hidden_dim 172, n_layers 5, n_heads 8, n_kv_heads 4, vocab_size 512, seq_len 512, "
      "found dim ";
  const std::string rest(right_size - right_header.size(), '\0');
  check_says(model_error(header({288, 768, 6, 6, 6, 32000, 256})),
             expected + "288, hidden_dim 768, n_layers 6, n_heads 6, n_kv_heads 6, vocab_size 32000, seq_len 256");
  for (std::size_t i = 0; i < 7; ++i) {
    std::array<std::int32_t, 7> numbers{64, 172, 5, 8, 4, 512, 512};
    ++numbers[i];
    check_says(model_error(header(numbers) + rest), expected);
  }
  check_says(model_error(header({64, 172, 5, 8, 4, -512, 512}) + rest), "vocab_size -512");
}

TEST_CASE("a path that is no file is refused") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(Model(folder.path()), examples::Error);
  CHECK_THROWS_AS(Model(folder.path() / "absent"), examples::Error);
}

TEST_SUITE_END();

}  // namespace stories
