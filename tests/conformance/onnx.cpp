// A case of ONNX's operator Attention, opset 23 to 25: https://onnx.ai/onnx/operators/onnx__Attention.html
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "attention_instance.hpp"
#include "runners.hpp"

namespace conformance {

using nlohmann::json;

namespace {

std::vector<Instance>& instances() {
  static std::vector<Instance> all;
  return all;
}

struct Attributes {
  int opset = 23;
  bool causal = false;
  int heads = 0, kv_heads = 0;  // of inputs with three dimensions
  int left = -1, right = -1;
  int mode = 0;
  int precision = 1;
  std::optional<float> scale;
  float softcap = 0;
};

struct Inputs {
  Tensor q, k, v;  // [batch][heads][tokens][width], past keys and values included
  std::optional<Tensor> mask;
  std::optional<Tensor> valid_keys;
  std::size_t past = 0;
  bool three_dimensions = false;
};

struct Outputs {
  std::vector<float> y;         // [batch][heads][queries][value_width]
  std::vector<float> captured;  // [batch][heads][queries][keys]
};

void know_all_of(const json& object, const std::set<std::string>& known, const std::string& what) {
  for (const auto& [name, value] : object.items()) {
    if (known.count(name) == 0) throw Failure("the " + what + " '" + name + "' is not known");
  }
}

Attributes attributes_of(const json& document) {
  const json stored = document.value("attributes", json::object());
  know_all_of(stored,
              {"is_causal", "kv_num_heads", "left_window_size", "q_num_heads", "qk_matmul_output_mode",
               "right_window_size", "scale", "softcap", "softmax_precision"},
              "attribute");
  Attributes result;
  result.opset = document.at("opset");
  result.causal = stored.value("is_causal", 0) != 0;
  result.heads = stored.value("q_num_heads", 0);
  result.kv_heads = stored.value("kv_num_heads", 0);
  result.left = stored.value("left_window_size", -1);
  result.right = stored.value("right_window_size", -1);
  result.mode = stored.value("qk_matmul_output_mode", 0);
  result.precision = stored.value("softmax_precision", 1);
  if (stored.contains("scale")) result.scale = static_cast<float>(stored.at("scale").get<double>());
  result.softcap = std::max(0.0f, static_cast<float>(stored.value("softcap", 0.0)));
  return result;
}

// [batch, tokens, heads * width] -> [batch, heads, tokens, width], or back
std::vector<float> transposed(const std::vector<float>& in, std::size_t batch, std::size_t outer, std::size_t inner,
                              std::size_t width) {
  std::vector<float> out(in.size());
  for (std::size_t b = 0; b < batch; ++b) {
    for (std::size_t i = 0; i < outer; ++i) {
      for (std::size_t j = 0; j < inner; ++j) {
        const auto from = in.begin() + static_cast<std::ptrdiff_t>(((b * outer + i) * inner + j) * width);
        std::copy_n(from, width, out.begin() + static_cast<std::ptrdiff_t>(((b * inner + j) * outer + i) * width));
      }
    }
  }
  return out;
}

Tensor by_head(Tensor in, int heads_given) {
  if (in.dims.size() == 4) return in;
  if (in.dims.size() != 3 || heads_given <= 0) throw Failure("Q, K and V have three dimensions and heads, or four");
  const auto heads = static_cast<std::size_t>(heads_given);
  const std::size_t batch = in.dims[0], tokens = in.dims[1], width = in.dims[2] / heads;
  return {{batch, heads, tokens, width}, in.dtype, transposed(in.data, batch, tokens, heads, width)};
}

// past and then new, along the tokens
Tensor appended(const std::optional<Tensor>& past, Tensor new_tokens) {
  if (!past) return new_tokens;
  Tensor all{new_tokens.dims, new_tokens.dtype, {}};
  all.dims[2] += past->dims.at(2);
  const std::size_t width = all.dims[3], before = past->dims[2] * width, after = new_tokens.dims[2] * width;
  for (std::size_t row = 0; row < all.dims[0] * all.dims[1]; ++row) {
    const float* const old = past->data.data() + row * before;
    const float* const added = new_tokens.data.data() + row * after;
    all.data.insert(all.data.end(), old, old + before);
    all.data.insert(all.data.end(), added, added + after);
  }
  return all;
}

Inputs inputs_of(const json& document, const Attributes& attributes) {
  const json& stored = document.at("inputs");
  know_all_of(stored, {"K", "Q", "V", "attn_mask", "nonpad_kv_seqlen", "past_key", "past_value"}, "input");
  const auto past_key = optional_tensor(stored, "past_key"), past_value = optional_tensor(stored, "past_value");
  Tensor q = tensor(stored.at("Q"));
  const bool three_dimensions = q.dims.size() == 3;
  return {.q = by_head(std::move(q), attributes.heads),
          .k = appended(past_key, by_head(tensor(stored.at("K")), attributes.kv_heads)),
          .v = appended(past_value, by_head(tensor(stored.at("V")), attributes.kv_heads)),
          .mask = optional_tensor(stored, "attn_mask"),
          .valid_keys = optional_tensor(stored, "nonpad_kv_seqlen"),
          .past = past_key ? past_key->dims.at(2) : 0,
          .three_dimensions = three_dimensions};
}

bool captures(const json& document) {
  const json& outputs = document.at("outputs");
  return outputs.contains("qk_matmul_output") && !outputs.at("qk_matmul_output").is_null();
}

Form form_of(const Attributes& attributes, const Inputs& inputs, bool capture) {
  Form form{.queries = inputs.q.dims[2],
            .keys = std::max<std::size_t>(1, inputs.k.dims[2]),
            .heads = inputs.q.dims[1],
            .kv_heads = inputs.k.dims[1],
            .head_width = inputs.q.dims[3],
            .value_width = inputs.v.dims[3]};
  form.causal = attributes.causal;
  form.left = attributes.left;
  form.right = attributes.right;
  form.stage = capture ? attributes.mode : -1;
  if (inputs.mask) {
    const bool boolean = inputs.mask->dtype == "bool", per_head = inputs.mask->from_last(2) != 1;
    form.given = boolean ? (per_head ? Given::boolean_per_head : Given::boolean)
                         : (per_head ? Given::additive_per_head : Given::additive);
  }
  // Scores before the mask are asked of hidden keys too, so there the padding is a mask and not a length.
  form.padding = inputs.valid_keys && (form.stage == 0 || form.stage == 1);
  return form;
}

const Instance& instance_of(const Form& form, const Attributes& attributes) {
  for (const Instance& instance : instances()) {
    if (instance.form == form && instance.scale == attributes.scale && instance.softcap == attributes.softcap) {
      return instance;
    }
  }
  throw Failure("nothing is instantiated for this case: was CMake run with this folder?");
}

// What the mask says of one batch entry, its dimensions of 1 repeated: [heads][queries][columns], or without heads.
std::vector<float> mask_of(const Tensor& mask, std::size_t b, std::size_t heads, std::size_t queries,
                           std::size_t columns) {
  std::vector<float> all;
  all.reserve(heads * queries * columns);
  const auto within = [](std::size_t i, std::size_t size) { return size == 1 ? 0 : i; };
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t i = 0; i < queries; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        std::size_t index = within(b, mask.from_last(3));
        index = index * mask.from_last(2) + within(h, mask.from_last(2));
        index = index * mask.from_last(1) + within(i, mask.from_last(1));
        index = index * mask.from_last(0) + within(j, mask.from_last(0));
        all.push_back(mask.data.at(index));
      }
    }
  }
  return all;
}

// How many columns the mask has. Since opset 24 the columns that are missing hide their keys; before, one column is for
// every key.
std::size_t columns_of(const Tensor& mask, std::size_t keys, int opset) {
  const std::size_t columns = mask.from_last(0);
  if (columns > keys) throw Failure("attn_mask has more columns than there are keys");
  return columns == 1 && opset < 24 ? keys : columns;
}

Outputs compute(const Attributes& attributes, const Inputs& inputs, bool capture) {
  const Form form = form_of(attributes, inputs, capture);
  const std::size_t batch = inputs.q.dims[0], keys = inputs.k.dims[2];
  Outputs all;
  if (batch == 0 || form.queries == 0 || form.heads == 0) return all;
  const Instance& instance = instance_of(form, attributes);
  const std::size_t query_size = form.heads * form.queries * form.head_width;
  const std::size_t key_size = form.kv_heads * keys * form.head_width;
  const std::size_t value_size = form.kv_heads * keys * form.value_width;
  // Every buffer is of just the size the call may touch, and outputs start as NaN.
  const auto slice = [](const Tensor& of, std::size_t b, std::size_t size) {
    return std::vector<float>(of.data.begin() + static_cast<std::ptrdiff_t>(b * size),
                              of.data.begin() + static_cast<std::ptrdiff_t>((b + 1) * size));
  };
  for (std::size_t b = 0; b < batch; ++b) {
    const std::vector<float> q = slice(inputs.q, b, query_size), k = slice(inputs.k, b, key_size),
                             v = slice(inputs.v, b, value_size);
    std::vector<float> out(form.heads * form.queries * form.value_width, NAN);
    std::vector<float> captured(capture ? form.heads * form.queries * form.keys : 0, NAN);
    std::vector<float> values;
    std::vector<std::uint8_t> may_see, padding;
    Entry entry{};
    entry.q = q.data();
    entry.k = k.data();
    entry.v = v.data();
    entry.out = out.data();
    entry.captured = captured.data();
    entry.active_keys = keys;
    entry.offset = static_cast<std::ptrdiff_t>(inputs.past);
    if (inputs.valid_keys) {
      const auto valid = static_cast<std::ptrdiff_t>(inputs.valid_keys->data.at(b));
      const std::size_t active = std::min(keys, static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, valid)));
      if (inputs.past == 0) entry.offset = valid - static_cast<std::ptrdiff_t>(form.queries);
      if (form.padding) {
        padding.assign(form.keys, 0);
        std::fill_n(padding.begin(), active, std::uint8_t{1});
      } else {
        entry.active_keys = active;
      }
    }
    if (inputs.mask) {
      const bool per_head = inputs.mask->from_last(2) != 1;
      entry.mask_columns = columns_of(*inputs.mask, keys, attributes.opset);
      values = mask_of(*inputs.mask, b, per_head ? form.heads : 1, form.queries, entry.mask_columns);
      if (inputs.mask->dtype == "bool") may_see.assign(values.begin(), values.end());
    }
    entry.values = values.data();
    entry.may_see = may_see.data();
    entry.padding = padding.data();
    instance.run(entry);
    all.y.insert(all.y.end(), out.begin(), out.end());
    if (keys > 0) all.captured.insert(all.captured.end(), captured.begin(), captured.end());
  }
  return all;
}

// 1e-5, and no better than the coarsest of the case's types: its results are rounded to them.
float tolerance_of(const json& document, int precision) {
  float tolerance = precision == 10 ? 1e-3f : precision == 16 ? 1e-2f : 1e-5f;
  for (const char* group : {"inputs", "outputs"}) {
    for (const auto& [name, stored] : document.at(group).items()) {
      if (stored.is_null()) continue;
      const std::string dtype = stored.at("dtype");
      tolerance = std::max(tolerance, dtype == "float16" ? 1e-3f : dtype == "bfloat16" ? 1e-2f : 0.0f);
    }
  }
  return tolerance;
}

std::vector<std::size_t> y_dims(const Inputs& inputs) {
  const std::size_t batch = inputs.q.dims[0], heads = inputs.q.dims[1], queries = inputs.q.dims[2],
                    width = inputs.v.dims[3];
  if (inputs.three_dimensions) return {batch, queries, heads * width};
  return {batch, heads, queries, width};
}

}  // namespace

AttentionInstances::AttentionInstances(std::initializer_list<Instance> added) {
  instances().insert(instances().end(), added.begin(), added.end());
}

bool is_onnx(const json& document) {
  if (!document.is_object() || !document.contains("opset") || !document.contains("inputs")) return false;
  const json& inputs = document.at("inputs");
  return inputs.is_object() && inputs.contains("Q") && inputs.contains("K") && inputs.contains("V");
}

Outcome run_onnx(const json& document) {
  const Attributes attributes = attributes_of(document);
  const Inputs inputs = inputs_of(document, attributes);
  const float tolerance = tolerance_of(document, attributes.precision);
  Outputs computed = compute(attributes, inputs, captures(document));
  const std::vector<std::size_t>&q = inputs.q.dims, &k = inputs.k.dims;
  if (inputs.three_dimensions) computed.y = transposed(computed.y, q[0], q[1], q[2], inputs.v.dims[3]);

  Outcome outcome;
  for (const auto& [name, stored] : document.at("outputs").items()) {
    if (stored.is_null()) continue;
    const Tensor expected = tensor(stored);
    const auto expect = [&, name = name](const std::vector<std::size_t>& dims, const std::vector<float>& got) {
      if (dims != expected.dims) throw Failure(name + " has other dims than computed");
      compare(name, got, expected.data, tolerance, outcome);
    };
    if (name == "Y") {
      expect(y_dims(inputs), computed.y);
    } else if (name == "present_key") {
      expect(k, inputs.k.data);
    } else if (name == "present_value") {
      expect(inputs.v.dims, inputs.v.data);
    } else if (name == "qk_matmul_output") {
      expect({q[0], q[1], q[2], k[2]}, computed.captured);
    } else {
      throw Failure("the output '" + name + "' is not known");
    }
  }
  return outcome;
}

}  // namespace conformance
