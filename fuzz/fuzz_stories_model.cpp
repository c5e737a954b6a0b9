// Fuzzes the model of the stories. For any file and any tokens, the model must return finite logits or throw Error.
//
// An input consists of a byte, the tokens and the model file. The upper 7 bits of the byte are the number of tokens. A
// token has two bytes. If the lowest bit of the byte is 1, the fuzzer appends copies of the file's body, until the file
// has the size of a model file. A short input can therefore be a complete model file.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "error.hpp"
#include "model.hpp"
#include "support/memory_file.hpp"
#include "support/require.hpp"

namespace {

using ladon_fuzz::require;

constexpr std::size_t right_size = 1'056'540, header_size = 28;

void fill_up(std::string& file) {
  if (file.size() <= header_size) return;
  const std::string body = file.substr(header_size);
  while (file.size() < right_size) file.append(body, 0, right_size - file.size());
}

// Calls model.extend with the tokens, in one or several calls. A token whose highest bit is 1 begins a new call.
void run(stories::Model& model, const std::vector<std::uint16_t>& tokens) {
  std::vector<stories::TokenId> call;
  std::size_t length = 0;
  const auto extend = [&] {
    const stories::Logits logits = model.extend(call);
    require(std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); }), "logits are finite");
    length += call.size();
    require(model.length() == length, "the text has all tokens");
    call.clear();
  };
  for (const std::uint16_t token : tokens) {
    if ((token & 0x8000) != 0 && !call.empty()) extend();
    call.push_back(token & 0x7FFF);
  }
  extend();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t count = std::min<std::size_t>(data[0] >> 1, (size - 1) / 2);
  std::vector<std::uint16_t> tokens(count);
  for (std::size_t i = 0; i < count; ++i)
    tokens[i] = static_cast<std::uint16_t>(data[1 + 2 * i] | data[2 + 2 * i] << 8);
  std::string content(reinterpret_cast<const char*>(data) + 1 + 2 * count, size - 1 - 2 * count);
  if ((data[0] & 1) != 0) fill_up(content);
  const ladon_fuzz::MemoryFile file(content);
  try {
    stories::Model model(file.path());
    run(model, tokens);
    model.clear();
    require(model.length() == 0, "a new text is empty");
  } catch (const examples::Error& error) {
    ladon_fuzz::require_shown(error.what(), "an error");
  }
  return 0;
}
