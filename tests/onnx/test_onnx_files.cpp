// SPDX-License-Identifier: Apache-2.0
// Tests ONNX files that are wrong, and external data.
#include <doctest/doctest.h>

#include <string>

#include "checkpoint.hpp"
#include "file_error.hpp"
#include "onnx_writer.hpp"
#include "testing/fixtures.hpp"

namespace ladon::onnx {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

bool never(std::string_view) { return false; }

std::string error_of_bytes(const std::string& content) {
  const examples::TemporaryFolder folder;
  const auto file = folder.file("model.onnx", content);
  return examples::error_of<files::Error>([&] { const Checkpoint checkpoint(file, never); });
}
bool refuses(const OnnxWriter& file, const std::string& why) {
  const std::string error = error_of_bytes(file.content());
  INFO(error);
  return error.find(why) != std::string::npos;
}
bool refuses_entries(const Entries& entries, const std::string& why) {
  return refuses(OnnxWriter().add_external("a.weight", {2, 3}, entries), why);
}

}  // namespace

TEST_SUITE_BEGIN("onnx_files");

TEST_CASE("files that are no ONNX files") {
  CHECK(error_of_bytes("").find("found one without a graph") != std::string::npos);
  CHECK(error_of_bytes("\x7f").find("expected an ONNX file") != std::string::npos);
  CHECK(error_of_bytes("version https://git-lfs.github.com/spec/v1\n").find("found a pointer of Git LFS") !=
        std::string::npos);
  const std::string whole = OnnxWriter().add("a.weight", {2, 3}, 0).content();
  CHECK(error_of_bytes(whole).empty());
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const std::string error = error_of_bytes(whole.substr(0, size));
    CHECK(error.find("expected an ONNX file") != std::string::npos);
  }
}

TEST_CASE("numbers that do not fit the shape") {
  CHECK(refuses(OnnxWriter().add_bytes("a.weight", {2, 3}, 1, std::string(20, 'x')),
                R"(tensor "a.weight": expected 24 bytes of raw_data or float_data for the shape [2,3], found 20)"));
  CHECK(
      refuses(OnnxWriter().add_bytes("a.weight", {std::int64_t{1} << 40, std::int64_t{1} << 40}, 1, ""), "too large"));
  CHECK(refuses(OnnxWriter().add_bytes("a.weight", {-1, 3}, 1, ""), "too large"));
  CHECK(refuses(OnnxWriter().add_bytes("a.weight", std::vector<std::int64_t>(17, 1), 1, ""), "more than 16 extents"));
  CHECK(refuses(OnnxWriter().add(std::string(5000, 'n'), {1}, 0), "a name of 5000 bytes"));
}

TEST_CASE("float16 and bfloat16") {
  const examples::TemporaryFolder folder;
  OnnxWriter file;
  file.add_bytes("a", {2}, 10, "abcd").add_bytes("b", {2}, 16, "efgh");
  Checkpoint checkpoint(folder.file("model.onnx", file.content()), never);
  CHECK(checkpoint.tensors().at("a").dtype == "F16");
  CHECK(checkpoint.tensors().at("b").dtype == "BF16");
  CHECK(checkpoint.values("b") == "efgh");
}

TEST_CASE("external data") {
  const examples::TemporaryFolder folder;
  (void)folder.file("data", "....0123456789abcdefghijklmn!");
  OnnxWriter file;
  file.add_external("a.weight", {2, 3}, {{"location", "data"}, {"offset", "4"}, {"length", "24"}});
  file.add_external("b.weight", {1}, {{"location", "./data"}});
  Checkpoint checkpoint(folder.file("model.onnx", file.content()), never);
  CHECK(checkpoint.values("a.weight") == "0123456789abcdefghijklmn");
  CHECK(checkpoint.values("b.weight") == "....");
  for (const auto& [offset, length] : Entries{{"6", "24"}, {"18446744073709551615", "24"}}) {
    OnnxWriter beyond;
    beyond.add_external("a.weight", {2, 3}, {{"location", "data"}, {"offset", offset}, {"length", length}});
    const auto path = folder.file("model.onnx", beyond.content());
    const auto error = examples::error_of<files::Error>([&] { const Checkpoint wrong(path, never); });
    CHECK(error.find("expected 24 bytes behind byte " + offset + " of \"data\", found a file of 29") != error.npos);
  }
}

TEST_CASE("external data elsewhere, or of another size") {
  for (const char* location : {"", "../data", "/etc/passwd", "a/../../data", "C:data", "..\\data"})
    CHECK(refuses_entries({{"location", location}}, "expected external data in the folder of the ONNX file, found \""));
  CHECK(refuses_entries({{"location", "data"}, {"length", "23"}}, "expected 24 bytes of external data"));
  CHECK(refuses_entries({{"location", "data"}, {"offset", "-1"}}, R"(external data with the offset or length "-1")"));
  CHECK(refuses_entries({{"location", "absent\x1b"}}, R"(there is no file "absent\u001b" of external data)"));
}

TEST_SUITE_END();

}  // namespace ladon::onnx
