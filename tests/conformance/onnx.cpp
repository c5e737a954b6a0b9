// Runs a case of ONNX's operator Attention, opset 23 to 25: https://onnx.ai/onnx/operators/onnx__Attention.html
#include <algorithm>
#include <cmath>
#include <vector>

#include "attention_instance.hpp"
#include "onnx_case.hpp"
#include "runners.hpp"

namespace conformance {

using nlohmann::json;

namespace {

std::vector<Instance>& instances() {
  static std::vector<Instance> all;
  return all;
}

struct Outputs {
  std::vector<float> y;         // [batch][heads][queries][value_width]
  std::vector<float> captured;  // [batch][heads][queries][keys]
};

const Instance& instance_of(const OnnxCase& test) {
  for (const Instance& instance : instances()) {
    if (instance.form == test.form && instance.scale == test.attributes.scale &&
        instance.softcap == test.attributes.softcap) {
      return instance;
    }
  }
  throw Failure("nothing is instantiated for this case: was CMake run with this folder?");
}

// Returns the numbers of `mask` for batch entry b, as [heads][queries][columns], or as [queries][columns] if all heads
// have the same mask. A dimension of `mask` that is 1 is repeated (broadcast).
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

// Returns the number of columns of the mask. Since opset 24, a key without a column is hidden. Before opset 24, a mask
// with a single column applies this column to all keys, so the function returns the number of keys.
std::size_t columns_of(const OnnxCase& test) {
  const std::size_t columns = test.inputs.mask->from_last(0), keys = test.inputs.k.dims[2];
  if (columns > keys) throw Failure("attn_mask has more columns than there are keys");
  return columns == 1 && test.attributes.opset < 24 ? keys : columns;
}

// The arrays for one call of attention. Each array has exactly the size that the call may use. `out` and `captured`
// start as NaN, so the comparison fails if the call leaves an element unwritten.
struct Buffers {
  std::vector<float> q, k, v, out, captured, values;
  std::vector<std::uint8_t> may_see, padding;

  Entry entry() {
    Entry entry{};
    entry.q = q.data();
    entry.k = k.data();
    entry.v = v.data();
    entry.out = out.data();
    entry.captured = captured.data();
    entry.may_see = may_see.data();
    entry.values = values.data();
    entry.padding = padding.data();
    return entry;
  }
};

Buffers buffers_of(const OnnxCase& test, std::size_t b) {
  const auto slice = [b](const Tensor& of) {
    const auto size = static_cast<std::ptrdiff_t>(of.dims[1] * of.dims[2] * of.dims[3]);
    const auto begin = of.data.begin() + static_cast<std::ptrdiff_t>(b) * size;
    return std::vector<float>(begin, begin + size);
  };
  const Form& form = test.form;
  Buffers buffers;
  buffers.q = slice(test.inputs.q);
  buffers.k = slice(test.inputs.k);
  buffers.v = slice(test.inputs.v);
  buffers.out.assign(form.heads * form.queries * form.value_width, NAN);
  if (test.captures) buffers.captured.assign(form.heads * form.queries * form.keys, NAN);
  if (test.inputs.mask) {
    const Tensor& mask = *test.inputs.mask;
    buffers.values = mask_of(mask, b, mask.from_last(2) != 1 ? form.heads : 1, form.queries, columns_of(test));
    if (mask.dtype == "bool") buffers.may_see.assign(buffers.values.begin(), buffers.values.end());
  }
  return buffers;
}

// Sets the members of `entry` that say which keys of batch entry `b` are active, and which position the first query
// has.
void place(const OnnxCase& test, std::size_t b, Buffers& buffers, Entry& entry) {
  entry.active_keys = test.inputs.k.dims[2];
  entry.offset = static_cast<std::ptrdiff_t>(test.inputs.past);
  if (test.inputs.mask) entry.mask_columns = columns_of(test);
  if (!test.inputs.valid_keys) return;
  const auto valid = static_cast<std::ptrdiff_t>(test.inputs.valid_keys->data.at(b));
  const std::size_t active = std::min(entry.active_keys, static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, valid)));
  if (test.inputs.past == 0) entry.offset = valid - static_cast<std::ptrdiff_t>(test.form.queries);
  if (test.form.padding) {
    buffers.padding.assign(test.form.keys, 0);
    std::fill_n(buffers.padding.begin(), active, std::uint8_t{1});
    entry.padding = buffers.padding.data();
  } else {
    entry.active_keys = active;
  }
}

Outputs compute(const OnnxCase& test) {
  Outputs all;
  const std::size_t batch = test.inputs.q.dims[0];
  if (batch == 0 || test.form.queries == 0 || test.form.heads == 0) return all;
  const Instance& instance = instance_of(test);
  for (std::size_t b = 0; b < batch; ++b) {
    Buffers buffers = buffers_of(test, b);
    Entry entry = buffers.entry();
    place(test, b, buffers, entry);
    instance.run(entry);
    all.y.insert(all.y.end(), buffers.out.begin(), buffers.out.end());
    if (test.inputs.k.dims[2] > 0) {
      all.captured.insert(all.captured.end(), buffers.captured.begin(), buffers.captured.end());
    }
  }
  return all;
}

// Returns the allowed error of a case: 1e-2 if the softmax precision or the type of any input or output is bfloat16.
// Otherwise, 1e-3 if one of them is float16, and 1e-5 if none is.
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
  const OnnxCase test = onnx_case(document);
  const Inputs& inputs = test.inputs;
  const float tolerance = tolerance_of(document, test.attributes.precision);
  Outputs computed = compute(test);
  const std::vector<std::size_t>&q = inputs.q.dims, &k = inputs.k.dims;
  if (inputs.three_dimensions) computed.y = transposed(computed.y, q[0], q[1], q[2], inputs.v.dims[3]);

  Outcome outcome;
  for (const auto& output : document.at("outputs").items()) {
    if (output.value().is_null()) continue;
    const std::string& name = output.key();
    const Tensor expected = tensor(output.value());
    const auto expect = [&](const std::vector<std::size_t>& dims, const std::vector<float>& got) {
      if (dims != expected.dims) throw Failure(name + " has other dims than the computed output");
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
