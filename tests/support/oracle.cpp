#include "oracle.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include <ladon/bfloat16.hpp>

namespace ladon_test::oracle {

namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double infinity = std::numeric_limits<double>::infinity();

// The score of a hidden pair of query and key: -infinity with the deviation 0. A computed score may also be -infinity,
// but then its deviation is not 0. So is_seen can distinguish both scores.
constexpr double not_seen = -infinity;
bool is_seen(Real score) { return score.value != not_seen || score.deviation != 0; }

// Returns the columns [first, first + count) of the matrix `m`.
Matrix columns(const Matrix& m, std::size_t first, std::size_t count) {
  Matrix part(m.rows, count);
  for (std::size_t r = 0; r < m.rows; ++r) {
    for (std::size_t c = 0; c < count; ++c) part(r, c) = m(r, first + c);
  }
  return part;
}

Matrix first_rows(const Matrix& m, std::size_t count) {
  Matrix part(count, m.columns);
  for (std::size_t i = 0; i < part.data.size(); ++i) part.data[i] = m.data[i];
  return part;
}

Matrix sum(const Matrix& a, const Matrix& b) {
  Matrix total(a.rows, a.columns);
  for (std::size_t i = 0; i < total.data.size(); ++i) total.data[i] = a.data[i] + b.data[i];
  return total;
}

// Returns the activation of x. `learned` has the two numbers of xIELU. The switch has no default case, so that
// -Werror=switch rejects an enumerator without a case.
Real activate(Activation activation, Real x, const std::vector<float>& learned) {
  switch (activation) {
    case Activation::relu:
      return x.value < 0 ? Real(0, x.deviation) : x;
    case Activation::gelu:
      return Real(0.5) * x * (Real(1) + erf(x * rounded(std::sqrt(0.5))));
    case Activation::gelu_tanh: {  // (1 + tanh u) / 2 = 1 / (1 + e^-2u), u = sqrt(2 / pi) (x + 0.044715 x^3)
      const Real minus_2u = rounded(-2 * std::sqrt(2 / pi)) * (x + rounded(0.044715) * x * x * x);
      return x / (Real(1) + exp(minus_2u));
    }
    case Activation::silu:
      return x / (Real(1) + exp(Real(-x.value, x.deviation)));
    case Activation::quick_gelu:
      return x / (Real(1) + exp(rounded(-1.702) * x));
    case Activation::squared_relu: {
      const Real positive = activate(Activation::relu, x, learned);
      return positive * positive;
    }
    case Activation::xielu: {
      const Real half = Real(0.5) * x;
      if (x.value > 0) return half + Real(learned[0]) * x * x;
      // The library's e^x - 1 has an error of 1e-6 for x between -1e-6 and 0.
      return half + Real(learned[1]) * (exp(x) - Real(1) - x + Real(0, x.value > -1e-6 ? 1e-6 : 0));
    }
  }
  return {};
}

// A quantised token (detail/panel/int8_panels.hpp). The zero point is already subtracted from `integers`.
struct QuantisedToken {
  std::vector<Real> integers;
  Real scale;
};

// Quantises features whose deviations are 0. The function rounds to float32 in the same steps as the library, so the
// integers are exact, too.
QuantisedToken quantised_exactly(std::span<const Real> features, float levels) {
  std::vector<float> x;
  for (const Real& feature : features) x.push_back(static_cast<float>(feature.value));
  const float low = std::min(0.0f, *std::min_element(x.begin(), x.end())),
              high = std::max(0.0f, *std::max_element(x.begin(), x.end()));
  const float scale = high / levels - low / levels;
  QuantisedToken token{std::vector<Real>(features.size()), 0};
  if (scale < 0x1p-126f) return token;
  token.scale = static_cast<double>(scale);
  const float reciprocal = 1 / scale, zero = std::nearbyint(-low * reciprocal);
  for (std::size_t i = 0; i < x.size(); ++i)
    token.integers[i] = static_cast<double>(std::nearbyint(std::clamp(x[i] * reciprocal, -zero, levels - zero)));
  return token;
}

// Returns the integer nearest to x. If x is near the middle of two integers, float32 may round to the other integer.
// This file calls such an integer "in doubt". Its error may be 1, so it gets a deviation of at least 1. Deviations add
// up as if errors were independent. The errors of a token's integers are not independent, because each result of the
// token uses all integers of the token. But even if 64 integers in doubt have errors of the same sign, the sum of these
// errors, 64, is within the bound of 8 deviations: 8 sqrt(64).
Real nearest_integer(Real x) {
  const double nearest = std::nearbyint(x.value), to_middle = 0.5 - std::abs(x.value - nearest);
  return {nearest, to_middle > x.bound() ? 0 : std::hypot(1, x.deviation)};
}

// Returns q, limited to the range from -zero to levels - zero. `q` is a quantised feature minus the zero point `zero`,
// and quantised features lie between 0 and `levels`. If q is near an end of the range, an error of `zero` may change
// the result. The deviation of the result is then at least the deviation of `zero`.
Real limited(Real q, Real zero, double levels) {
  const double value = std::clamp(q.value, -zero.value, levels - zero.value), reach = q.bound() + zero.bound();
  const bool is_far = value > reach - zero.value && value < levels - zero.value - reach;
  return {value, is_far ? q.deviation : std::max(q.deviation, zero.deviation)};
}

// Returns the lowest feature, or 0 if all features are positive. The library's features have float32 errors, so the
// library may find a lower value. The deviation of the result is so large that its bound includes the lowest possible
// value.
Real lowest(std::span<const Real> features) {
  double low = 0, limit = 0;
  for (const Real& x : features) {
    low = std::min(low, x.value);
    limit = std::min(limit, x.value - x.bound());
  }
  return {low, (low - limit) / deviations_allowed};
}
// Like `lowest`, but returns the highest feature, or 0 if all features are negative.
Real highest(std::span<const Real> features) {
  std::vector<Real> negated;
  for (const Real& x : features) negated.emplace_back(-x.value, x.deviation);
  const Real low = lowest(negated);
  return {-low.value, low.deviation};
}

QuantisedToken quantised(std::span<const Real> features, int bits) {
  const auto all = [&](auto is) { return std::ranges::all_of(features, is); };
  const double levels = (1 << bits) - 1;
  QuantisedToken token{std::vector<Real>(features.size()), 0};
  if (!all([](Real x) { return std::isfinite(x.value); })) return {token.integers, Real(std::nan(""), infinity)};
  if (!all([](Real x) { return std::isfinite(x.bound()); })) return {token.integers, Real(0, infinity)};
  if (all([](Real x) { return x.deviation == 0; })) return quantised_exactly(features, static_cast<float>(levels));
  const Real low = lowest(features), scale = highest(features) / Real(levels) - low / Real(levels);
  if (scale.value < 0x1p-126) return token;
  token.scale = scale;
  const Real reciprocal = Real(1) / scale, zero = nearest_integer(Real(-low.value, low.deviation) * reciprocal);
  for (std::size_t i = 0; i < features.size(); ++i)
    token.integers[i] = limited(nearest_integer(features[i] * reciprocal), zero, levels);
  return token;
}

// Returns the product of the matrix H (ladon/detail/panel/rows.hpp) and x. Adds in the order of the library.
std::vector<Real> rotated(std::span<const Real> x) {
  std::vector<Real> result(x.begin(), x.end());
  for (std::size_t half = 1; half < 8; half *= 2) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i / half % 2 != 0) continue;
      const Real a = result[i], b = result[i + half];
      result[i] = a + b;
      result[i + half] = a - b;
    }
  }
  return result;
}

// Computes a linear map with int8 weights. The library quantises each token to integers, and adds the products of
// integers and weights in integer arithmetic, which rounds nothing. So the sum has a deviation only if an integer of
// the token is in doubt (nearest_integer).
Matrix linear_int8(const Linear& w, const Matrix& x) {
  Matrix y(x.rows, w.out);
  for (std::size_t t = 0; t < x.rows; ++t) {
    const auto features = std::span(x.data).subspan(t * x.columns, x.columns);
    const QuantisedToken token =
        w.rotated ? quantised(rotated(features), w.activation_bits) : quantised(features, w.activation_bits);
    for (std::size_t o = 0; o < w.out; ++o) {
      double sum = 0, variance = 0;
      for (std::size_t i = 0; i < w.in; ++i) {
        const double weight = static_cast<double>(w.weight[o * w.in + i]);
        sum += weight * token.integers[i].value;
        variance += weight * token.integers[i].deviation * weight * token.integers[i].deviation;
      }
      y(t, o) = rounded(sum, std::sqrt(variance)) * (token.scale * Real(w.scale[o])) +
                Real(w.bias.empty() ? 0.0f : w.bias[o]);
    }
  }
  return y;
}

// Returns the bfloat16 nearest to x. If x is near the middle of two bfloat16 numbers, the library may round to the
// other number. As in nearest_integer, the deviation is then at least the distance of the two numbers. The library may
// round a subnormal x to 0 or keep x, so the result 0 has a deviation of at least |x|.
Real nearest_bfloat16(Real x) {
  if (!std::isfinite(x.value) || !std::isfinite(x.deviation)) return x;
  const double magnitude = std::abs(x.value);
  if (magnitude < 0x1p-126) return {0, std::hypot(magnitude, x.deviation)};
  const std::uint16_t bits = ladon::to_bfloat16(static_cast<float>(magnitude)).bits;
  const auto value = [](int of_bits) {
    return static_cast<double>(ladon::to_float(ladon::BFloat16{static_cast<std::uint16_t>(of_bits)}));
  };
  const double nearest = value(bits), lower = value(bits - 1), upper = value(bits + 1), step = upper - nearest;
  const double to_middle = std::min(magnitude - (lower + nearest) / 2, (nearest + upper) / 2 - magnitude);
  const bool in_doubt = x.deviation != 0 && to_middle <= x.bound();
  return {std::copysign(nearest, x.value), in_doubt ? std::hypot(step, x.deviation) : 0};
}

// Computes a linear map with bfloat16 weights whose inputs are rounded to bfloat16. The product of two bfloat16 numbers
// is exact in float32, so only sums are rounded. Rounding to odd has an error of at most two rounding units. The
// rounding error of a sum of few products depends on the order of addition. So the function adds two products at a
// time, `first` and `second`, in the order of detail/vec/dot.hpp:
//     rounding of sums   order of addition
//     to nearest         (total + second) + first
//     to odd             total + (first + second)
Matrix linear_bfloat16(const Linear& w, const Matrix& x) {
  Matrix rounded_x = x;
  for (Real& feature : rounded_x.data) feature = nearest_bfloat16(feature);
  Matrix y(x.rows, w.out);
  for (std::size_t t = 0; t < x.rows; ++t) {
    for (std::size_t o = 0; o < w.out; ++o) {
      Real total = w.bias.empty() ? 0.0f : w.bias[o];
      const auto product = [&](std::size_t i) {
        if (i >= w.in) return Real(0);
        const double weight = static_cast<double>(w.weight[o * w.in + i]);
        return Real(weight * rounded_x(t, i).value, weight * rounded_x(t, i).deviation);
      };
      const auto sum = [&](Real a, Real b) {
        if (b.value == 0 && b.deviation == 0) return a;
        return rounded(a.value + b.value, a.deviation, b.deviation, w.rounds_to_odd ? 2 : 1);
      };
      for (std::size_t i = 0; i < w.in; i += 2) {
        total =
            w.rounds_to_odd ? sum(total, sum(product(i), product(i + 1))) : sum(sum(total, product(i + 1)), product(i));
      }
      y(t, o) = total;
    }
  }
  return y;
}

}  // namespace

int hadamard(std::size_t row, std::size_t column) {
  if (row / 8 != column / 8) return 0;
  return std::popcount(row % 8 & column % 8) % 2 == 0 ? 1 : -1;
}

Matrix linear(const Linear& w, const Matrix& x) {
  if (w.activation_bits != 0) return linear_int8(w, x);
  if (w.rounds_inputs) return linear_bfloat16(w, x);
  Matrix y(x.rows, w.out);
  for (std::size_t t = 0; t < x.rows; ++t) {
    for (std::size_t o = 0; o < w.out; ++o) {
      Sum sum(Real(w.bias.empty() ? 0.0f : w.bias[o]));
      for (std::size_t i = 0; i < w.in; ++i) sum.add_product(Real(w.weight[o * w.in + i]), x(t, i));
      y(t, o) = sum.total();
    }
  }
  return y;
}

Matrix rotate(const Matrix& rows, const Rotary& rotary, std::size_t first) {
  Matrix turned = rows;
  for (std::size_t t = 0; t < rows.rows; ++t) {
    for (std::size_t i = 0; i < rotary.width / 2; ++i) {
      const double share = static_cast<double>(2 * i) / static_cast<double>(rotary.width);
      const double angle = static_cast<double>(first + t) / rotary.scaling * std::pow(rotary.base, -share);
      const Real cosine(std::cos(angle), unit), sine(std::sin(angle), unit);
      const std::size_t a = rotary.halves ? i : 2 * i, b = rotary.halves ? i + rotary.width / 2 : 2 * i + 1;
      turned(t, a) = rows(t, a) * cosine - rows(t, b) * sine;
      turned(t, b) = rows(t, a) * sine + rows(t, b) * cosine;
    }
  }
  return turned;
}

namespace {

// Returns x as an operand of attention. If `in_pairs` is true, the library rounds x to the nearest bfloat16, and a
// float32 error of x may change the result of the rounding. So the function returns x itself, and adds the largest
// rounding error to the deviation. This error is half the distance of two bfloat16 numbers: 2^(e - 8) for 2^e <= |x| <
// 2^(e + 1).
Real operand(Real x, bool in_pairs) {
  if (!in_pairs || x.value == 0 || !std::isfinite(x.value)) return x;
  return {x.value, std::hypot(x.deviation, std::ldexp(1.0, std::ilogb(x.value) - 8), underflow)};
}

// Returns scale * q k^T, the score of every pair of query and key.
Matrix scaled_scores(const Matrix& q, const Matrix& k, double scale, bool in_pairs) {
  const Real rounded_scale = rounded(scale, 0, 0, 3);  // 3 roundings: square root, quotient, and product with log2(e)
  Matrix scaled = q, keys = k, scores(q.rows, k.rows);
  for (Real& feature : scaled.data) feature = operand(rounded_scale * feature, in_pairs);
  for (Real& feature : keys.data) feature = operand(feature, in_pairs);
  for (std::size_t i = 0; i < q.rows; ++i) {
    for (std::size_t j = 0; j < k.rows; ++j) {
      Sum score(0);
      for (std::size_t c = 0; c < q.columns; ++c) score.add_product(scaled(i, c), keys(j, c));
      scores(i, j) = score.total();
    }
  }
  return scores;
}

Matrix capped_scores(const Matrix& scaled, double softcap) {
  Matrix scores = scaled;
  if (softcap == 0) return scores;
  for (Real& s : scores.data) {
    s = Real(softcap) * tanh(s * rounded(1 / softcap));
    s = rounded(s.value, s.deviation, 0, 2);  // 2 roundings: of log2(e) and of its product with the softcap
  }
  return scores;
}

// Returns the score of each pair of query and key plus the numbers that the masks add. Hidden pairs get -inf.
Matrix masked_scores(const Matrix& capped, const Score& form, std::size_t head, const MaySee& may_see) {
  Matrix scores = capped;
  for (std::size_t i = 0; i < scores.rows; ++i) {
    for (std::size_t j = 0; j < scores.columns; ++j) {
      bool seen = may_see(i, j);
      for (const Bias& bias : form.biases) {
        const Real added = seen ? bias(head, i, j) : 0;
        seen = seen && added.value != -infinity;
        if (seen) scores(i, j) = scores(i, j) + rounded(added.value, added.deviation, 0, 2);  // rounded: bias * log2(e)
      }
      if (!seen) scores(i, j) = not_seen;
    }
  }
  return scores;
}

// Adds a deviation to an output o of attention, because the library rounds the weights of the softmax. The weight p_j
// of key j is rounded to p_j (1 + e_j), and the error e_j is at most 2^-8. The library divides by the sum of the
// rounded weights. To first order, the error of o is `share` times the sum of e_j p_j (v_j - o). `share` is the
// reciprocal of the sum of p_j, and `term(j)` returns p_j (v_j - o).
template <class Term>
void add_deviation(Real& result, Real share, std::size_t keys, Term term) {
  double squares = 0;
  for (std::size_t j = 0; j < keys; ++j) squares += term(j) * term(j);
  result.deviation = std::hypot(result.deviation, 0x1p-8 * share.value * std::sqrt(squares));
}

}  // namespace

Attended attend(const Matrix& q, const Matrix& k, const Matrix& v, const Score& form, std::size_t head,
                const MaySee& may_see) {
  const Matrix scaled = scaled_scores(rotate(q, form.rotary, form.rotary.first_query),
                                      rotate(k, form.rotary, form.rotary.first_key), form.scale, form.in_pairs);
  const Matrix capped = capped_scores(scaled, form.softcap), masked = masked_scores(capped, form, head, may_see);
  Matrix out(q.rows, v.columns), weights(q.rows, k.rows), values = v;
  for (Real& value : values.data) value = operand(value, form.in_pairs);
  const double sink = form.sinks.empty() ? -infinity : static_cast<double>(form.sinks[head]);
  for (std::size_t i = 0; i < q.rows; ++i) {
    double maximum = sink;
    for (std::size_t j = 0; j < k.rows; ++j) {
      if (is_seen(masked(i, j))) maximum = std::max(maximum, masked(i, j).value);
    }
    const auto power = [&](Real score) {
      const Real below = score - Real(maximum);
      return corrected(exp(below), below, k.rows);
    };
    Real total = sink == -infinity ? Real(0) : power(rounded(sink, 0, 0, 2));
    for (std::size_t j = 0; j < k.rows; ++j) {
      if (!is_seen(masked(i, j))) continue;
      weights(i, j) = power(masked(i, j));
      total = total + weights(i, j);
    }
    const Real share = Real(1) / (total.value == 0 ? Real(1) : total);
    for (std::size_t c = 0; c < v.columns; ++c) {
      Sum mean(0);
      for (std::size_t j = 0; j < k.rows; ++j) {
        if (is_seen(masked(i, j))) mean.add_product(weights(i, j), values(j, c));
      }
      out(i, c) = mean.total() * share;
      if (!form.in_pairs) continue;
      add_deviation(out(i, c), share, k.rows, [&, o = out(i, c).value](std::size_t j) {
        return is_seen(masked(i, j)) ? weights(i, j).value * (v(j, c).value - o) : 0;
      });
    }
    for (std::size_t j = 0; j < k.rows; ++j) {
      if (is_seen(masked(i, j))) weights(i, j) = weights(i, j) * share;
    }
  }
  return {out, {weights}, {scaled}, {capped}, {masked}};
}

void append(Attended& all, Attended head) {
  for (auto part : {&Attended::weights, &Attended::scaled, &Attended::capped, &Attended::masked}) {
    (all.*part).push_back(std::move((head.*part)[0]));
  }
}

Attended multi_head_attention(const Matrix& x, const Matrix& context, const AttentionWeights& weights,
                              const Heads& heads, const MaySee& may_see) {
  return multi_head_attention(x, context, context, weights, heads, may_see);
}

namespace {

// Computes attention from projected queries, keys and values [tokens][features of all heads]. Then applies the output
// projection.
Attended attend_projected(const Matrix& q, const Matrix& k, const Matrix& v, const AttentionWeights& weights,
                          const Heads& heads, const MaySee& may_see) {
  Attended result;
  Matrix concat(q.rows, heads.heads * heads.value_width);
  for (std::size_t h = 0; h < heads.heads; ++h) {
    const std::size_t kv = h / (heads.heads / heads.kv_heads);
    Attended head =
        attend(columns(q, h * heads.head_width, heads.head_width), columns(k, kv * heads.head_width, heads.head_width),
               columns(v, kv * heads.value_width, heads.value_width), heads.score, h, may_see);
    for (std::size_t t = 0; t < q.rows; ++t) {
      for (std::size_t c = 0; c < heads.value_width; ++c) concat(t, h * heads.value_width + c) = head.out(t, c);
    }
    append(result, std::move(head));
  }
  result.out = linear(weights.output, concat);
  return result;
}

// Replaces the columns of each head by part(head, columns).
Matrix each_head(const Matrix& rows, std::size_t head_width, const std::function<Matrix(std::size_t, Matrix)>& part) {
  Matrix all = rows;
  for (std::size_t from = 0; from < rows.columns; from += head_width) {
    const Matrix changed = part(from / head_width, columns(rows, from, head_width));
    for (std::size_t t = 0; t < rows.rows; ++t) {
      for (std::size_t c = 0; c < head_width; ++c) all(t, from + c) = changed(t, c);
    }
  }
  return all;
}

// Computes the norm of projected queries or keys.
Matrix norm_heads(const Matrix& rows, const Norm& norm, const Heads& heads) {
  const auto kind = heads.norms;
  if (kind.over == ladon::HeadNorm::none) return rows;
  if (kind.over == ladon::HeadNorm::all) return normalized(kind.kind, norm, rows);
  return each_head(rows, heads.head_width, [&](std::size_t head, const Matrix& part) {
    Norm own = norm;
    if (kind.over == ladon::HeadNorm::each_head) {
      for (std::vector<float>* tensor : {&own.weight, &own.bias}) {
        if (!tensor->empty())
          tensor->erase(tensor->begin(), tensor->begin() + static_cast<std::ptrdiff_t>(head * heads.head_width));
      }
    }
    return normalized(kind.kind, own, part);
  });
}

// Computes norm and rotation of projected queries or keys. The first row has the position `first`.
Matrix finished(const Matrix& rows, const Norm& norm, const Heads& heads, std::size_t first) {
  const auto rotated = [&](const Matrix& all) {
    return each_head(all, heads.head_width,
                     [&](std::size_t, const Matrix& part) { return rotate(part, heads.score.rotary, first); });
  };
  return heads.norms.after_rotation ? norm_heads(rotated(rows), norm, heads) : rotated(norm_heads(rows, norm, heads));
}

}  // namespace

Attended multi_head_attention(const Matrix& x, const Matrix& key_input, const Matrix& value_input,
                              const AttentionWeights& weights, const Heads& heads, const MaySee& may_see) {
  Stored stored = project_keys(key_input, weights, heads);
  stored.values = linear(weights.value, value_input);
  return attend_stored(x, stored, weights, heads, may_see);
}

Stored project_keys(const Matrix& context, const AttentionWeights& weights, const Heads& heads) {
  return {finished(linear(weights.key, context), weights.key_norm, heads, heads.score.rotary.first_key),
          context.columns == weights.value.in ? linear(weights.value, context) : Matrix()};
}

Attended attend_stored(const Matrix& x, const Stored& stored, const AttentionWeights& weights, const Heads& heads,
                       const MaySee& may_see) {
  const Matrix q = finished(linear(weights.query, x), weights.query_norm, heads, heads.score.rotary.first_query);
  Heads rotated = heads;
  rotated.score.rotary = {};
  return attend_projected(q, stored.keys, stored.values, weights, rotated, may_see);
}

namespace {

Real gain_of(const Norm& norm, std::size_t feature) {
  const Real weight = norm.weight[feature];
  return norm.one_plus_weight ? Real(1) + weight : weight;
}

}  // namespace

Matrix layer_norm(const Norm& norm, const Matrix& x) {
  const Real share = rounded(1.0 / static_cast<double>(x.columns));
  Matrix y(x.rows, x.columns);
  for (std::size_t t = 0; t < x.rows; ++t) {
    Real total = 0;
    for (std::size_t i = 0; i < x.columns; ++i) total = total + x(t, i);
    const Real mean = total * share;
    Real squares = 0;
    for (std::size_t i = 0; i < x.columns; ++i) squares = squares + (x(t, i) - mean) * (x(t, i) - mean);
    const Real scale = Real(1) / sqrt(squares * share + Real(norm.epsilon));
    for (std::size_t i = 0; i < x.columns; ++i) {
      y(t, i) = (x(t, i) - mean) * scale * gain_of(norm, i);
      if (!norm.bias.empty()) y(t, i) = y(t, i) + Real(norm.bias[i]);
    }
  }
  return y;
}

Matrix rms_norm(const Norm& norm, const Matrix& x) {
  const Real share = rounded(1.0 / static_cast<double>(x.columns));
  Matrix y(x.rows, x.columns);
  for (std::size_t t = 0; t < x.rows; ++t) {
    Real squares = 0;
    for (std::size_t i = 0; i < x.columns; ++i) squares = squares + x(t, i) * x(t, i);
    const Real scale = Real(1) / sqrt(squares * share + Real(norm.epsilon));
    for (std::size_t i = 0; i < x.columns; ++i) y(t, i) = x(t, i) * scale * gain_of(norm, i);
  }
  return y;
}

Matrix normalized(NormKind kind, const Norm& norm, const Matrix& x) {
  if (norm.omitted) return x;
  return kind == NormKind::rms ? rms_norm(norm, x) : layer_norm(norm, x);
}

NormKind feed_forward_norm_kind(const Model& config) {
  return config.feed_forward_norm_kind == NormKind::same ? config.norm_kind : config.feed_forward_norm_kind;
}

// Returns the activation of a hidden feature `x`. If the next product rounds the feature to an integer or to bfloat16,
// kernels may compute GELU from a table, with an error of at most 2.3e-6 |x| (detail/layer/activation.hpp).
Real activate_hidden(Activation activation, Real x, bool rounded, const std::vector<float>& learned) {
  Real y = activate(activation, x, learned);
  const bool is_gelu = activation == Activation::gelu || activation == Activation::gelu_tanh;
  if (rounded && is_gelu) y.deviation += 2.3e-6 * std::fabs(x.value);
  return y;
}

Matrix feed_forward(const LayerWeights& weights, const Model& config, const Matrix& x) {
  Matrix hidden = linear(config.gated ? weights.gate : weights.linear1, x);
  const bool rounded = weights.linear2.activation_bits != 0 || weights.linear2.rounds_inputs;
  for (Real& value : hidden.data) value = activate_hidden(config.activation, value, rounded, weights.activation);
  if (config.gated) {
    const Matrix through = linear(weights.linear1, x);
    for (std::size_t i = 0; i < hidden.data.size(); ++i) hidden.data[i] = hidden.data[i] * through.data[i];
  }
  return linear(weights.linear2, hidden);
}

namespace {

// Returns the output y of a sublayer, as it is added to the residual: scaled.
Matrix scaled(const Model& config, const std::vector<float>& scale, Matrix y) {
  for (std::size_t i = 0; i < y.data.size(); ++i) {
    if (!scale.empty()) y.data[i] = y.data[i] * Real(scale[i % y.columns]);
    if (config.residual_scale != 1) y.data[i] = y.data[i] * Real(config.residual_scale);
  }
  return y;
}

}  // namespace

Attended encoder_layer(const Matrix& x, const LayerWeights& weights, const Heads& heads, const Model& config,
                       std::size_t queries, std::size_t keys, const MaySee& may_see) {
  const NormOrder order = config.norm;
  const bool pre = order == NormOrder::pre || order == NormOrder::both;
  const auto norm1 = [&](const Norm& norm, const Matrix& y) { return normalized(config.norm_kind, norm, y); };
  const auto norm2 = [&](const Norm& norm, const Matrix& y) {
    return normalized(feed_forward_norm_kind(config), norm, y);
  };
  const Matrix input = pre ? norm1(weights.norm1, x) : x;
  Heads biased = heads;
  if (!weights.attention_bias.empty()) {
    const std::size_t pairs = weights.attention_bias.size() / heads.heads;
    const auto tokens = static_cast<std::size_t>(std::lround(std::sqrt(pairs)));
    biased.score.biases.push_back([&weights, pairs, tokens](std::size_t head, std::size_t query, std::size_t key) {
      return Real(static_cast<double>(weights.attention_bias[head * pairs + query * tokens + key]));
    });
  }
  Attended result =
      multi_head_attention(first_rows(input, queries), first_rows(input, keys), weights.attention, biased, may_see);
  Matrix attended = result.out;
  if (order == NormOrder::both) attended = norm1(weights.output_norm1, attended);
  if (order == NormOrder::output) attended = norm1(weights.norm1, attended);
  const Matrix residual = first_rows(x, queries);
  Matrix y = sum(residual, scaled(config, weights.scale1, attended));
  if (order == NormOrder::post) y = norm1(weights.norm1, y);
  Matrix of_network = y;
  if (config.residual == Residual::parallel_one_norm) {
    of_network = first_rows(input, queries);
  } else if (pre) {
    of_network = norm2(weights.norm2, config.residual == Residual::parallel ? residual : y);
  }
  of_network = feed_forward(weights, config, of_network);
  if (order == NormOrder::both) of_network = norm2(weights.output_norm2, of_network);
  if (order == NormOrder::output) of_network = norm2(weights.norm2, of_network);
  y = sum(y, scaled(config, weights.scale2, of_network));
  if (order == NormOrder::post) y = norm2(weights.norm2, y);
  result.out = std::move(y);
  return result;
}

Decoded decoder_layer(const Matrix& x, const Matrix& memory, const DecoderLayerWeights& weights, const Heads& heads,
                      const Model& config, std::size_t queries, std::size_t keys, const MaySee& may_see,
                      const MaySee& memory_seen) {
  const bool pre = config.norm != NormOrder::post, both = config.norm == NormOrder::both;
  const auto normed = [&](const Norm& norm, const Matrix& y) { return normalized(config.norm_kind, norm, y); };
  const auto output = [&](const Norm& norm, const Matrix& y) { return scaled(config, {}, both ? normed(norm, y) : y); };
  const Matrix input = pre ? normed(weights.own.norm1, x) : x;
  Attended self =
      multi_head_attention(first_rows(input, queries), first_rows(input, keys), weights.own.attention, heads, may_see);
  Matrix y = sum(first_rows(x, queries), output(weights.own.output_norm1, self.out));
  if (!pre) y = normed(weights.own.norm1, y);
  Heads without_positions = heads;
  without_positions.score.rotary = {};
  Attended cross = multi_head_attention(pre ? normed(weights.own.norm2, y) : y, memory, weights.cross,
                                        without_positions, memory_seen);
  y = sum(y, output(weights.own.output_norm2, cross.out));
  if (!pre) y = normed(weights.own.norm2, y);
  const auto last = [&](const Norm& norm, const Matrix& of) {
    return normalized(feed_forward_norm_kind(config), norm, of);
  };
  Matrix of_network = feed_forward(weights.own, config, pre ? last(weights.norm3, y) : y);
  if (both) of_network = last(weights.output_norm3, of_network);
  y = sum(y, scaled(config, {}, of_network));
  if (!pre) y = last(weights.norm3, y);
  return {std::move(y), std::move(self.weights), std::move(cross.weights)};
}

}  // namespace ladon_test::oracle
