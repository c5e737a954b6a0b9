#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "fixtures.hpp"
#include "generate.hpp"

namespace stories {

TEST_SUITE_BEGIN("conformance");

TEST_CASE("the text equals the text of llama2.c, byte for byte") {
  LADON_SKIP_WITHOUT(conformance_file());
  LADON_SKIP_WITHOUT(model_file());
  std::ifstream file(conformance_file());
  const auto data = nlohmann::json::parse(file);
  Model model(model_file());
  const Tokenizer tokenizer(tokenizer_file());
  REQUIRE(!data.at("cases").empty());
  for (const auto& expected : data.at("cases")) {
    const auto prompt = expected.at("prompt").get<std::string>();
    CAPTURE(prompt);
    Sampler sampler({.temperature = expected.at("temperature").get<float>(), .top_p = 0.9f, .seed = 1});
    std::ostringstream out;
    generate(model, tokenizer, sampler, tokenizer.encode(prompt), expected.at("steps").get<std::size_t>(), out);
    CHECK(out.str() == expected.at("text").get<std::string>() + '\n');
  }
}

TEST_SUITE_END();

}  // namespace stories
