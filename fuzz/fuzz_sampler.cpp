// Fuzzes ladon::Sampler. For any options and logits, the sampler must choose a token whose logit is above -inf and
// among the top_k largest. It must return no_token only if there is no such logit.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <fuzzer/FuzzedDataProvider.h>
#include <ladon/model/sampling.hpp>

#include "support/require.hpp"

namespace {

using ladon_fuzz::require;

constexpr std::size_t vocabulary = 200;
using Sampler = ladon::Sampler<vocabulary>;

float any_float(FuzzedDataProvider& data) {
  const auto bits = data.ConsumeIntegral<std::uint32_t>();
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

void check(const ladon::Sampling& sampling, const std::vector<float>& logits) {
  const auto usable = [](float logit) { return logit > -std::numeric_limits<float>::infinity(); };
  const bool any = std::ranges::any_of(logits, usable);
  Sampler sampler(sampling), same(sampling);
  for (int draw = 0; draw < 4; ++draw) {
    const std::int32_t token = sampler(logits.data());
    require(same(logits.data()) == token, "the same seed gives the same tokens");
    require((token != ladon::no_token) == any, "there is a token if there is a logit above -inf");
    if (!any) continue;
    require(token >= 0 && static_cast<std::size_t>(token) < vocabulary, "the token is one of the logits'");
    const float chosen = logits[static_cast<std::size_t>(token)];
    require(usable(chosen), "the logit of the token is above -inf");
    const auto larger = std::ranges::count_if(logits, [&](float logit) { return logit > chosen; });
    if (sampling.top_k > 0)
      require(static_cast<std::size_t>(larger) < sampling.top_k, "the token is among the top_k largest");
    if (!(sampling.temperature > 0) || sampling.top_p <= 0)
      require(larger == 0, "temperature 0 and top_p 0 give the likeliest");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  FuzzedDataProvider data(bytes, size);
  ladon::Sampling sampling;
  sampling.seed = data.ConsumeIntegral<std::uint64_t>();
  sampling.temperature = any_float(data);
  sampling.top_p = any_float(data);
  sampling.top_k = data.ConsumeIntegralInRange<std::size_t>(0, vocabulary + 1);
  std::vector<float> logits(vocabulary, -std::numeric_limits<float>::infinity());
  const auto count = data.ConsumeIntegralInRange<std::size_t>(0, vocabulary);
  for (std::size_t i = 0; i < count; ++i) logits[i] = any_float(data);
  check(sampling, logits);
  return 0;
}
