// Fuzzes the sampler of the stories. For finite logits, the sampler must choose a token. If a logit is NaN or infinite,
// the sampler must throw Error.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include <fuzzer/FuzzedDataProvider.h>

#include "error.hpp"
#include "sampler.hpp"
#include "support/require.hpp"

namespace {

using ladon_fuzz::require, stories::Sampler, stories::TokenId;

float any_float(FuzzedDataProvider& data) {
  const auto bits = data.ConsumeIntegral<std::uint32_t>();
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

std::optional<TokenId> choose(Sampler& sampler, const std::vector<float>& logits) {
  try {
    return sampler.choose(logits);
  } catch (const examples::Error&) {
    return std::nullopt;
  }
}

void check(Sampler sampler, Sampler same, float temperature, const std::vector<float>& logits) {
  const bool finite = std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); });
  for (int draw = 0; draw < 4; ++draw) {
    const auto token = choose(sampler, logits);
    require(token.has_value() == finite, "logits that are not finite are refused, all others give a token");
    require(choose(same, logits) == token, "the same seed gives the same tokens");
    if (!token) continue;
    require(*token < logits.size(), "the token is one of the logits'");
    if (temperature == 0) require(logits[*token] == std::ranges::max(logits), "temperature 0 gives the likeliest");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  FuzzedDataProvider data(bytes, size);
  const auto seed = data.ConsumeIntegral<std::uint64_t>();
  const float temperature = std::abs(any_float(data)), top_p = any_float(data);
  if (std::isnan(temperature)) return 0;  // Sampler requires temperature >= 0
  std::vector<float> logits(data.ConsumeIntegralInRange<std::size_t>(2, 600));
  for (float& logit : logits) logit = any_float(data);
  check(Sampler(temperature, top_p, seed), Sampler(temperature, top_p, seed), temperature, logits);
  return 0;
}
