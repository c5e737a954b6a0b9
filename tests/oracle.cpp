#include "oracle.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace ladon_test::oracle {

namespace {

constexpr double pi = 3.14159265358979323846;

// Columns [first, first + count) of m.
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

Real activate(Activation activation, Real x) {
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
  }
  return {};
}

}  // namespace

Matrix linear(const Linear& w, const Matrix& x) {
  Matrix y(x.rows, w.out);
  for (std::size_t t = 0; t < x.rows; ++t) {
    for (std::size_t o = 0; o < w.out; ++o) {
      Real total = w.bias.empty() ? 0.0f : w.bias[o];
      for (std::size_t i = 0; i < w.in; ++i) total = total + Real(w.weight[o * w.in + i]) * x(t, i);
      y(t, o) = total;
    }
  }
  return y;
}

Attended attend(const Matrix& q, const Matrix& k, const Matrix& v, double scale, const MaySee& may_see) {
  const Real rounded_scale = rounded(scale, 0, 0, 3);  // a root, a quotient, and log2(e) that joins them
  Attended result{Matrix(q.rows, v.columns), {Matrix(q.rows, k.rows)}};
  Matrix& weights = result.weights[0];
  for (std::size_t i = 0; i < q.rows; ++i) {
    double maximum = -std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < k.rows; ++j) {
      if (!may_see(i, j)) continue;
      Real score = 0;
      for (std::size_t c = 0; c < q.columns; ++c) score = score + (rounded_scale * q(i, c)) * k(j, c);
      weights(i, j) = score;
      maximum = std::max(maximum, score.value);
    }
    Real total = 0;
    for (std::size_t j = 0; j < k.rows; ++j) {
      if (!may_see(i, j)) continue;
      const Real below = weights(i, j) - Real(maximum);
      weights(i, j) = corrected(exp(below), below, k.rows);
      total = total + weights(i, j);
    }
    const Real share = Real(1) / (total.value == 0 ? Real(1) : total);
    for (std::size_t c = 0; c < v.columns; ++c) {
      Real mean = 0;
      for (std::size_t j = 0; j < k.rows; ++j) {
        if (may_see(i, j)) mean = mean + weights(i, j) * v(j, c);
      }
      result.out(i, c) = mean * share;
    }
    for (std::size_t j = 0; j < k.rows; ++j) {
      if (may_see(i, j)) weights(i, j) = weights(i, j) * share;
    }
  }
  return result;
}

Attended multi_head_attention(const Matrix& x, const Matrix& context, const AttentionWeights& weights,
                              const Heads& heads, const MaySee& may_see) {
  const Matrix q = linear(weights.query, x), k = linear(weights.key, context), v = linear(weights.value, context);
  Attended result;
  Matrix concat(x.rows, heads.heads * heads.value_width);
  for (std::size_t h = 0; h < heads.heads; ++h) {
    const std::size_t kv = h / (heads.heads / heads.kv_heads);
    Attended head =
        attend(columns(q, h * heads.head_width, heads.head_width), columns(k, kv * heads.head_width, heads.head_width),
               columns(v, kv * heads.value_width, heads.value_width), heads.scale, may_see);
    for (std::size_t t = 0; t < x.rows; ++t) {
      for (std::size_t c = 0; c < heads.value_width; ++c) concat(t, h * heads.value_width + c) = head.out(t, c);
    }
    result.weights.push_back(std::move(head.weights[0]));
  }
  result.out = linear(weights.output, concat);
  return result;
}

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
      y(t, i) = (x(t, i) - mean) * scale * Real(norm.weight[i]) + Real(norm.bias[i]);
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
    for (std::size_t i = 0; i < x.columns; ++i) y(t, i) = x(t, i) * scale * Real(norm.weight[i]);
  }
  return y;
}

Matrix normalized(NormKind kind, const Norm& norm, const Matrix& x) {
  return kind == NormKind::rms ? rms_norm(norm, x) : layer_norm(norm, x);
}

Matrix feed_forward(const LayerWeights& weights, const LayerForm& form, const Matrix& x) {
  Matrix hidden = linear(form.gated ? weights.gate : weights.linear1, x);
  for (Real& value : hidden.data) value = activate(form.activation, value);
  if (form.gated) {
    const Matrix through = linear(weights.linear1, x);
    for (std::size_t i = 0; i < hidden.data.size(); ++i) hidden.data[i] = hidden.data[i] * through.data[i];
  }
  return linear(weights.linear2, hidden);
}

Attended encoder_layer(const Matrix& x, const LayerWeights& weights, const Heads& heads, const LayerForm& form,
                       std::size_t queries, std::size_t keys, const MaySee& may_see) {
  const bool pre = form.norm == NormOrder::pre;
  const auto normed = [&](const Norm& norm, const Matrix& y) { return normalized(form.norm_kind, norm, y); };
  const Matrix input = pre ? normed(weights.norm1, x) : x;
  Attended result =
      multi_head_attention(first_rows(input, queries), first_rows(input, keys), weights.attention, heads, may_see);
  Matrix y = sum(first_rows(x, queries), result.out);
  if (!pre) y = normed(weights.norm1, y);
  y = sum(y, feed_forward(weights, form, pre ? normed(weights.norm2, y) : y));
  if (!pre) y = normed(weights.norm2, y);
  result.out = std::move(y);
  return result;
}

Decoded decoder_layer(const Matrix& x, const Matrix& memory, const DecoderLayerWeights& weights, const Heads& heads,
                      const LayerForm& form, std::size_t queries, std::size_t keys, const MaySee& may_see,
                      const MaySee& memory_seen) {
  const bool pre = form.norm == NormOrder::pre;
  const auto normed = [&](const Norm& norm, const Matrix& y) { return normalized(form.norm_kind, norm, y); };
  const Matrix input = pre ? normed(weights.own.norm1, x) : x;
  Attended self =
      multi_head_attention(first_rows(input, queries), first_rows(input, keys), weights.own.attention, heads, may_see);
  Matrix y = sum(first_rows(x, queries), self.out);
  if (!pre) y = normed(weights.own.norm1, y);
  Attended cross =
      multi_head_attention(pre ? normed(weights.own.norm2, y) : y, memory, weights.cross, heads, memory_seen);
  y = sum(y, cross.out);
  if (!pre) y = normed(weights.own.norm2, y);
  y = sum(y, feed_forward(weights.own, form, pre ? normed(weights.norm3, y) : y));
  if (!pre) y = normed(weights.norm3, y);
  return {std::move(y), std::move(self.weights), std::move(cross.weights)};
}

}  // namespace ladon_test::oracle
