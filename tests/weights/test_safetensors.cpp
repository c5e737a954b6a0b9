#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "file_error.hpp"
#include "safetensors.hpp"
#include "safetensors_file.hpp"
#include "testing/fixtures.hpp"

namespace ladon::files {
namespace {

using examples::TemporaryFolder;

const std::string two_tensors =
    R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
    R"("b":{"dtype":"F32","shape":[2],"data_offsets":[24,32]}})";
const std::string eight_values = floats({1, 2, 3, 4, 5, 6, 7, 8});

// Opens the file and reads a 2x3 tensor "w". Returns the text of the error, or "" if there is none.
std::string complaint(const std::filesystem::path& path) {
  return examples::error_of<Error>([&] {
    const Safetensors file(path);
    static_cast<void>(file.tensor("w", {2, 3}));
  });
}

std::string complaint(const std::string& content) {
  const TemporaryFolder folder;
  return complaint(folder.file("m.safetensors", content));
}

// Returns the text of the error for a file with one tensor "w", whose header entry has `dtype`, `shape` and `offsets`.
std::string complaint_of(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return complaint(safetensors(
      R"({"w":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}", eight_values));
}

void check_says(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    CAPTURE(part);
    CAPTURE(message);
    CHECK(message.find(part) != std::string::npos);
  }
}

}  // namespace

TEST_SUITE_BEGIN("safetensors");

TEST_CASE("tensors are not copied") {
  const TemporaryFolder folder;
  const Safetensors file(folder.file("m.safetensors", safetensors(two_tensors, eight_values)));
  const float* w = file.tensor("w", {2, 3});
  const float* b = file.tensor("b", {2});
  CHECK(w[0] == 1);
  CHECK(w[5] == 6);
  if (is_little_endian) CHECK(b == w + 6);
  CHECK(b[1] == 8);
}

TEST_CASE("an int8 tensor may begin anywhere, and a tensor of another dtype is not read as int8") {
  const TemporaryFolder folder;
  const std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("w":{"dtype":"I8","shape":[3,1],"data_offsets":[1,4]}})";
  const Safetensors file(folder.file("m.safetensors", safetensors(header, "x\x80\xff\x7f")));
  const std::int8_t* w = file.tensor<std::int8_t>("w", {3, 1});
  CHECK(w[0] == -128);
  CHECK(w[1] == -1);
  CHECK(w[2] == 127);
  CHECK_THROWS_WITH_AS(static_cast<void>(file.tensor<std::int8_t>("a", {1})), doctest::Contains("expected dtype I8"),
                       Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(file.tensor<std::int8_t>("w", {3})), doctest::Contains("expected shape [3]"),
                       Error);
}

TEST_CASE("a scalar and an empty tensor are tensors") {
  const TemporaryFolder folder;
  const Safetensors file(folder.file(
      "m.safetensors",
      safetensors(
          R"({"e":{"dtype":"F32","shape":[0,3],"data_offsets":[0,0]},"s":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})",
          floats({7}))));
  CHECK(*file.tensor("s", {}) == 7);
  CHECK(file.tensor("e", {0, 3}) != nullptr);
}

TEST_CASE("all tensors are listed by name, with pointers to their bytes") {
  const TemporaryFolder folder;
  const Safetensors file(folder.file("m.safetensors", safetensors(two_tensors, eight_values)));
  REQUIRE(file.tensors().size() == 2);
  const auto& [name, b] = *file.tensors().begin();
  CHECK(name == "b");
  CHECK(b.dtype == "F32");
  CHECK(b.shape == std::vector<std::uint64_t>{2});
  CHECK(file.bytes(b).size() == 8);
  CHECK(std::memcmp(file.bytes(b).data(), eight_values.data() + 24, 8) == 0);
}

TEST_CASE("a moved file keeps its tensors") {
  const TemporaryFolder folder;
  Safetensors first(folder.file("m.safetensors", safetensors(two_tensors, eight_values)));
  const float* w = first.tensor("w", {2, 3});
  const Safetensors second = std::move(first);
  CHECK(second.tensor("w", {2, 3}) == w);
  CHECK(w[0] == 1);
}

TEST_CASE("a missing file, a folder and an empty file are named in the error") {
  const TemporaryFolder folder;
  check_says(complaint(folder.path() / "absent.safetensors"), {"absent.safetensors", "no such file"});
  check_says(complaint(folder.path()), {folder.path().string(), "in this folder, found none"});
  check_says(complaint(std::string()), {"m.safetensors", "8 bytes", "a file of 0"});
  check_says(complaint(std::string("1234567")), {"8 bytes", "a file of 7"});
}

TEST_CASE("a truncated file names the first tensor that is cut") {
  const std::string whole = safetensors(two_tensors, eight_values);
  CHECK(complaint(whole).empty());
  check_says(complaint(whole.substr(0, whole.size() - 1)), {"tensor \"b\"", "[24,32]", "ends at byte 31"});
  check_says(complaint(whole.substr(0, whole.size() - 9)), {"tensor \"w\"", "[0,24]", "ends at byte 23"});
  check_says(complaint(whole.substr(0, 40)), {"expected a header of at most 32 bytes", "truncated"});
  check_says(complaint(whole + "x"), {"expected 32 bytes of data, found 33"});
}

TEST_CASE("a file that is truncated anywhere is an error, and never a crash") {
  const std::string whole = safetensors(two_tensors, eight_values);
  const TemporaryFolder folder;
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(complaint(folder.file("m.safetensors", whole.substr(0, size))).empty());
}

TEST_CASE("every flipped byte of a header is an error or leaves the tensor correct") {
  const std::string whole = safetensors(two_tensors, eight_values);
  const TemporaryFolder folder;
  for (std::size_t at = 0; at < whole.size() - eight_values.size(); ++at) {
    for (const unsigned flip : {0x01U, 0x80U, 0xFFU}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ flip);
      const auto path = folder.file("m.safetensors", damaged);
      if (!complaint(path).empty()) continue;
      const Safetensors file(path);
      const float* w = file.tensor("w", {2, 3});
      CHECK(floats({w, w + 6}) == eight_values.substr(0, 24));
    }
  }
}

TEST_CASE("a tensor that is absent or of another type or shape is named, with the tensor that was found") {
  check_says(complaint(safetensors(R"({"v":{"dtype":"F32","shape":[8],"data_offsets":[0,32]}})", eight_values)),
             {"m.safetensors", "tensor \"w\"", "found none"});
  check_says(complaint_of(R"("F64")", "[2,2]", "[0,32]"), {"tensor \"w\"", "expected dtype F32", "\"F64\""});
  check_says(complaint_of(R"("F32")", "[3,2]", "[0,32]"), {"tensor \"w\"", "expected shape [2,3], found [3,2]"});
  check_says(complaint_of(R"("F32")", "[6]", "[0,32]"), {"expected shape [2,3], found [6]"});
  check_says(complaint_of(R"("F32")", "[]", "[0,32]"), {"expected shape [2,3], found []"});
  check_says(complaint_of(R"("F32")", "[2,3]", "[0,32]"), {"tensor \"w\"", "expected 24 bytes of data, found 32"});
}

TEST_CASE("a tensor that is not aligned to 4 bytes is copied once") {
  const TemporaryFolder folder;
  const std::string header = R"({"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}} )";
  REQUIRE(header.size() % 4 != 0);
  const std::string data = floats({1, 2, 3, 4, 5, 6});
  const Safetensors file(folder.file("m.safetensors", with_length(header.size(), header, data)));
  const float* const w = file.tensor("w", {2, 3});
  CHECK(reinterpret_cast<std::uintptr_t>(w) % sizeof(float) == 0);
  CHECK(floats({w, w + data.size() / sizeof(float)}) == data);
  CHECK(file.tensor("w", {2, 3}) == w);
}

TEST_CASE("tensors of F16 and BF16 are read as float32") {
  const TemporaryFolder folder;
  const std::string header = R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},)"
                             R"("b":{"dtype":"BF16","shape":[2],"data_offsets":[4,8]}})";
  const Safetensors file(
      folder.file("m.safetensors", safetensors(header, std::string("\0\x3c\0\xc0\x80\x3f\0\xc0", 8))));
  for (const char* name : {"a", "b"}) {
    CHECK(reinterpret_cast<std::uintptr_t>(file.tensor(name, {2})) % sizeof(float) == 0);
    CHECK(file.tensor(name, {2})[0] == 1);
    CHECK(file.tensor(name, {2})[1] == -2);
  }
}

TEST_CASE("files of other kinds are named, with the way out") {
  check_says(complaint(std::string("version https://git-lfs.github.com/spec/v1\noid sha256:")), {"git lfs pull"});
  check_says(complaint(std::string(R"({"metadata": {"total_size": 1}, "weight_map": {}})")), {"JSON", "index"});
  check_says(complaint(std::string("PK\3\4\24\0\0\10\10\0", 10)), {"zip archive", "save_file"});
  check_says(complaint(std::string("<!DOCTYPE html>")), {"HTML"});
}

TEST_CASE("hostile lengths of the header") {
  for (const std::uint64_t length : {UINT64_MAX, UINT64_MAX - 7, std::uint64_t{1} << 63, std::uint64_t{1} << 32,
                                     std::uint64_t{100'000'001}, std::uint64_t{1000}})
    check_says(complaint(with_length(length, two_tensors, eight_values)),
               {"expected a header of at most ", "found a length of " + std::to_string(length)});
  check_says(complaint(with_length(0, two_tensors, eight_values)), {"expected a header in JSON"});
}

TEST_CASE("hostile headers") {
  check_says(complaint(safetensors("garbage", "")), {"expected a header in JSON"});
  check_says(complaint(safetensors("{\"w\":\x01}", "")), {"expected a header in JSON"});
  check_says(complaint(safetensors("{\"\xff\":1}", "")), {"expected a header in JSON"});
  check_says(complaint(safetensors("[1,2]", "")), {"expected a JSON object as header, found [1,2]"});
  check_says(complaint(safetensors("null", "")), {"expected a JSON object as header, found null"});
  check_says(complaint(safetensors("{}", "")), {"tensor \"w\"", "found none"});
  check_says(complaint(safetensors(std::string(1'000'000, '['), "")), {"nested too deeply"});
  check_says(complaint(safetensors(R"({"w":1,"w":2})", "")), {"the key", "w", "appears twice"});
  check_says(complaint(safetensors(R"({"w":{"dtype":"F16","dtype":"F32"}})", "")), {"dtype", "appears twice"});
  check_says(complaint(safetensors(R"({"w":{}})", "")), {"tensor \"w\"", "expected a \"dtype\", found {}"});
  check_says(complaint(safetensors(R"({"w":7})", "")), {"tensor \"w\"", "expected a \"dtype\", found 7"});
  check_says(complaint(safetensors("{\"\\u001b[2J\":7}", "")), {R"(tensor "\u001b[2J")"});
}

TEST_CASE("hostile shapes") {
  for (const char* shape : {"[-2,3]", "[2.0,3]", "[\"2\",3]", "[[2],3]", "6", "null", "{\"a\":2}", "[2,3e0]"})
    check_says(complaint_of(R"("F32")", shape, "[0,32]"), {"tensor \"w\"", "expected a \"shape\" of sizes"});
  // The number of elements of each shape needs more than 64 bits. The lowest 64 bits of this number are 6 or 0. A
  // reader that multiplies without a check would accept these shapes.
  for (const char* shape : {"[9223372036854775811,2]", "[4294967296,4294967296]", "[18446744073709551615,3]"})
    check_says(complaint_of(R"("F32")", shape, "[0,32]"), {"tensor \"w\"", "expected shape [2,3], found [", shape});
  check_says(complaint_of(R"("F32")", "[99999999999999999999,3]", "[0,32]"), {"expected a \"shape\" of sizes"});
}

TEST_CASE("hostile offsets") {
  for (const char* offsets :
       {"[0]", "[0,24,32]", "[-8,24]", "[0,24.0]", "\"0,24\"", "null", "[0,99999999999999999999]"})
    check_says(complaint_of(R"("F32")", "[2,3]", offsets), {"tensor \"w\"", "expected two \"data_offsets\""});
  check_says(complaint_of(R"("F32")", "[2,3]", "[0,18446744073709551615]"), {"tensor \"w\"", "ends at byte 32"});
  check_says(complaint_of(R"("F32")", "[2,3]", "[18446744073709551608,16]"), {"tensor \"w\"", "begins at byte 0"});
  check_says(complaint_of(R"("F32")", "[2,3]", "[8,32]"), {"tensor \"w\"", "begins at byte 0", "[8,32]"});
  // Three wrong files: "b" ends before its beginning in the first, overlaps "w" in the second, and leaves a gap behind
  // "w" in the third.
  const auto second = [](const std::string& offsets) {
    return complaint(safetensors(R"({"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                                 R"("b":{"dtype":"F32","shape":[2],"data_offsets":)" +
                                     offsets + "}}",
                                 eight_values));
  };
  check_says(second("[24,16]"), {"tensor \"b\"", "ends behind its beginning", "[24,16]"});
  check_says(second("[16,32]"), {"tensor \"b\"", "begins at byte 24", "[16,32]"});
  check_says(second("[28,32]"), {"tensor \"b\"", "begins at byte 24", "[28,32]"});
}

TEST_SUITE_END();

}  // namespace ladon::files
