// Tests bench/support/json_file.hpp. The benchmarks with the option `--json FILE` use this header to write FILE.
#include <doctest/doctest.h>

#include "json_file.hpp"
#include "testing/program.hpp"

namespace {

using examples::content_of, examples::TemporaryFolder;

}  // namespace

TEST_SUITE_BEGIN("json_file");

TEST_CASE("the file keeps its old content until the figures are written") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.file("figures", "old");
  std::string text = path.string(), program = "bench", option = "--json";
  std::vector<char*> arguments{program.data(), option.data(), text.data()};
  const ladon_bench::JsonFile file(arguments, "bench");
  CHECK(arguments.size() == 1);
  CHECK(file.writable());
  CHECK(content_of(path) == "old");
  CHECK(file.write({{"rows", 1}}) == 0);
  CHECK(content_of(path) == "{\n \"rows\": 1\n}\n");
}

TEST_CASE("a folder that does not exist is refused before the measurements, and after them") {
  const TemporaryFolder folder;
  const ladon_bench::JsonFile file((folder.path() / "absent" / "figures").string(), "bench");
  CHECK_FALSE(file.writable());
  CHECK(file.write({}) == 1);
}

TEST_CASE("without the option, nothing is written") {
  const ladon_bench::JsonFile file("", "bench");
  CHECK(file.writable());
  CHECK(file.write({}) == 0);
}

TEST_SUITE_END();
