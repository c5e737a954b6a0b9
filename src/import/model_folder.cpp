// SPDX-License-Identifier: Apache-2.0
#include "model_folder.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "config.hpp"
#include "layer_members.hpp"
#include "mapped_file.hpp"
#include "other_files.hpp"
#include "replace_file.hpp"
#include "safetensors.hpp"
#include "summary.hpp"
#include "utf8.hpp"

namespace ladon::import {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& file) {
  const files::MappedFile mapped(file, files::Load::copy);
  return {reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()};
}

// Returns the names of weights that the state dict of a model has as (in, out), such as those of GPT-2.
onnx::Checkpoint::Names names_in_out(const fs::path& config) {
  std::vector<std::string> layers;
  for (const families::Stack& stack : families::describe_text(content_of(config), files::utf8_of(config)).stacks)
    if (stack.model.layout == LayoutKind::in_out || stack.model.layout == LayoutKind::in_proj_in_out)
      layers.push_back("." + stack.prefix + ".");
  return [layers = std::move(layers)](std::string_view name) {
    const std::string behind_dot = "." + std::string(name);
    return std::ranges::any_of(layers, [&](const std::string& prefix) {
      const std::size_t place = behind_dot.find(prefix);
      return place != behind_dot.npos && behind_dot.size() > place + prefix.size() &&
             std::isdigit(static_cast<unsigned char>(behind_dot[place + prefix.size()])) != 0;
    });
  };
}

// Returns the epsilon that a norm has in config.json, or nothing if no norm of the stack has this name.
std::optional<float> epsilon_of(const families::Stack& stack, const std::string& norm) {
  for (const auto* steps : {&stack.input.steps, &stack.behind, &stack.pooler, &stack.head})
    for (const families::Step& step : *steps)
      if (const auto* found = std::get_if<families::NormRows>(&step); found != nullptr && found->name == norm)
        return found->epsilon;
  if (norm == stack.final_norm || norm.starts_with(stack.prefix + ".")) return stack.epsilon;
  return std::nullopt;
}

std::string shown(float number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", static_cast<double>(number));
  return text;
}

// Expects that the norms in the graph of an ONNX file have the epsilon that config.json says.
void expect_epsilons(const std::string& file, const onnx::Epsilons& epsilons, const families::Stack& stack) {
  for (const auto& [norm, epsilon] : epsilons) {
    const auto expected = epsilon_of(stack, norm);
    if (!expected || std::abs(epsilon - *expected) <= 1e-3f * *expected) continue;
    const auto key = stack.keys.find("epsilon");
    throw files::Error(file + ": the norm " + files::in_quotes(norm) + " has the epsilon " + shown(epsilon) +
                       ", and config.json says " + shown(*expected) +
                       (key == stack.keys.end() ? "" : " (" + files::in_quotes(key->second) + ")") +
                       ": take the config.json with which the model was exported");
  }
}

constexpr const char* gguf =
    "a GGUF file is not read: fetch the model's folder with config.json and safetensors files, whose weights Ladon "
    "quantises itself (--precision int4)";

// Returns the name of a GGUF file in the folder, or "".
std::string gguf_in(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".gguf") return files::utf8_of(entry.path().filename());
  return "";
}

// Returns whether the folder has a safetensors file, or a checkpoint of torch.save, which has an error of its own.
bool has_checkpoint(const fs::path& folder) {
  const fs::directory_iterator entries(folder);
  return std::any_of(begin(entries), end(entries), [](const auto& entry) {
    return entry.path().extension() == ".safetensors" || entry.path().extension() == ".bin";
  });
}

}  // namespace

void expect_model_folder(const fs::path& folder) {
  const auto refuse = [&](const std::string& text) { throw files::Error(files::utf8_of(folder) + ": " + text); };
  if (!fs::exists(folder))
    refuse("there is no such folder; ladon-import downloads nothing: name the folder of a model that you have fetched");
  if (folder.extension() == ".gguf") refuse(gguf);
  if (!fs::is_directory(folder)) refuse("expected a folder, found a file: name the folder that contains config.json");
  if (fs::exists(folder / "config.json")) return;
  if (const std::string name = gguf_in(folder); !name.empty()) refuse("found " + name + ": " + gguf);
  if (fs::exists(folder / "adapter_config.json"))
    refuse(
        "found an adapter (adapter_config.json): merge it into its base model (merge_and_unload of the Python "
        "library peft), and name the folder of the merged model");
  refuse("expected config.json, as save_pretrained of transformers writes it, in this folder, found none");
}

bool has_tokenizer(const fs::path& folder) {
  const fs::path file = folder / "tokenizer.json";
  if (!fs::exists(file)) return false;
  const files::MappedFile mapped(file);
  const std::string kind = weights::kind_of_content(mapped.bytes());
  if (!kind.empty() && mapped.bytes()[0] != std::byte{'{'})
    throw files::Error(files::utf8_of(file) + ": expected the tokenizer as JSON, found " + kind);
  // `accept` makes no objects, as tokenizers have up to 20 MB. The error says where the text ends to be JSON.
  const auto* const text = reinterpret_cast<const char*>(mapped.bytes().data());
  const std::size_t size = mapped.bytes().size();
  if (!nlohmann::json::accept(text, text + size)) (void)families::parse_json({text, size}, files::utf8_of(file));
  return true;
}

ModelFolder::ModelFolder(fs::path folder, bool reads_weights) : folder_(std::move(folder)) {
  if (!reads_weights) return;
  const onnx::Checkpoint::Names is_in_out = names_in_out(folder_ / "config.json");
  if (const auto file = onnx::file_in(folder_)) {
    tensors_ = onnx_.emplace(*file, is_in_out).tensors();
  } else {
    if (const std::string name = gguf_in(folder_); !name.empty() && !has_checkpoint(folder_))
      throw files::Error(files::utf8_of(folder_) + ": found " + name + ": " + gguf);
    tensors_ = files::Safetensors(folder_).tensors();
    if (const std::string packed = weights::packed_weights_in(tensors_); !packed.empty())
      throw files::Error(files::utf8_of(folder_) + ": " + packed);
  }
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (!fs::exists(entry.path() / "model.safetensors")) continue;
    const files::Safetensors inner(entry.path());
    for (const auto& [name, tensor] : inner.tensors())
      tensors_[files::utf8_of(entry.path().filename()) + "/" + name] = tensor;
  }
}

void ModelFolder::expect_layers(const Program& program) const {
  if (onnx_) {
    for (const families::Stack& stack : program.description.stacks)
      expect_epsilons(onnx_->name(), onnx_->epsilons(), stack);
  } else if (!tensors_.empty()) {
    import::expect_layers(folder_, program, files::utf8_of(folder_));
  }
}

void ModelFolder::write_weights(const fs::path& out, const Program& program) {
  const bool is_new = !fs::exists(out);
  try {
    fs::create_directories(out / "weights");
    write_into(out / "weights", program);
  } catch (...) {
    std::error_code ignored;
    if (is_new) fs::remove_all(out, ignored);
    throw;
  }
}

void ModelFolder::write_into(const fs::path& weights, const Program& program) {
  if (!onnx_) return;
  onnx_->write(weights / "model.safetensors",
               [&](std::string_view name) { return is_used(std::string(name), program); });
  files::replace_file(files::utf8_of(weights / "config.json"), content_of(folder_ / "config.json"));
  for (const auto& [inner, file] : program.files) {
    fs::create_directories(weights / files::path_of(inner));
    files::replace_file(files::utf8_of(weights / files::path_of(inner) / "model.safetensors"),
                        content_of(folder_ / files::path_of(inner) / "model.safetensors"));
  }
  import::expect_layers(weights, program, onnx_->name());
}

}  // namespace ladon::import
