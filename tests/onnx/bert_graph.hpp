// SPDX-License-Identifier: Apache-2.0
// The graph of a BERT encoder as PyTorch's older exporter writes it with opset 11: norms from ReduceMean to Add, GELU
// from Div to Mul, and the transposed matrices of linear maps as constants with names such as "onnx::MatMul_1234".
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "onnx_writer.hpp"

namespace ladon::onnx {

struct BertSizes {
  std::size_t layers, model, heads, feed_forward, vocabulary, positions;
};

// Writes the graph, and computes it in double for one text at the same time. The weight of the last norm has the name
// `unknown`, if any, and stands in front of a Cast, so that nothing tells whose weight it is.
class BertGraph {
 public:
  // Rows of numbers, and the name of the value in the graph.
  struct Value {
    std::string name;
    std::vector<std::vector<double>> rows{};
  };

  BertGraph(const BertSizes& sizes, std::vector<std::size_t> ids, float epsilon, bool has_names = true,
            std::string unknown = "")
      : sizes_(sizes),
        ids_(std::move(ids)),
        epsilon_(epsilon),
        has_names_(has_names),
        unknown_(std::move(unknown)),
        last_norm_("encoder.layer." + std::to_string(sizes.layers - 1) + ".output.LayerNorm") {
    Value x = embeddings();
    for (std::size_t layer = 0; layer < sizes.layers; ++layer) {
      const std::string module = "encoder.layer." + std::to_string(layer) + ".";
      const Value attended =
          linear(module + "attention.output.dense", attention(module + "attention.self", x), sizes.model);
      const Value y = norm(module + "attention.output.LayerNorm", sum(attended, x));
      const Value hidden = gelu(linear(module + "intermediate.dense", y, sizes.feed_forward));
      x = norm(module + "output.LayerNorm", sum(linear(module + "output.dense", hidden, sizes.model), y));
    }
    last_ = x.rows;
  }

  [[nodiscard]] const OnnxWriter& file() const { return file_; }
  [[nodiscard]] const std::vector<std::vector<double>>& last() const { return last_; }
  // The tensors of the state dict, in its order (outputs, inputs).
  [[nodiscard]] const std::map<std::string, std::vector<float>>& tensors() const { return tensors_; }

 private:
  std::string add_node(const std::string& type, const std::vector<std::string>& inputs) {
    const std::string output = "value_" + std::to_string(nodes_++);
    file_.add({.type = type, .inputs = inputs, .outputs = {output}, .name = has_names_ ? path_ + type : ""});
    return output;
  }
  std::string scalar(float number) {
    const std::string output = "constant_" + std::to_string(nodes_++);
    file_.add_scalar(output, number);
    return output;
  }
  // The module of the next nodes. A path such as "/encoder/layer.0/output/dense/" has a number in the name before it.
  void enter(const std::string& module) {
    path_ = "/" + module + "/";
    for (std::size_t i = 1; i + 1 < path_.size(); ++i)
      if (path_[i] == '.' && (path_[i + 1] < '0' || path_[i + 1] > '9')) path_[i] = '/';
  }

  std::vector<float> numbers(std::size_t count, float mean = 0) {
    std::vector<float> all(count);
    for (float& number : all) number = mean + std::uniform_real_distribution<float>(-0.5f, 0.5f)(random_);
    return all;
  }
  const std::vector<float>& tensor(const std::string& name, std::vector<std::int64_t> shape, float mean = 0) {
    std::size_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    std::vector<float>& all = tensors_[name] = numbers(count, mean);
    file_.add_bytes(name, shape, 1, files::floats(all));
    return all;
  }

  Value rows_of(const std::string& name, std::size_t rows, const std::vector<std::size_t>& indices) {
    const auto& table = tensor(name + ".weight", {std::int64_t(rows), std::int64_t(sizes_.model)});
    enter(name);
    Value value{add_node("Gather", {name + ".weight", "input_ids"})};
    for (const std::size_t index : indices) {
      const auto row = table.begin() + static_cast<std::ptrdiff_t>(index * sizes_.model);
      value.rows.emplace_back(row, row + static_cast<std::ptrdiff_t>(sizes_.model));
    }
    return value;
  }
  Value embeddings() {
    std::vector<std::size_t> positions(ids_.size());
    for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = i;
    const Value words = rows_of("embeddings.word_embeddings", sizes_.vocabulary, ids_);
    const Value types = rows_of("embeddings.token_type_embeddings", 2, std::vector<std::size_t>(ids_.size(), 0));
    const Value places = rows_of("embeddings.position_embeddings", sizes_.positions, positions);
    return norm("embeddings.LayerNorm", sum(sum(words, types), places));
  }

  Value sum(const Value& a, const Value& b) {
    Value value{add_node("Add", {a.name, b.name}), a.rows};
    for (std::size_t t = 0; t < a.rows.size(); ++t)
      for (std::size_t i = 0; i < a.rows[t].size(); ++i) value.rows[t][i] += b.rows[t][i];
    return value;
  }

  Value norm(const std::string& name, const Value& x) {
    const std::vector<std::int64_t> shape{std::int64_t(sizes_.model)};
    const bool is_unknown = !unknown_.empty() && name == last_norm_;
    const std::string weight = is_unknown ? unknown_ : name + ".weight";
    const auto& gains = tensor(weight, shape, 1);
    const auto& shifts = tensor(name + ".bias", shape);
    enter(name);
    const std::string mean = add_node("ReduceMean", {x.name}), difference = add_node("Sub", {x.name, mean});
    const std::string squares = add_node("Pow", {difference, scalar(2)}), variance = add_node("ReduceMean", {squares});
    const std::string root = add_node("Sqrt", {add_node("Add", {variance, scalar(epsilon_)})});
    std::string scaled = add_node("Mul", {add_node("Div", {difference, root}), weight});
    if (is_unknown) scaled = add_node("Cast", {scaled});
    Value value{add_node("Add", {scaled, name + ".bias"}), x.rows};
    for (std::vector<double>& row : value.rows) {
      const auto count = static_cast<double>(row.size());
      double middle = 0, deviation = 0;
      for (const double number : row) middle += number / count;
      for (const double number : row) deviation += (number - middle) * (number - middle) / count;
      deviation = std::sqrt(deviation + static_cast<double>(epsilon_));
      for (std::size_t i = 0; i < row.size(); ++i)
        row[i] = (row[i] - middle) / deviation * static_cast<double>(gains[i]) + static_cast<double>(shifts[i]);
    }
    return value;
  }

  Value linear(const std::string& name, const Value& x, std::size_t outputs) {
    const std::size_t inputs = x.rows[0].size();
    const auto& matrix = tensors_[name + ".weight"] = numbers(outputs * inputs);
    std::vector<float> transposed(matrix.size());
    for (std::size_t o = 0; o < outputs; ++o)
      for (std::size_t i = 0; i < inputs; ++i) transposed[i * outputs + o] = matrix[o * inputs + i];
    const std::string constant = "onnx::MatMul_" + std::to_string(1234 + nodes_++);
    file_.add_bytes(constant, {std::int64_t(inputs), std::int64_t(outputs)}, 1, files::floats(transposed));
    const auto& bias = tensor(name + ".bias", {std::int64_t(outputs)});
    enter(name);
    Value value{add_node("Add", {name + ".bias", add_node("MatMul", {x.name, constant})})};
    for (const std::vector<double>& row : x.rows) {
      std::vector<double> y(bias.begin(), bias.end());
      for (std::size_t o = 0; o < outputs; ++o)
        for (std::size_t i = 0; i < inputs; ++i) y[o] += static_cast<double>(matrix[o * inputs + i]) * row[i];
      value.rows.push_back(std::move(y));
    }
    return value;
  }

  Value gelu(Value x) {
    path_ += "intermediate_act_fn/";
    const std::string erf = add_node("Erf", {add_node("Div", {x.name, scalar(std::numbers::sqrt2_v<float>)})});
    const std::string product = add_node("Mul", {x.name, add_node("Add", {erf, scalar(1)})});
    x.name = add_node("Mul", {product, scalar(0.5f)});
    for (std::vector<double>& row : x.rows)
      for (double& number : row) number *= (1 + std::erf(number / std::numbers::sqrt2)) / 2;
    return x;
  }

  std::string heads_of(const Value& x) { return add_node("Transpose", {add_node("Reshape", {x.name, "heads"})}); }
  Value attention(const std::string& name, const Value& x) {
    const Value q = linear(name + ".query", x, sizes_.model), k = linear(name + ".key", x, sizes_.model);
    const Value v = linear(name + ".value", x, sizes_.model);
    const std::size_t tokens = x.rows.size(), width = sizes_.model / sizes_.heads;
    enter(name);
    const std::string scores = add_node("MatMul", {heads_of(q), heads_of(k)});
    const std::string scaled = add_node("Div", {scores, scalar(std::sqrt(static_cast<float>(width)))});
    const std::string weights = add_node("Softmax", {add_node("Add", {scaled, "mask"})});
    const std::string heads = add_node("Transpose", {add_node("MatMul", {weights, heads_of(v)})});
    Value value{add_node("Reshape", {heads, "rows"}), std::vector(tokens, std::vector<double>(sizes_.model))};
    for (std::size_t query = 0; query < tokens; ++query)
      for (std::size_t begin = 0; begin < sizes_.model; begin += width) {
        std::vector<double> p(tokens);
        double total = 0;
        for (std::size_t key = 0; key < tokens; ++key) {
          double score = 0;
          for (std::size_t i = begin; i < begin + width; ++i) score += q.rows[query][i] * k.rows[key][i];
          total += p[key] = std::exp(score / std::sqrt(static_cast<double>(width)));
        }
        for (std::size_t key = 0; key < tokens; ++key)
          for (std::size_t i = begin; i < begin + width; ++i) value.rows[query][i] += p[key] / total * v.rows[key][i];
      }
    return value;
  }

  BertSizes sizes_;
  std::vector<std::size_t> ids_;
  float epsilon_;
  bool has_names_;
  std::string unknown_, last_norm_;
  OnnxWriter file_;
  std::minstd_rand random_{1};
  std::map<std::string, std::vector<float>> tensors_;
  std::vector<std::vector<double>> last_;
  std::size_t nodes_ = 0;
  std::string path_ = "/";
};

}  // namespace ladon::onnx
