// SPDX-License-Identifier: Apache-2.0
// The steps of images, sound and series.
#include <ladon/safetensors/model_text.hpp>
#include <utility>

#include "chain.hpp"
#include "layers.hpp"
#include "safetensors.hpp"
#include "step_tensors.hpp"

namespace ladon::import {

using safetensors::detail::text_of;

void Chain::apply(const families::Patches& step) {
  if (step.patch_frames == 0 || step.patch_rows == 0 || step.patch_columns == 0 || step.frames < step.patch_frames ||
      step.rows < step.patch_rows || step.columns < step.patch_columns)
    throw Unsupported("the patches " + files::in_quotes(step.name) + " do not fit their image");
  scene_.program.headers.insert("model/patches.hpp");
  const std::string& member = scene_.names.name_of(step.name);
  const std::string type = type_name(member);
  const std::size_t stride_rows = step.stride_rows == 0 ? step.patch_rows : step.stride_rows;
  const std::size_t stride_columns = step.stride_columns == 0 ? step.patch_columns : step.stride_columns;
  const std::size_t count = step.frames / step.patch_frames * ((step.rows - step.patch_rows) / stride_rows + 1) *
                            ((step.columns - step.patch_columns) / stride_columns + 1);
  std::string members;
  const auto add = [&](const char* name, const std::string& value) {
    members += (members.empty() ? "." : ", .") + std::string(name) + " = " + value;
  };
  if (step.frames != 1) add("frames", text_of(step.frames));
  add("channels", text_of(step.channels)), add("rows", text_of(step.rows)), add("columns", text_of(step.columns));
  if (step.patch_frames != 1) add("patch_frames", text_of(step.patch_frames));
  add("patch_rows", text_of(step.patch_rows)), add("patch_columns", text_of(step.patch_columns));
  if (stride_rows != step.patch_rows) add("stride_rows", text_of(stride_rows));
  if (stride_columns != step.patch_columns) add("stride_columns", text_of(stride_columns));
  add("model", text_of(step.outputs));
  if (step.bias != Bias::with) add("bias", text_of(step.bias));
  if (step.transposed) add("transposed", "true");
  const std::string precision =
      precision_member(precision_of(step.channels * step.patch_frames * step.patch_rows * step.patch_columns));
  scene_.program.parts += "inline constexpr ladon::PatchModel " + member + "_model{" + members +
                          (precision.empty() ? "" : ", " + precision) + "};\nusing " + type +
                          " = ladon::PatchEmbedding<" + member + "_model>;\n";
  part(step.name, type + "::Weights", step.bias);
  scene_.program.workspace.push_back(type + "::Workspace " + member + ";");
  const std::string to = target(count, step.outputs);
  body.push_back(type + "::run(" + rows.at + ", weights." + member + ", " + to + ", workspace." + member + ");");
  rows = {.at = to, .count = std::to_string(count), .most = count, .width = step.outputs, .fixed = true};
  note("patches " + step.name + ": " + std::to_string(count),
       static_cast<double>(count * step.outputs * step.channels * step.patch_frames * step.patch_rows) *
           static_cast<double>(step.patch_columns));
}

void Chain::apply(const families::Prepend& step) {
  if (step.behind > rows.most) throw Unsupported("tokens are put behind more rows than there are");
  own_rows();
  scene_.program.headers.insert("model/embedding.hpp");
  const std::size_t front = prepended(families::Step(step));
  // `target` left room for the tokens, also for those of a later Prepend.
  const std::size_t plus_sign = rows.at.rfind(" + ");
  const std::size_t room = plus_sign == rows.at.npos ? 0 : std::stoul(rows.at.substr(plus_sign + 3));
  if (room < front * rows.width) throw Unsupported("an input has tokens in front of rows that cannot move");
  rows.at = plus(rows.at.substr(0, plus_sign), room - front * rows.width);
  std::size_t done = step.behind * rows.width;
  if (done != 0)  // the rows in front move
    body.push_back("std::copy_n(" + plus(rows.at, front * rows.width) + ", " + std::to_string(done) + ", " + rows.at +
                   ");");
  for (const auto& [tensor, count] : step.tensors) {
    const std::size_t size = count * rows.width;
    const std::string member = vector(tensor, "ladon::VectorView<const float, " + std::to_string(size) + ">");
    body.push_back("std::copy_n(weights." + member + ".data, " + std::to_string(size) + ", " + plus(rows.at, done) +
                   ");");
    done += size;
    note("put " + tensor + " in front");
  }
  rows.most += front;
  rows.count = rows.fixed ? std::to_string(rows.most) : "(" + rows.count + " + " + std::to_string(front) + ")";
}

void Chain::apply(const families::Frames& step) {
  if (!step.transposed) return;
  scene_.program.headers.insert("model/convolution.hpp");
  const std::string to = target(rows.most, step.channels);
  body.push_back("ladon::transpose(" + std::to_string(step.channels) + ", " + rows.count + ", " + rows.at + ", " + to +
                 ");");
  rows.at = to, rows.read_only = false;
}

// Declares the type of a convolution. Returns its Weights as an expression.
std::string Chain::declare(const families::ConvolveRows& step, const std::string& member, const std::string& type) {
  std::string members = ".length = " + text_of(rows.most) + ", .inputs = " + text_of(rows.width) +
                        ", .outputs = " + text_of(step.outputs) + ", .width = " + text_of(step.width);
  if (step.stride != 1) members += ", .stride = " + text_of(step.stride);
  if (step.before != 0) members += ", .before = " + text_of(step.before);
  if (step.behind != 0) members += ", .behind = " + text_of(step.behind);
  if (step.groups != 1) members += ", .groups = " + text_of(step.groups);
  if (step.bias != Bias::with) members += ", .bias = " + text_of(step.bias);
  const auto precision =
      step.weight_norm ? PrecisionKind::float32 : precision_of(rows.width / step.groups * step.width);
  if (precision != PrecisionKind::float32) members += ", " + precision_member(precision);
  scene_.program.parts += "inline constexpr ladon::ConvolutionModel " + member + "_model{" + members + "};\nusing " +
                          type + " = ladon::Convolution<" + member + "_model>;\n";
  scene_.program.workspace.push_back(type + "::Workspace " + member + ";");
  if (!step.weight_norm) return "weights." + part(step.name, type + "::Weights", step.bias);
  const std::size_t inputs = rows.width / step.groups;
  const std::string shape = text_of(step.outputs) + ", " + text_of(inputs) + ", " + text_of(step.width);
  const std::string length = vector(step.name + (step.older_names ? ".weight_g" : ".parametrizations.weight.original0"),
                                    "ladon::VectorView<const float, " + text_of(step.width) + ">");
  const std::string direction =
      vector(step.name + (step.older_names ? ".weight_v" : ".parametrizations.weight.original1"),
             "ladon::TensorView<const float, " + shape + ">");
  scene_.program.tables.push_back("float " + member + "[" + text_of(step.outputs * inputs * step.width) + "];");
  scene_.program.prepare.push_back("ladon::fold_weight_norm<" + member + "_model>(weights." + direction + ", weights." +
                                   length + ", tables." + member + ");");
  if (step.bias != Bias::with) return "{tables." + member + "}";
  return "{tables." + member + ", weights." +
         vector(step.name + ".bias", "ladon::VectorView<const float, " + text_of(step.outputs) + ">") + "}";
}

void Chain::apply(const families::ConvolveRows& step) {
  scene_.program.headers.insert("model/convolution.hpp");
  if (step.stride == 0 || step.width == 0 || step.groups == 0 || rows.width % step.groups != 0 ||
      step.outputs % step.groups != 0)
    throw Unsupported("the convolution " + files::in_quotes(step.name) +
                      " needs a width and a stride of at least 1, and groups that divide its inputs and outputs");
  if (step.residual && (step.outputs != rows.width || step.stride != 1 || step.before + step.behind + 1 != step.width))
    throw Unsupported("the convolution " + files::in_quotes(step.name) + " is added to rows of another size");
  if (step.residual) own_rows();
  const std::string member = scene_.names.name_of(step.name), type = type_name(member);
  const std::string weights = declare(step, member, type);
  const Rows from = rows;
  const std::size_t padded = from.most + step.before + step.behind;
  if (padded < step.width) throw Unsupported("the convolution " + step.name + " is wider than its input");
  const std::size_t most = (padded - step.width) / step.stride + 1;
  const std::string to = step.residual ? scratch(most * step.outputs) : target(most, step.outputs);
  rows = {.at = to, .count = std::to_string(most), .most = most, .width = step.outputs, .fixed = from.fixed};
  if (!from.fixed) rows.count = from.count;
  if (!from.fixed && (step.stride != 1 || step.before + step.behind + 1 != step.width)) {
    rows.count = "rows_of_" + member;
    body.push_back("const std::size_t " + rows.count + " = " + member + "_model.length_of(" + from.count + ");");
  }
  body.push_back(type + "::run(" + from.at + ", " + from.count + ", " + weights + ", " + to + ", workspace." + member +
                 ");");
  activate(step.after, to);
  if (step.residual) {
    for_each_number(from.at + "[i] += " + to + "[i];");
    rows.at = from.at;
  }
  const std::size_t per_row = step.outputs * (from.width / step.groups) * step.width;
  note("convolution " + step.name + " " + std::to_string(from.width) + " -> " + std::to_string(step.outputs),
       static_cast<double>(most * per_row));
}

void Chain::apply(const families::GroupNormRows& step) {
  own_rows();
  scene_.program.headers.insert("model/group_norm.hpp");
  const std::string member = part(step.name, "ladon::Norm<" + std::to_string(rows.width) + ">", Bias::with,
                                  {".epsilon = " + text_of(step.epsilon) + ";"});
  body.push_back("ladon::group_norm<" + std::to_string(step.groups) + ", " + std::to_string(rows.width) + ">(weights." +
                 member + ".weight, weights." + member + ".bias, " + text_of(step.epsilon) + ", " + rows.count + ", " +
                 rows.at + ", " + rows.at + ");");
  activate(step.after, rows.at);
  note("group norm " + step.name);
}

void Chain::apply(const families::AttentionPool& step) {
  if (step.heads == 0 || rows.width % step.heads != 0 || step.feed_forward == 0)
    throw Unsupported("the attention pool " + files::in_quotes(step.name) + " needs heads that divide its " +
                      std::to_string(rows.width) + " features, and a feed_forward of at least 1");
  if (step.activation == Activation::xielu)
    throw Unsupported("the attention pool " + files::in_quotes(step.name) + " has an activation with learned numbers");
  scene_.program.headers.insert("model/attention_pool.hpp");
  const std::string member = scene_.names.name_of(step.name), type = type_name(member), at = "weights." + member;
  const Model model{.tokens = rows.most,
                    .model = rows.width,
                    .heads = step.heads,
                    .feed_forward = step.feed_forward,
                    .activation = step.activation};
  const std::string name = identifier(type) + "_model";
  // Both widths are inputs of linear maps.
  const PrecisionKind precision = precision_of(rows.width % 8 == 0 ? step.feed_forward : rows.width);
  scene_.program.parts += "inline constexpr ladon::Model " + name + model_text(model, precision) + ";\nusing " + type +
                          " = ladon::AttentionPool<" + name + ">;\n";
  const auto take = [&](const char* part, const char* to) {
    return "ladon::safetensors::take(file, " + literal(step.name + part) + ", " + at + to + ");";
  };
  scene_.program.weights.push_back({type + "::Weights",
                                    member,
                                    step.name + ".*",
                                    {take(".probe", ".query"),
                                     at + ".attention = ladon::safetensors::load<" + type + "::Attention>(file, " +
                                         literal(step.name + ".attention") + ");",
                                     take(".layernorm", ".norm"), at + ".norm.epsilon = " + text_of(step.epsilon) + ";",
                                     take(".mlp.fc1", ".linear1"), take(".mlp.fc2", ".linear2")}});
  for (const families::NamedShape& tensor : families::tensors_of(families::Step(step), rows.width))
    scene_.program.used.insert(tensor.name);
  scene_.program.workspace.push_back(type + "::Workspace " + member + ";");
  const std::string to = target(1, rows.width);
  body.push_back(type + "::run(" + rows.at + ", " + at + ", " + to + ", workspace." + member +
                 (rows.fixed ? "" : ", " + rows.count) + ");");
  note("attention pool " + step.name,
       static_cast<double>(2 * rows.width * ((rows.most + 1) * (rows.width + 1) + step.feed_forward)));
  rows = {.at = to, .count = "1", .most = 1, .width = rows.width, .fixed = true};
}

void Chain::apply(const families::TimeSeriesPatches& step) {
  scene_.program.headers.insert("model/time_series.hpp");
  const std::size_t count = (step.length - step.patch) / step.stride + 1;
  scene_.program.parts += "inline constexpr ladon::TimeSeriesModel series_model{.length = " + text_of(step.length) +
                          ", .patch = " + text_of(step.patch) + ", .stride = " + text_of(step.stride) + "};\n";
  const std::string to = target(count, step.patch);
  if (step.scaled)
    body.push_back("const ladon::TimeSeriesScale scale = ladon::time_series_scale<series_model.length>(" + rows.at +
                   ", " + text_of(step.minimum) + ");");
  body.push_back("ladon::time_series_patches<series_model>(" + rows.at + ", " + to + (step.scaled ? ", scale" : "") +
                 ");");
  rows = {.at = to, .count = std::to_string(count), .most = count, .width = step.patch, .fixed = true};
  note("patches of a series: " + std::to_string(count));
}

void Chain::apply(const families::MaskedPatches& step) {
  if (rows.width != 1 || step.patch == 0)
    throw Unsupported("masked_patches takes rows of one number, and a patch of at least 1");
  scene_.program.headers.insert("model/time_series.hpp");
  const std::string& member = scene_.names.name_of(place_ + ".series");
  const std::string model = member + "_model", numbers = rows.at + ", " + rows.count;
  scene_.program.parts += "inline constexpr ladon::MaskedSeriesModel " + model + "{.length = " + text_of(rows.most) +
                          ", .patch = " + text_of(step.patch) + "};\n";
  const std::size_t count = (rows.most + step.patch - 1) / step.patch;
  const std::string to = target(count, 2 * step.patch);
  body.push_back("ladon::masked_series_patches<" + model + ">(" + numbers + ", " + to +
                 ", ladon::masked_series_scale<" + model + ">(" + numbers + ", " + text_of(step.least) + "));");
  const std::string patches = "rows_of_" + member;
  body.push_back("const std::size_t " + patches + " = " + model + ".patches_of(" + rows.count + ");");
  rows = {.at = to, .count = patches, .most = count, .width = 2 * step.patch};
  note("patches of a series, and their masks: " + std::to_string(count));
}

}  // namespace ladon::import
