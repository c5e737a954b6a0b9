#include "onnx_case.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace conformance {

using nlohmann::json;

namespace {

void know_all_of(const json& object, const std::set<std::string>& known, const std::string& what) {
  for (const auto& [name, value] : object.items()) {
    if (known.count(name) == 0) throw Failure("the " + what + " '" + name + "' is not known");
  }
}

Attributes attributes_of(const json& document) {
  const json given = document.value("attributes", json::object());
  json stored = json::object();
  for (const auto& [name, value] : given.items()) {
    if (!value.is_null()) stored[name] = value;
  }
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

Tensor by_head(Tensor in, int heads_given) {
  if (in.dims.size() == 4) return in;
  if (in.dims.size() != 3 || heads_given <= 0) throw Failure("Q, K and V need four dimensions, or three and heads");
  const auto heads = static_cast<std::size_t>(heads_given);
  const std::size_t batch = in.dims[0], tokens = in.dims[1], width = in.dims[2] / heads;
  return {{batch, heads, tokens, width}, in.dtype, transposed(in.data, batch, tokens, heads, width)};
}

// Appends `new_tokens` to `past`, along the dimension that counts tokens.
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
  // A case that captures the scores of stage 0 or 1 (qk_matmul_output_mode) also expects the scores of padding keys.
  // Ladon computes scores only for active keys. So in such a case, padding keys are active, and a padding mask hides
  // them.
  form.padding = inputs.valid_keys && (form.stage == 0 || form.stage == 1);
  return form;
}

}  // namespace

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

OnnxCase onnx_case(const json& document) {
  const Attributes attributes = attributes_of(document);
  Inputs inputs = inputs_of(document, attributes);
  const bool capture = captures(document);
  const Form form = form_of(attributes, inputs, capture);
  return {attributes, std::move(inputs), capture, form};
}

}  // namespace conformance
