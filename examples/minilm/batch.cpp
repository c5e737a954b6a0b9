#include <array>
#include <cstdio>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "model_error.hpp"
#include "reports.hpp"

namespace minilm {
namespace {

// 9 significant digits tell any two floats apart.
void write(std::ostream& out, float value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", static_cast<double>(value));
  out << text.data();
}

void write(std::ostream& out, TokenId value) { out << value; }

template <class Values>
void write_list(std::ostream& out, const Values& values) {
  const char* separator = "[";
  for (const auto value : values) {
    out << separator;
    write(out, value);
    separator = ", ";
  }
  out << ']';
}

}  // namespace

void report_batch(Model& model, std::istream& in, std::ostream& out) {
  using nlohmann::json;
  for (std::string text; std::getline(in, text);) {
    if (text.ends_with('\r')) text.pop_back();  // a file from Windows
    const std::vector<TokenId> ids = model.tokenizer.encode(text, max_tokens);
    const Embedding embedding = model.encoder.embed(ids);
    // Bytes that are not UTF-8 would not be JSON either: they come out as U+FFFD.
    out << "{\"text\": " << json(text).dump(-1, ' ', false, json::error_handler_t::replace) << ", \"ids\": ";
    write_list(out, ids);
    out << ", \"embedding\": ";
    write_list(out, embedding);
    out << "}\n";
  }
  if (in.bad()) throw ModelError("the texts could not be read to their end");
}

}  // namespace minilm
