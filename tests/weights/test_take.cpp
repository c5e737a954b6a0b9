// Tests that tensors of a checkpoint become arrays of C.
#include <doctest/doctest.h>

#include "packing.hpp"
#include "take.hpp"

namespace ladon::weights {
namespace {

using examples::error_of, examples::TemporaryFolder;

struct TakeScene {
  TemporaryFolder folder;
  std::string path;

  explicit TakeScene(const files::Checkpoint& checkpoint) : path(folder.file("m", checkpoint.content()).string()) {}
  [[nodiscard]] Taken take(const std::vector<std::string>& wanted) const {
    return weights::take(files::Safetensors(path), "m", wanted, "p");
  }
  [[nodiscard]] std::string error(const std::vector<std::string>& wanted) const {
    return error_of<files::Error>([&] { (void)take(wanted); });
  }
};

}  // namespace

TEST_SUITE_BEGIN("take");

TEST_CASE("arrays of C") {
  files::Checkpoint checkpoint;
  checkpoint.add("head.weight", "F32", "[1,2]", "12345678")
      .add("ids", "I64", "[]", "abcdefgh")
      .add("half", "F16", "[1]", std::string("\0\x3c", 2))
      .add("other", "F32", "[1]", "1234");
  const Taken taken = TakeScene(checkpoint).take({"h*", "ids"});
  CHECK(taken.list ==
        "LADON_TENSOR(half, float, 0, 4, 1)\nLADON_TENSOR(head_weight, float, 64, 8, 1, 2)\n"
        "LADON_TENSOR(ids, int64_t, 128, 8, 1)\n");
  CHECK(taken.header ==
        "extern const float p_half[1]; /* \"half\" */\nextern const float p_head_weight[1][2]; /* \"head.weight\" */\n"
        "extern const int64_t p_ids[1]; /* \"ids\" */\n");
  REQUIRE(taken.data.size() == 136);
  CHECK(taken.data.substr(0, 4) == std::string("\0\0\x80\x3f", 4));  // 1
  CHECK(taken.data.substr(64, 8) == "12345678");
  CHECK(taken.data.substr(128) == "abcdefgh");
}

TEST_CASE("patterns") {
  files::Checkpoint checkpoint;
  checkpoint.add("a.x.b", "U8", "[1]", "1").add("a.y.c", "U8", "[1]", "1").add("b", "U8", "[1]", "1");
  const TakeScene scene(checkpoint);
  CHECK(scene.take({"a.*.b"}).list == "LADON_TENSOR(a_x_b, uint8_t, 0, 1, 1)\n");
  CHECK(scene.take({"*b"}).list.find("a_y_c") == std::string::npos);
  CHECK(scene.take({"*"}).list.find("a_y_c") != std::string::npos);
  CHECK(scene.error({"b", "c*"}) == "m: no tensor has the name \"c*\"; `ladon-weights list` prints the names");
}

TEST_CASE("tensors that are no arrays of C") {
  files::Checkpoint checkpoint;
  checkpoint.add("a.b", "U8", "[1]", "1")
      .add("a_b", "U8", "[1]", "1")
      .add("none", "F32", "[0,2]", "")
      .add("x*/", "U8", "[1]", "1");
  const TakeScene scene(checkpoint);
  CHECK(scene.error({"a*"}) == "m: \"a_b\" and \"a.b\" have the same name in C: a_b");
  CHECK(scene.error({"none"}) == "m: \"none\" has the shape [0,2]; an array has at least one element");
  CHECK(scene.take({"x*"}).header == "extern const uint8_t p_x__[1]; /* \"x* /\" */\n");
}

TEST_SUITE_END();

}  // namespace ladon::weights
