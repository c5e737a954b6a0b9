#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "fixtures.hpp"
#include "reports.hpp"
#include "terminal.hpp"

namespace minilm {

TEST_SUITE_BEGIN("texts");

TEST_CASE("the ids of every conformance text") {
  LADON_SKIP_WITHOUT(conformance_file());
  LADON_SKIP_WITHOUT(model_file());
  const Model model{ladon::Tokenizer(default_model_folder() / tokenizer_file_name),
                    SentenceEncoder(default_model_folder())};
  const nlohmann::json data = read_json(conformance_file());
  std::size_t texts = 0;
  for (const char* part : {"cases", "tokenizer"}) {
    for (const auto& expected : data.at(part)) {
      const auto text = expected.at("text").get<std::string>();
      CAPTURE(text);
      CHECK(tokens_of(model, text).ids == expected.at("ids").get<std::vector<TokenId>>());
      ++texts;
    }
  }
  CHECK(texts > 30);
  CHECK(tokens_of(model, "a\xff\xc3 \xe6\x9d").ids == tokens_of(model, "a").ids);

  std::string words;
  for (std::size_t i = 0; i < max_tokens - 2; ++i) words += "word ";
  const Tokens full = tokens_of(model, words), cut = tokens_of(model, words + words);
  CHECK(full.ids.size() == max_tokens);
  CHECK_FALSE(full.cut);
  CHECK(cut.cut);
  CHECK(cut.ids == full.ids);
}

TEST_CASE("U+FFFD replaces bytes that are not UTF-8") {
  CHECK(valid("a\xff\xc3 \u00E9\uFFFD") == "a\uFFFD\uFFFD \u00E9\uFFFD");
  CHECK(valid("\xed\xa0\x80") == "\uFFFD\uFFFD\uFFFD");  // a surrogate
}

TEST_SUITE_END();

}  // namespace minilm
