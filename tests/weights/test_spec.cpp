#include <doctest/doctest.h>

#include "file_error.hpp"
#include "spec.hpp"
#include "testing/fixtures.hpp"

namespace ladon::weights {
namespace {

using Sizes = std::vector<std::uint64_t>;

Spec parsed(const std::string& text) {
  const examples::TemporaryFolder folder;
  return read_spec(folder.file("kernel.spec", text));
}

// Parses `text` as a SPEC, the list of tensors that a kernel needs. Returns "" if parsing succeeds. Otherwise, returns
// the text of the error without its first line, which names the file.
std::string error_of_spec(const std::string& text) {
  try {
    static_cast<void>(parsed(text));
  } catch (const files::Error& error) {
    const std::string what = error.what();
    CHECK(what.find("kernel.spec: cannot be used as SPEC\n") != std::string::npos);
    return what.substr(what.find('\n') + 1);
  }
  return "";
}

const std::string no_member =
    "expected a member such as in_proj_weight, attention.in_proj_weight, layers.0.norm1_bias or norm_weight, found ";
const std::string no_size = "expected sizes from 1 to 1000000000, or a sum of them such as 384+384+384, found ";

}  // namespace

TEST_SUITE_BEGIN("spec");

TEST_CASE("members, their places and sizes") {
  const Spec spec = parsed("layers.11.attention.in_proj_weight 4+2+3 5\n\n  layers.0.norm1_bias \t7\r\nnorm_weight 7");
  CHECK(spec.kind == Kind::stack);
  REQUIRE(spec.members.size() == 3);
  const Member& in_proj = spec.members[0];
  CHECK(in_proj.name == "layers.11.attention.in_proj_weight");
  CHECK(in_proj.layer == std::size_t{11});
  CHECK(in_proj.in_attention);
  CHECK(in_proj.role == "in_proj_weight");
  CHECK(in_proj.rows == Sizes{4, 2, 3});
  CHECK(in_proj.shape == Sizes{9, 5});
  CHECK(spec.members[1].layer == std::size_t{0});
  CHECK_FALSE(spec.members[1].in_attention);
  CHECK(spec.members[1].shape == Sizes{7});
  CHECK_FALSE(spec.members[2].layer.has_value());
  for (const Member& member : spec.members) CHECK(member.element == Element::float32);
}

TEST_CASE("bfloat16 members") {
  const Spec spec = parsed("in_proj_weight 4+2+3 5 bfloat16\nout_proj_weight 5 4");
  CHECK(spec.members[0].element == Element::bfloat16);
  CHECK(spec.members[1].element == Element::float32);
  CHECK(error_of_spec("out_proj_weight 5 4 bfloat16 int8") ==
        "  line 1: expected the end of the line behind bfloat16, found \"int8\"");
  CHECK(error_of_spec("out_proj_bias 5 bfloat16") ==
        "  line 1: only a weight of two dimensions can be bfloat16, and out_proj_bias has one");
}

TEST_CASE("int8 members") {
  const Spec spec = parsed("in_proj_weight 4+2+3 5 int8\nout_proj_weight 5 4");
  REQUIRE(spec.members.size() == 2);
  CHECK(spec.members[0].element == Element::int8);
  CHECK(spec.members[0].shape == Sizes{9, 5});
  CHECK(spec.members[1].element == Element::float32);
  CHECK(error_of_spec("out_proj_weight 5 int8 4") == "  line 1: expected the end of the line behind int8, found \"4\"");
  CHECK(error_of_spec("out_proj_weight 5 int8") == "  line 1: expected two dimensions of out_proj_weight, found 1");
  CHECK(error_of_spec("out_proj_bias 5 int8") ==
        "  line 1: only a weight of two dimensions can be int8, and out_proj_bias has one");
  CHECK(error_of_spec("out_proj_weight 5 4 int3") == "  line 1: " + no_size + "\"int3\"");
}

TEST_CASE("the kind of a kernel") {
  CHECK(parsed("out_proj_bias 4").kind == Kind::attention);
  CHECK(parsed("attention.out_proj_bias 4").kind == Kind::layer);
  CHECK(parsed("linear1_bias 4").kind == Kind::layer);
  CHECK(parsed("layers.0.linear1_bias 4").kind == Kind::stack);
  CHECK(parsed("norm_bias 4").kind == Kind::stack);
}

TEST_CASE("members of one attention may belong to different layers") {
  const Spec spec = parsed("layers.0.attention.query_proj_bias 4\nlayers.1.attention.key_proj_bias 4\n");
  CHECK(spec.beside(spec.members[0], "query_proj_bias") == &spec.members[0]);
  CHECK(spec.beside(spec.members[1], "key_proj_bias") == &spec.members[1]);
  CHECK(spec.beside(spec.members[0], "key_proj_bias") == nullptr);
}

TEST_CASE("a name that is no member is reported with its line") {
  for (const std::string name :
       {"foo", "in_proj", "norm4_weight", "attention.linear1_bias", "attention.norm_bias", "layers.0.out_proj_bias",
        "layers.0.norm_bias", "layers.01.norm1_bias", "layers.norm1_bias", "layers.-1.norm1_bias", "layers..norm1_bias",
        "layers.x.norm1_bias", "layers.0.layers.0.norm1_bias", "attention.attention.out_proj_bias", "In_proj_weight",
        "layers.99999999999999999999.norm1_bias"})
    CHECK(error_of_spec("out_proj_bias 4\n" + name + " 4\n") == "  line 2: " + no_member + "\"" + name + "\"");
}

TEST_CASE("a word that is no size is reported") {
  for (const std::string size :
       {"0", "-1", "+4", "4+", "4++4", "4.0", "x", "04", "4x", "1000000001", "99999999999999999999", "4+0+4"})
    CHECK(error_of_spec("in_proj_bias " + size) == "  line 1: " + no_size + "\"" + size + "\"");
}

TEST_CASE("the numbers of sizes and of parts must be right") {
  CHECK(error_of_spec("linear1_weight") == "  line 1: expected two dimensions of linear1_weight, found 0");
  CHECK(error_of_spec("linear1_weight 4") == "  line 1: expected two dimensions of linear1_weight, found 1");
  CHECK(error_of_spec("norm1_weight 4 4") == "  line 1: expected one dimension of norm1_weight, found 2");
  CHECK(error_of_spec("in_proj_weight 12 4") ==
        "  line 1: expected the rows of in_proj_weight as query+key+value, found 1 part");
  CHECK(error_of_spec("in_proj_bias 6+6") ==
        "  line 1: expected the rows of in_proj_bias as query+key+value, found 2 parts");
  CHECK(error_of_spec("in_proj_weight 4+4+4 2+2") == "  line 1: only the rows of in_proj are a sum");
  CHECK(error_of_spec("out_proj_bias 2+2") == "  line 1: only the rows of in_proj are a sum");
}

TEST_CASE("a kernel has one kind, and each member occurs once") {
  CHECK(error_of_spec("out_proj_bias 4\nlinear1_bias 4\n") ==
        "  line 2: expected members of an attention, as out_proj_bias is one, found linear1_bias");
  CHECK(error_of_spec("linear1_bias 4\nnorm_bias 4\n") ==
        "  line 2: expected members of a layer, as linear1_bias is one, found norm_bias");
  CHECK(error_of_spec("layers.0.linear1_bias 4\nattention.out_proj_bias 4\n") ==
        "  line 2: expected members of a stack of layers, as layers.0.linear1_bias is one, found "
        "attention.out_proj_bias");
  CHECK(error_of_spec("out_proj_bias 4\nout_proj_bias 4\n") == "  line 2: out_proj_bias appears twice");
}

TEST_CASE("every wrong line is reported, and a file without lines is an error") {
  CHECK(error_of_spec("foo 4\nout_proj_bias 4\nbar 4\n") ==
        "  line 1: " + no_member + "\"foo\"\n  line 3: " + no_member + "\"bar\"");
  CHECK(error_of_spec("") == "  expected a line for each tensor, found no line");
  CHECK(error_of_spec("\n \n") == "  expected a line for each tensor, found no line");
  CHECK_THROWS_AS(static_cast<void>(read_spec("/no/such/file")), files::Error);
}

TEST_SUITE_END();

}  // namespace ladon::weights
