// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <iostream>
#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conversion_plan.hpp"
#include "convert.hpp"
#include "file_error.hpp"
#include "find_tensors.hpp"
#include "flush.hpp"
#include "list.hpp"
#include "pack.hpp"
#include "replace_file.hpp"
#include "safetensors.hpp"
#include "spec.hpp"

namespace weights = ladon::weights;

namespace {

constexpr int failure = 1, wrong_usage = 2;

struct Options {
  std::string file;
  std::string prefix;
  std::string tensors_file;
  std::string data_file;
  std::string offsets_file;
  std::string name_space = "weights";
  std::string output;
  std::string type;
  std::vector<std::string> keep;
  weights::Selection selection;
};

constexpr const char* about_pack = R"(
SPEC has a line for each tensor that the kernel needs, <member> <dim> [<dim>] [bfloat16|int8], such as

  in_proj_weight 384+384+384 384
  out_proj_bias 384

for an attention, attention.in_proj_weight, linear1_weight, norm2_bias and so on for an encoder layer, and
layers.0.attention.in_proj_weight, layers.0.linear1_weight, norm_weight and so on for a stack.

P is what stands before the tensors' names in the file: of an attention, as encoder.layer.0.attention; of a layer, as
encoder.layer.0; of a stack, what stands before the layers' numbers, as encoder.layer. The names may be those of
PyTorch (MultiheadAttention, TransformerEncoderLayer, TransformerEncoder) and of Hugging Face's BERT and Llama. Query,
key and value are joined for in_proj_*, and taken out of it for query_proj_*, key_proj_* and value_proj_*.

OUT.bin gets the tensors as float32, little-endian, each at a multiple of 64 bytes; F16 and BF16 are widened, exactly.
A member that is bfloat16 gets two bytes for each element: F32 and F16 are rounded, and BF16 keeps its bits.
A member X that is int8 becomes three tensors: X (int8), X_scale (float32, one for each row) and X_row_sum (int32, the
sum of each row of X). They are made of a float weight as `quantise` makes them. If the file has int8 weights, as
`quantise` and compressed-tensors write them, all int8 members must be among these.

OUT.h says in C++ where each tensor begins, in elements of the tensor. Where anything is wrong, all that is wrong is
said, and neither is written.)";

constexpr const char* about_quantise = R"(
Makes int8 weights of the matrices of linear layers: symmetric, from -127 to 127, with a scale for each row (output
feature). OUT has the names of compressed-tensors:

  X.weight        I8   [out,in]
  X.weight_scale  F32  [out,1]    weight = scale * int8

A row of zeros stays a row of zeros, with the scale 1. Int8 weights that have a scale are copied. An infinite weight or
a NaN is an error.
)";

constexpr const char* about_convert = R"(
Makes BF16 weights of the matrices of linear layers, under their names. Each weight becomes the nearest bfloat16; of two
equally near, the one whose last bit is 0. Matrices that are BF16 already are copied. An infinite weight, a NaN, or a
weight that would become infinite (a magnitude above 3.396e38) is an error.
)";

// Follows the text about quantise and the text about convert.
constexpr const char* about_matrices = R"(
A matrix is a tensor of two dimensions, of dtype F32, F16 or BF16, whose name is "weight" or ends in .weight or
_proj_weight. All other tensors are copied. These matrices are copied, too:

  - those whose names match REGEX (--keep): ECMAScript, found anywhere in the name;
  - embeddings (a name with embed, wte, wpe or tok_) and heads of language models (a name with lm_head, or the content
    of an embedding), unless --embeddings is given.

Prints for each tensor that is not copied the relative RMS error (root of the sum of squared errors / sum of squared
weights) and the largest error as a fraction of the tensor's largest magnitude. OUT appears when it is complete; after
an error, OUT is as it was.)";

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && !is_digit(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || is_digit(c); });
}

// One name, or several with :: between.
void check_name_space(const std::string& name) {
  std::string_view rest = name;
  for (auto colons = rest.find("::"); is_identifier(rest.substr(0, colons)); colons = rest.find("::")) {
    if (colons == rest.npos) return;
    rest.remove_prefix(colons + 2);
  }
  throw CLI::ValidationError("--namespace", "'" + name + "' is no name in C++");
}

// An output that is another file of the same call would destroy it. The outputs are the files from `first_output` on.
void check_files(std::span<const std::string> files, std::size_t first_output) {
  namespace fs = std::filesystem;
  for (std::size_t output = first_output; output < files.size(); ++output)
    for (std::size_t other = 0; other < output; ++other)
      if (fs::weakly_canonical(files[output]) == fs::weakly_canonical(files[other]))
        throw CLI::ValidationError(files[output], "is named twice");
}

void list(const Options& options) {
  std::cout << weights::list(files::Safetensors(options.file));
  files::flush(std::cout, "the list");
}

// More than the kernel takes may be what it lacks, such as a bias; but it may as well be other layers.
void note_left_out(const weights::Found& found) {
  constexpr std::size_t most = 5;
  if (found.left_out.empty()) return;
  std::cerr << "ladon-weights: note: the checkpoint has more there than the kernel takes:";
  for (std::size_t i = 0; i < std::min(most, found.left_out.size()); ++i)
    std::cerr << (i == 0 ? " " : ", ") << files::in_quotes(found.left_out[i]);
  if (found.left_out.size() > most) std::cerr << " and " << found.left_out.size() - most << " more";
  std::cerr << '\n';
}

void pack(const Options& options) {
  const weights::Spec spec = weights::read_spec(options.tensors_file);
  const files::Safetensors file(options.file);
  const weights::Found found = weights::find_tensors(file, options.file, spec, options.prefix);
  const std::string name = std::filesystem::path(options.file).filename().string();
  const weights::Packed packed = weights::pack(file, spec, found, {name, options.prefix, options.name_space});
  const std::array outputs = {files::Replacement{options.data_file, packed.data},
                              files::Replacement{options.offsets_file, packed.offsets}};
  files::replace_files(outputs);
  note_left_out(found);
}

void describe_pack(CLI::App& command, Options& options) {
  command.add_option("file", options.file, "a checkpoint")->type_name("FILE.safetensors")->required();
  command.add_option("--prefix", options.prefix, "what stands before the tensors' names (default: nothing)")
      ->type_name("P");
  command.add_option("--tensors", options.tensors_file, "what the kernel needs")->type_name("SPEC")->required();
  command.add_option("--data", options.data_file, "is written: the tensors")->type_name("OUT.bin")->required();
  command.add_option("--offsets", options.offsets_file, "is written: where each begins")
      ->type_name("OUT.h")
      ->required();
  command.add_option("--namespace", options.name_space, "what OUT.h declares it in")
      ->type_name("N")
      ->capture_default_str();
  command.footer(about_pack);
  command.callback([&options] {
    check_name_space(options.name_space);
    check_files(std::array{options.file, options.tensors_file, options.data_file, options.offsets_file}, 2);
    if (options.prefix.ends_with('.')) options.prefix.pop_back();
  });
}

std::regex regex(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error& error) {
    throw CLI::ValidationError("--keep", "'" + text + "' is no regular expression: " + error.what());
  }
}

void convert(const Options& options, weights::Target target) {
  const files::Safetensors file(options.file);
  const auto plan = weights::plan_conversion(file, options.file, target, options.selection);
  files::check_replaceable(options.output);
  weights::check_values(file, options.file, plan);
  std::vector<weights::Deviation> deviations;
  files::replace_file(options.output, [&](const files::Sink& sink) {
    deviations = weights::write_converted(file, options.file, plan, sink);
  });
  std::cout << weights::report(plan, deviations);
  files::flush(std::cout, "the report");
}

// Describes what quantise and convert share. `about` says what the command makes of the matrices.
void describe_conversion(CLI::App& command, Options& options, const std::string& about) {
  command.add_option("in", options.file, "a checkpoint")->type_name("IN.safetensors")->required();
  command.add_option("out", options.output, "is written: the converted checkpoint")
      ->type_name("OUT.safetensors")
      ->required();
  command.add_option("--keep", options.keep, "copies the tensors whose names match; may be given several times")
      ->type_name("REGEX")
      ->allow_extra_args(false);
  command.add_flag("--embeddings", options.selection.embeddings,
                   "converts embeddings and heads of language models, too");
  command.footer(about + about_matrices);
  command.callback([&options] {
    check_files(std::array{options.file, options.output}, 1);
    for (const std::string& text : options.keep) options.selection.keep.push_back(regex(text));
  });
}

std::string type_complaint(const std::string& type) {
  if (type == "bfloat16") return "";
  const std::string what = "expected bfloat16, found " + files::in_quotes(type);
  return type == "int8" ? what + "; the command quantise makes int8 weights" : what;
}

void describe_convert(CLI::App& command, Options& options) {
  command.add_option("--type", options.type, "of the matrices: bfloat16")
      ->type_name("TYPE")
      ->required()
      ->check(CLI::Validator(type_complaint, ""));
  describe_conversion(command, options, about_convert);
}

void answer(const CLI::App& app, const Options& options) {
  if (app.got_subcommand("list")) {
    list(options);
  } else if (app.got_subcommand("quantise")) {
    convert(options, weights::Target::int8);
  } else if (app.got_subcommand("convert")) {
    convert(options, weights::Target::bfloat16);
  } else {
    pack(options);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "ladon-weights list FILE.safetensors\n"
      "ladon-weights pack FILE.safetensors --prefix P --tensors SPEC --data OUT.bin --offsets OUT.h\n"
      "ladon-weights quantise IN.safetensors OUT.safetensors [--keep REGEX]... [--embeddings]\n"
      "ladon-weights convert IN.safetensors OUT.safetensors --type bfloat16 [--keep REGEX]... [--embeddings]\n"
      "lists the tensors of a checkpoint, takes out those that a kernel needs, or makes int8 or bfloat16 weights of "
      "the "
      "matrices",
      "ladon-weights"};
  try {
    Options options;
    auto* list_command = app.add_subcommand("list", "prints name, dtype, shape and bytes of each tensor");
    list_command->add_option("file", options.file, "a checkpoint")->type_name("FILE.safetensors")->required();
    describe_pack(*app.add_subcommand("pack", "takes out what a kernel needs"), options);
    describe_conversion(*app.add_subcommand("quantise", "makes int8 weights, with a scale for each row"), options,
                        about_quantise);
    describe_convert(*app.add_subcommand("convert", "makes bfloat16 weights"), options);
    app.require_subcommand(1);
    app.footer("Exit status: 0; 1 where a file is not as it must be or cannot be written; 2 for wrong usage.");
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app.exit(error) == 0 ? 0 : wrong_usage;
    }
    answer(app, options);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "ladon-weights: " << error.what() << '\n';
    return failure;
  }
}
