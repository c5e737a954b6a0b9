// SPDX-License-Identifier: Apache-2.0
#include "other_files.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "utf8.hpp"

namespace ladon::weights {
namespace {

struct Sign {
  std::string_view part;  // of a file's content or of a tensor's name
  std::string_view meaning;
};

constexpr Sign contents[] = {
    {"version https://git-lfs", "a pointer of Git LFS; the command git lfs pull fetches the file"},
    {"PK\3\4", "a zip archive, as torch.save writes; write the tensors with save_file of safetensors.torch"},
    {"\x80\2", "a pickle, as torch.save writes; write the tensors with save_file of safetensors.torch"},
    {"GGUF",
     "a GGUF file; take the model's safetensors file, which Ladon quantises itself (ladon-weights quantise --bits 4, "
     "ladon-import --precision int4)"},
    {"<", "HTML or XML, which a server may send in place of a file"},
    {"{", "JSON; the name of an index of shards ends in .index.json"},
};

// Parts of the names of LoRA adapters: of the library peft, and of kohya's scripts.
constexpr std::string_view lora[] = {".lora_A.", ".lora_B.", ".lora_down.", ".lora_up."};

// Parts of the tensor names of models that Ladon does not read.
constexpr Sign families[] = {
    {".qkv.", "timm's ViT"},
    {".attention.wq.", "Meta's Llama"},
    {".to_q.", "diffusers"},
};

// The ends of the names of tensors that other programs quantised.
constexpr Sign packed_formats[] = {
    {".qweight", "GPTQ or AWQ"},
    {".weight_packed", "compressed-tensors with packed integers"},
    {".weight.absmax", "bitsandbytes"},
};

// Returns a name that contains `part`, or "".
std::string name_with(const files::Safetensors& file, std::string_view part) {
  const auto found = std::ranges::find_if(
      file.tensors(), [&](const auto& tensor) { return tensor.first.find(part) != std::string::npos; });
  return found == file.tensors().end() ? "" : found->first;
}

std::string lora_in(const files::Safetensors& file) {
  for (const std::string_view part : lora) {
    const auto name = name_with(file, part);
    if (name.empty()) continue;
    const std::string layer = name.substr(0, name.find(part));
    const std::string base = layer + ".base_layer.weight";
    const bool has_base = file.tensors().contains(base);
    return "the file is a LoRA adapter, with tensors such as " + files::in_quotes(name) +
           ", which change the base layer " + files::in_quotes(has_base ? base : layer) +
           (has_base ? "" : " of another file") +
           "; merge the adapter into its base model (merge_and_unload of the Python library peft), and take the "
           "merged model";
  }
  return "";
}

std::string family_of(const files::Safetensors& file) {
  for (const Sign& family : families)
    if (const auto name = name_with(file, family.part); !name.empty())
      return "the file has tensor names as of " + std::string(family.meaning) + ", such as " + files::in_quotes(name) +
             ", which Ladon does not read; write a file with the names of PyTorch or Hugging Face, as docs/pytorch.md "
             "shows for ONNX";
  return "";
}

// Recognises names such as model-00001-of-00002.safetensors.
std::string shard_of(const files::Safetensors& file) {
  const std::string name = files::utf8_of(files::path_of(file.name()).filename());
  const std::size_t of = name.rfind("-of-"), digits = 5;
  const auto is_number = [](std::string_view text) {
    return text.size() == digits && text.find_first_not_of("0123456789") == text.npos;
  };
  if (of == name.npos || of < digits || name.find(".safetensors", of) != of + 4 + digits) return "";
  const std::string number = name.substr(of - digits, digits), count = name.substr(of + 4, digits);
  if (!is_number(number) || !is_number(count)) return "";
  return "the file is shard " + number + " of " + count +
         "; open the folder of the shards, or their index (such as model.safetensors.index.json), in place of a shard";
}

}  // namespace

std::string kind_of_content(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto* found = std::ranges::find_if(contents, [&](const Sign& sign) { return text.starts_with(sign.part); });
  return std::string(found == std::end(contents) ? "" : found->meaning);
}

std::string packed_weights_in(const std::map<std::string, files::Tensor, std::less<>>& tensors) {
  for (const Sign& sign : packed_formats)
    for (const auto& [name, tensor] : tensors)
      if (name.ends_with(sign.part))
        return "the checkpoint has weights of " + std::string(sign.meaning) + ", such as " + files::in_quotes(name) +
               ", which Ladon does not read; take the checkpoint before its quantisation, which Ladon quantises itself "
               "(ladon-weights quantise --bits 4, ladon-import --precision int4)";
  return "";
}

std::string kind_of_file(const files::Safetensors& file) {
  std::string kind = packed_weights_in(file.tensors());
  if (kind.empty()) kind = lora_in(file);
  if (kind.empty()) kind = family_of(file);
  const std::string shard = shard_of(file);
  return kind.empty() || shard.empty() ? kind + shard : kind + "; " + shard;
}

}  // namespace ladon::weights
