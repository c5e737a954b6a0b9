// PyTorch's own C++ tests of TransformerEncoderLayer (conformance/pytorch-encoder.json, described in its README): model
// 4, two heads, feed-forward 16, post-LN, every parameter tensor cos(0), cos(1), ... in row-major order.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <ladon/ladon.hpp>

namespace {

using ladon::Activation;
using nlohmann::json;

std::vector<float> cosines(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(std::cos(static_cast<double>(i)));
  return values;
}

// One sentence, [length][4], through a layer with room for Capacity tokens.
template <std::size_t Capacity, Activation F>
std::vector<float> encode(const std::vector<float>& x, const std::uint8_t* may_see) {
  constexpr ladon::Shape shape{.queries = Capacity, .model = 4, .heads = 2};
  using Layer = ladon::EncoderLayer<shape, ladon::LayerForm{.feed_forward = 16, .activation = F}, ladon::mask::Padding>;
  static const std::vector<float> parameters = cosines(64);  // the longest tensor
  const float* const p = parameters.data();
  const typename Layer::Weights weights{.attention = {.in_proj = {p, p}, .out_proj = {p, p}},
                                        .linear1 = {p, p},
                                        .linear2 = {p, p},
                                        .norm1 = {p, p, 1e-5f},
                                        .norm2 = {p, p, 1e-5f}};
  static typename Layer::Workspace workspace;
  std::vector<float> y(x.size());
  Layer::run(x.data(), weights, y.data(), workspace, {.tokens = x.size() / 4, .mask = {.may_see = may_see}});
  return y;
}

using Encode = std::vector<float> (*)(const std::vector<float>& x, const std::uint8_t* may_see);
struct Capacity {
  std::size_t tokens;
  Encode relu, gelu;
};
template <std::size_t Tokens>
constexpr Capacity capacity{Tokens, encode<Tokens, Activation::relu>, encode<Tokens, Activation::gelu>};
#if defined(LADON_TEST_SET_QUICK)
constexpr Capacity capacities[] = {capacity<16>};
#else
constexpr Capacity capacities[] = {capacity<1>, capacity<5>, capacity<16>};
#endif

struct Sentence {
  std::vector<float> x, expected;
  std::vector<std::uint8_t> may_see;
};

// Number `index` of the batch. The file has [length][batch][model], and masks [batch][length] with 1 = not to be seen.
Sentence sentence(const json& test, std::size_t index) {
  Sentence result;
  for (const json& position : test.at("input")) {
    for (const json& value : position.at(index)) result.x.push_back(value.get<float>());
  }
  for (const json& position : test.at("expected")) {
    for (const json& value : position.at(index)) result.expected.push_back(value.get<float>());
  }
  if (test.contains("padding_mask")) {
    for (const json& hides : test.at("padding_mask").at(index)) result.may_see.push_back(hides.get<int>() == 0 ? 1 : 0);
  }
  return result;
}

void check(const json& test) {
  const std::string activation = test.at("activation");
  REQUIRE_MESSAGE((activation == "relu" || activation == "gelu"),
                  "an activation this test does not know: ", activation);
  const std::size_t length = test.at("input").size(), batch = test.at("input").at(0).size();
  bool computed = false;
  for (const Capacity& room : capacities) {
    if (room.tokens != length && room.tokens != capacity<16>.tokens) continue;
    REQUIRE_MESSAGE(length <= room.tokens, "no instantiation has room for ", length, " tokens: add one");
    for (std::size_t b = 0; b < batch; ++b) {
      const Sentence s = sentence(test, b);
      const auto y =
          (activation == "relu" ? room.relu : room.gelu)(s.x, s.may_see.empty() ? nullptr : s.may_see.data());
      REQUIRE(y.size() == s.expected.size());
      for (std::size_t i = 0; i < y.size(); ++i) CHECK(std::abs(y[i] - s.expected[i]) <= 1e-5f);
      computed = true;
    }
  }
  CHECK(computed);
}

std::filesystem::path conformance_file() {
  const char* const given = std::getenv("LADON_SHARED_DIR");
  return std::filesystem::path(given != nullptr ? given : LADON_SHARED_DIR) / "conformance" / "pytorch-encoder.json";
}

}  // namespace

TEST_CASE("PyTorch's tests of its encoder layer") {
  const std::filesystem::path path = conformance_file();
  if (!std::filesystem::exists(path)) {
    MESSAGE("skipped: there is no ", path.string());
    return;
  }
  std::ifstream file(path);
  const json document = json::parse(file);
  REQUIRE(document.at("model") == 4);
  REQUIRE(document.at("heads") == 2);
  REQUIRE(document.at("feed_forward") == 16);
  REQUIRE(document.at("cases").size() > 0);
  for (const json& test : document.at("cases")) {
    CAPTURE(test.at("name").get<std::string>());
    check(test);
  }
}
