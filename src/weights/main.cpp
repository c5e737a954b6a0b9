// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <iostream>
#include <ladon/version.hpp>
#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conversion_plan.hpp"
#include "convert.hpp"
#include "description.hpp"
#include "file_error.hpp"
#include "find_tensors.hpp"
#include "flush.hpp"
#include "kernel_agreement.hpp"
#include "list.hpp"
#include "mapped_file.hpp"
#include "pack.hpp"
#include "print.hpp"
#include "replace_file.hpp"
#include "safetensors.hpp"
#include "spec.hpp"
#include "take.hpp"
#include "utf8.hpp"

namespace weights = ladon::weights;

namespace {

constexpr int failure = 1, wrong_usage = 2;

struct Options {
  std::string file;
  std::string prefix;
  std::string tensors_file;
  std::string kernel_file;
  std::string data_file;
  std::string offsets_file;
  std::string name_space = "weights";
  std::string output;
  std::string type;
  std::string list_file;
  std::string header_file;
  std::vector<std::string> keep;
  std::vector<std::string> taken;
  weights::Selection selection;
  std::size_t tokens = 0;
  int bits = 8;
  bool json = false;
};

constexpr const char* about_pack = R"(
SPEC has a line for each tensor that the kernel needs: <member> <outputs> [<inputs>] [<order>] [<type>]. For example,
the SPEC of an attention has the lines

  in_proj_weight 384+384+384 384
  out_proj_bias 384

<type> is bfloat16, int8 or int4, and behind an integer type perhaps rotated. <order> is in_out for a matrix (inputs, outputs), and for in_proj also
blocks <n>, for n blocks with the rows of queries, keys and values, and values_first, for values before keys. A line
kv_heads <n> has the number of key/value heads, which Falcon, GPT-NeoX and BLOOM need.

An encoder layer has the members attention.in_proj_weight, linear1_weight, norm2_bias and so on. A stack has the members
layers.0.attention.in_proj_weight, layers.0.linear1_weight, norm_weight and so on. In place of attention, a decoder
layer has self_attention and cross_attention.

P is the text before the names of the tensors in the file:

  of an attention   such as encoder.layer.0.attention
  of a layer        such as encoder.layer.0
  of a stack        the text before the numbers of the layers, such as encoder.layer

FILE may be a safetensors file, an index of shards (its name ends in .index.json), or a folder. The file may have the
names of PyTorch (MultiheadAttention, TransformerEncoderLayer, TransformerEncoder, TransformerDecoderLayer,
TransformerDecoder) or of the families of Hugging Face that docs/families.md lists. `pack` joins, cuts and transposes
tensors if the kernel has another layout. Names of wrappers such as "model" and "module" may be left out of P.

OUT.bin receives the tensors, little-endian, each at a multiple of 64 bytes:

  float32    F16 and BF16 are widened exactly
  bfloat16   two bytes for each element; F32 and F16 are rounded, BF16 keeps its bits
  int8       a member X becomes three tensors: X (int8), X_scale (float32, one for each row) and X_row_sum (int32, the
             sum of each row of X)
  int4       like int8, with 4-bit weights (ladon/detail/vec/int4.hpp)
  int8 rotated, int4 rotated   with rotated weights and negative scales

A float weight of an int8 or int4 member is quantised as the command `quantise` does. If the file has int8 weights, as
`quantise` and compressed-tensors write them, the file must have int8 weights for all int8 members. If the file has int4
weights, as `quantise --bits 4` writes them, the file must have int4 weights for all int4 members.

OUT.h is a C++ header with the offset of each tensor in OUT.bin, in elements of the tensor. If the input has errors,
`pack` reports all errors, and writes neither file.)";

constexpr const char* about_take = R"(
OUT.bin receives the tensors, little-endian, each at a multiple of 64 bytes. F16 and BF16 are widened to float. Other
types keep their bytes. OUT.inc has a line LADON_TENSOR(name, type, offset, bytes, extents...) for each tensor, and
OUT.h a declaration, such as `extern const float P_classifier_weight[10][32];`. A name in C has _ for each character that
is no letter and no digit. If a name has no tensor, `take` writes no file.)";

constexpr const char* about_quantise = R"(
Converts the matrices of linear layers to int8 weights: symmetric, from -127 to 127, with a scale for each row (output
feature). OUT has the names of compressed-tensors:

  X.weight        I8   [out,in]
  X.weight_scale  F32  [out,1]    weight = scale * int8

--bits 4 writes 4-bit weights, for kernels with PRECISION int4 (layout::Int4 in C++). Only Ladon reads such weights:

  X.weight        U8   [out,bytes]   bytes = 16.5 for each 32 columns, rounded up (ladon/detail/vec/int4.hpp)
  X.weight_scale  F32  [out,1]

Embeddings have 8 bits also with --bits 4.

--rotate rotates each row before it is quantised, in blocks of eight weights, for kernels with rotated weights (the argument
ROTATED of ladon_add_kernel, layout::RotatedInt8 and layout::RotatedInt4 in C++). Kernels without rotation refuse the result, because
the scales are negative. Embeddings are not rotated.

A row of zeros stays a row of zeros, with the scale 1 (rotated: -1/8; 4 bits: 0). Integer weights with a scale are
copied. An infinite weight or a NaN is an error.
)";

constexpr const char* about_convert = R"(
--type bfloat16 converts the matrices of linear layers to BF16 weights with unchanged names. Each weight becomes the
nearest bfloat16. A weight halfway between two bfloat16 numbers becomes the number whose last bit is 0. BF16 matrices are
copied. An infinite weight, a NaN, or a weight that would become infinite (a magnitude above 3.396e38) is an error. F16
and BF16 tensors of one dimension (norms and biases) become F32, so that layers can use them in place.

--type float32 converts all F16 and BF16 tensors to F32, exactly, except those that --keep names.
)";

// The end of the help texts of the commands quantise and convert.
constexpr const char* about_matrices = R"(
A matrix is a tensor of two dimensions, of dtype F32, F16 or BF16, whose name is "weight" or ends in .weight or
_proj_weight. All other tensors are copied. The following matrices are copied, too:

  - matrices in whose names REGEX (--keep, in ECMAScript syntax) has a match anywhere;
  - embeddings (a name with embed, wte, wpe or tok_) and heads of language models (a name with lm_head, or the content
    of an embedding), unless --embeddings is given.

Prints two numbers for each converted tensor: the relative RMS error (root of the sum of squared errors / sum of squared
weights), and the largest error divided by the tensor's largest magnitude. OUT is replaced only by a complete file.
After an error, OUT is unchanged.)";

constexpr const char* about_describe = R"(
FOLDER has a config.json as Hugging Face's save_pretrained writes it, of transformers 5 or an earlier version. The header
has a namespace for each stack of layers (encoder, decoder, text, vision), with:

  model   a ladon::Model: the members that differ from their defaults
  Stack   ladon::Encoder<model> or ladon::Decoder<model>
  load    takes the weights from a ladon::safetensors::Folder
  fill    fills the rotary tables, or the table of T5's relative positions
  growing the model of a text that grows with a cache, if layers have a window: its caches keep only the window

The prefix in `load` is that of the folder's safetensors file. Without such a file, it follows from `architectures` in
config.json.

If Ladon lacks a feature of the model, `describe` prints the key of config.json and its value, and exits with 1.)";

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && !is_digit(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || is_digit(c); });
}

// Checks that `name` is a C++ namespace: one identifier, or several identifiers with :: between them.
void check_name_space(const std::string& name) {
  std::string_view rest = name;
  for (auto colons = rest.find("::"); is_identifier(rest.substr(0, colons)); colons = rest.find("::")) {
    if (colons == rest.npos) return;
    rest.remove_prefix(colons + 2);
  }
  throw CLI::ValidationError("--namespace", "'" + name + "' is not a name of a C++ namespace");
}

// Checks that each output file of the command differs from all other files of the command. Otherwise, writing the
// output would destroy the other file. The outputs are the elements of `files` from `first_output` on.
void check_files(std::span<const std::string> files, std::size_t first_output) {
  namespace fs = std::filesystem;
  for (std::size_t output = first_output; output < files.size(); ++output)
    for (std::size_t other = 0; other < output; ++other)
      if (fs::weakly_canonical(ladon::files::path_of(files[output])) ==
          fs::weakly_canonical(ladon::files::path_of(files[other])))
        throw CLI::ValidationError(files[output], "is named twice");
}

// Returns the text of the config.json beside the tensors, or "" if there is none.
std::string config_of(const std::filesystem::path& checkpoint) {
  const auto folder = std::filesystem::is_directory(checkpoint) ? checkpoint : checkpoint.parent_path();
  const auto file = folder / "config.json";
  if (!std::filesystem::is_regular_file(file)) return "";
  const files::MappedFile config(file);
  return {reinterpret_cast<const char*>(config.bytes().data()), config.bytes().size()};
}

void list(const Options& options) {
  std::cout << weights::list(files::Safetensors(files::path_of(options.file)), config_of(files::path_of(options.file)));
  files::flush(std::cout, "the list");
}

void describe(const Options& options) {
  const auto description = ladon::families::describe(files::path_of(options.file), options.tokens);
  std::cout << (options.json ? ladon::families::as_json(description)
                             : ladon::families::as_cpp(description, options.file + "/config.json"));
  files::flush(std::cout, "the description");
}

void describe_describe(CLI::App& command, Options& options) {
  command.add_option("folder", options.file, "a folder with a config.json")->type_name("FOLDER")->required();
  command.add_option("--tokens", options.tokens, "the largest number of tokens of a call")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20));
  command.add_flag("--json", options.json, "prints JSON in place of C++");
  command.footer(about_describe);
}

// Reports the tensors that the kernel does not use. An unused tensor may show an error in the kernel, such as a missing
// bias, or may belong to layers that the kernel intentionally does not have. The message is therefore only a note.
void note_left_out(const weights::Found& found) {
  constexpr std::size_t most = 5;
  if (found.left_out.empty()) return;
  std::cerr << "ladon-weights: note: the kernel does not use these tensors of the checkpoint:";
  for (std::size_t i = 0; i < std::min(most, found.left_out.size()); ++i)
    std::cerr << (i == 0 ? " " : ", ") << files::in_quotes(found.left_out[i]);
  if (found.left_out.size() > most) std::cerr << " and " << found.left_out.size() - most << " more";
  std::cerr << '\n';
}

// Returns the folder whose config.json describes the checkpoint, or "".
std::filesystem::path folder_of(const std::string& checkpoint) {
  namespace fs = std::filesystem;
  const fs::path path = files::path_of(checkpoint);
  const std::string name = files::utf8_of(path.filename());
  const bool is_whole = name == "model.safetensors" || name == "model.safetensors.index.json";
  const fs::path folder = fs::is_directory(path) ? path : is_whole ? path.parent_path() : fs::path();
  return fs::exists(folder / "config.json") ? folder : fs::path();
}

void check_kernel(const Options& options) {
  const std::filesystem::path folder = folder_of(options.file);
  if (options.kernel_file.empty() || folder.empty()) return;
  const files::MappedFile kernel(files::path_of(options.kernel_file), ladon::safetensors::Access::copy);
  weights::check_agreement(folder, options.prefix,
                           {reinterpret_cast<const char*>(kernel.bytes().data()), kernel.bytes().size()});
}

void pack(const Options& options) {
  check_kernel(options);
  const weights::Spec spec = weights::read_spec(files::path_of(options.tensors_file));
  const files::Safetensors file(files::path_of(options.file));
  const weights::Found found = weights::find_tensors(file, options.file, spec, options.prefix);
  const std::string name = files::utf8_of(files::path_of(options.file).filename());
  const weights::Packed packed = weights::pack(file, spec, found, {name, options.prefix, options.name_space});
  const std::array outputs = {files::Replacement{options.data_file, packed.data},
                              files::Replacement{options.offsets_file, packed.offsets}};
  files::replace_files(outputs);
  note_left_out(found);
}

void describe_pack(CLI::App& command, Options& options) {
  command.add_option("file", options.file, "a checkpoint")->type_name("FILE.safetensors")->required();
  command.add_option("--prefix", options.prefix, "the text before the tensors' names (default: nothing)")
      ->type_name("P");
  command.add_option("--tensors", options.tensors_file, "the list of the tensors that the kernel needs")
      ->type_name("SPEC")
      ->required();
  command
      .add_option(
          "--kernel", options.kernel_file,
          "what ladon_add_kernel says of the kernel; if the checkpoint has a config.json, it must not contradict")
      ->type_name("KERNEL");
  command.add_option("--data", options.data_file, "output: the tensors")->type_name("OUT.bin")->required();
  command.add_option("--offsets", options.offsets_file, "output: the offset of each tensor")
      ->type_name("OUT.h")
      ->required();
  command.add_option("--namespace", options.name_space, "the namespace of the offsets in OUT.h")
      ->type_name("N")
      ->capture_default_str();
  command.footer(about_pack);
  command.callback([&options] {
    check_name_space(options.name_space);
    check_files(std::array{options.file, options.tensors_file, options.data_file, options.offsets_file}, 2);
    if (options.prefix.ends_with('.')) options.prefix.pop_back();
  });
}

void take(const Options& options) {
  const files::Safetensors file(files::path_of(options.file));
  const weights::Taken taken = weights::take(file, options.file, options.taken, options.name_space);
  const std::array outputs = {files::Replacement{options.data_file, taken.data},
                              files::Replacement{options.list_file, taken.list},
                              files::Replacement{options.header_file, taken.header}};
  files::replace_files(outputs);
}

void describe_take(CLI::App& command, Options& options) {
  command.add_option("file", options.file, "a checkpoint")->type_name("FILE.safetensors")->required();
  command.add_option("names", options.taken, "names of tensors; a * stands for any text")
      ->type_name("NAME")
      ->required();
  command.add_option("--symbol", options.name_space, "the beginning of the arrays' names in C")
      ->type_name("P")
      ->required();
  command.add_option("--data", options.data_file, "output: the elements")->type_name("OUT.bin")->required();
  command.add_option("--list", options.list_file, "output: a line for each tensor")->type_name("OUT.inc")->required();
  command.add_option("--header", options.header_file, "output: the declarations in C")->type_name("OUT.h")->required();
  command.footer(about_take);
  command.callback([&options] {
    if (!is_identifier(options.name_space))
      throw CLI::ValidationError("--symbol", "'" + options.name_space + "' is not a name of C");
    check_files(std::array{options.file, options.data_file, options.list_file, options.header_file}, 1);
  });
}

std::regex regex(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error& error) {
    throw CLI::ValidationError("--keep", "'" + text + "' is not a regular expression: " + error.what());
  }
}

void convert(const Options& options, weights::Target target) {
  const files::Safetensors file(files::path_of(options.file));
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

// Adds the options that quantise and convert share. `about` describes how the command converts matrices.
void describe_conversion(CLI::App& command, Options& options, const std::string& about) {
  command.add_option("in", options.file, "a checkpoint")->type_name("IN.safetensors")->required();
  command.add_option("out", options.output, "output: the converted checkpoint")
      ->type_name("OUT.safetensors")
      ->required();
  command.add_option("--keep", options.keep, "copies the tensors whose names match; can be given several times")
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
  if (type == "bfloat16" || type == "float32") return "";
  const std::string what = "expected bfloat16 or float32, found " + files::in_quotes(type);
  return type == "int8" ? what + "; the command quantise makes int8 weights" : what;
}

void describe_convert(CLI::App& command, Options& options) {
  command.add_option("--type", options.type, "the type of the converted tensors: bfloat16 or float32")
      ->type_name("TYPE")
      ->required()
      ->check(CLI::Validator(type_complaint, ""));
  describe_conversion(command, options, about_convert);
}

void answer(const CLI::App& app, const Options& options) {
  if (app.got_subcommand("list")) {
    list(options);
  } else if (app.got_subcommand("describe")) {
    describe(options);
  } else if (app.got_subcommand("quantise")) {
    convert(options, options.bits == 4 ? weights::Target::int4 : weights::Target::int8);
  } else if (app.got_subcommand("convert")) {
    convert(options, options.type == "float32" ? weights::Target::float32 : weights::Target::bfloat16);
  } else if (app.got_subcommand("take")) {
    take(options);
  } else {
    pack(options);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "ladon-weights list FILE.safetensors\n"
      "ladon-weights describe FOLDER [--tokens N] [--json]\n"
      "ladon-weights pack FILE.safetensors --prefix P --tensors SPEC --data OUT.bin --offsets OUT.h\n"
      "ladon-weights take FILE.safetensors NAME... --symbol P --data OUT.bin --list OUT.inc --header OUT.h\n"
      "ladon-weights quantise IN.safetensors OUT.safetensors [--bits 8|4] [--keep REGEX]... [--embeddings] [--rotate]\n"
      "ladon-weights convert IN.safetensors OUT.safetensors --type bfloat16|float32 [--keep REGEX]... [--embeddings]\n"
      "lists the tensors of a checkpoint, describes the layers of a model as C++, packs the tensors of a kernel, takes "
      "other tensors as arrays of C, or converts tensors to int8, int4, bfloat16 or float32",
      "ladon-weights"};
  try {
    Options options;
    auto* list_command = app.add_subcommand("list", "prints name, dtype, shape and bytes of each tensor");
    list_command->add_option("file", options.file, "a checkpoint")->type_name("FILE.safetensors")->required();
    describe_describe(
        *app.add_subcommand("describe", "prints the layers that a config.json describes, as a C++ header"), options);
    describe_pack(*app.add_subcommand("pack", "packs the tensors that a kernel needs"), options);
    describe_take(*app.add_subcommand("take", "takes tensors as arrays of C"), options);
    auto* quantise_command =
        app.add_subcommand("quantise", "converts matrices to int8 or int4 weights, with a scale for each row");
    describe_conversion(*quantise_command, options, about_quantise);
    quantise_command->add_option("--bits", options.bits, "the bits of a weight: 8 or 4")
        ->type_name("N")
        ->check(CLI::IsMember({8, 4}))
        ->capture_default_str();
    quantise_command->add_flag("--rotate", options.selection.rotate, "rotates the weights, for more accurate results");
    describe_convert(*app.add_subcommand("convert", "converts matrices to bfloat16 weights, or all tensors to float32"),
                     options);
    app.require_subcommand(1);
    app.set_version_flag("--version", "ladon-weights " LADON_VERSION_STRING);
    app.footer(
        "Exit status: 0 for success, 1 for a wrong input file or a file that cannot be written, 2 for wrong usage.");
    try {
      std::vector<std::string> arguments = files::arguments_of_main(argc, argv);
      std::ranges::reverse(arguments);  // `parse` takes the last argument first
      app.parse(std::move(arguments));
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
