// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <ladon/version.hpp>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "../c_kernel/difference.hpp"
#include "c_library.hpp"
#include "c_project.hpp"
#include "chain.hpp"
#include "compare.hpp"
#include "cpp_project.hpp"
#include "edit_distance.hpp"
#include "families.hpp"
#include "file_error.hpp"
#include "flush.hpp"
#include "member_names.hpp"
#include "memory_project.hpp"
#include "model_folder.hpp"
#include "output_folder.hpp"
#include "program.hpp"
#include "safetensors.hpp"
#include "summary.hpp"
#include "text_tokens.hpp"
#include "utf8.hpp"

namespace import = ladon::import;

namespace {

constexpr int failure = 1, wrong_usage = 2;

struct Options {
  std::string folder, cpp, c, c_sources, memory, name, weights = "inside", precision = "float32",
                                                       cache_precision = "float32";
  std::vector<std::string> compared, keep;
  double budget = 0;
  int activation_bits = 8;
  std::size_t tokens = 0;
  bool dry_run = false, dispatch = false, without_weights = false;
};

constexpr const char* about = R"(
FOLDER has a config.json and safetensors files, as Hugging Face's save_pretrained writes them. Without model.safetensors,
ladon-import reads model.onnx or onnx/model.onnx, as PyTorch exports it, and writes the weights into DIR/weights, which
takes the place of FOLDER below. --cpp writes a CMake project into DIR:

  NAME.hpp           the model: a constexpr description, the struct Weights, the struct Workspace with all memory of a
                     call, and functions: run computes the last hidden state, pool and head what comes behind it. Only
                     headers of Ladon are included, so the file also compiles for a microcontroller
  NAME_weights.hpp   load, which takes the weights from a folder
  NAME_weights.cpp
  main.cpp           a program: NAME FOLDER --inputs IN.safetensors --outputs OUT.safetensors, or NAME FOLDER ID...;
                     with a tokenizer.json, NAME FOLDER --text TEXT; a language model also has --generate N
  CMakeLists.txt     cmake -S DIR -B DIR/build -DLADON_SOURCE_DIR=... && cmake --build DIR/build

--c writes a CMake project of a C library into DIR, with the files NAME.hpp and NAME_weights.* above and

  NAME.h             the C functions: NAME_start, NAME_run, ...
  main.c             a small program
  CMakeLists.txt     cmake -S DIR -B DIR/build -DLADON_SOURCE_DIR=... -DCHECKPOINT=FOLDER && cmake --build DIR/build

--memory writes a CMake project into DIR. Its program `memory` prints the bytes of the structs of NAME.hpp at each
precision: the memory of a call, tables, and the caches of a text. They depend on the instruction set (LADON_ARCH).

If Ladon lacks a part of the model, ladon-import names its key in config.json, exits with 1, and writes nothing.

DIR may have files that ladon-import wrote. They are replaced.)";

ladon::PrecisionKind precision_of(const std::string& name) {
  using enum ladon::PrecisionKind;
  for (const ladon::PrecisionKind kind : {bfloat16, int8, rotated_int8, int4, rotated_int4})
    if (name == ladon::import::precision_name(kind)) return kind;
  return float32;
}

void expect_other_folders(const Options& options) {
  std::vector<std::filesystem::path> folders;
  for (const std::string* text : {&options.cpp, &options.c, &options.c_sources, &options.memory})
    if (!text->empty())
      folders.push_back((files::path_of(*text) / "").lexically_normal());  // "a", "./a" and "a/" are equal
  std::ranges::sort(folders);
  if (std::ranges::adjacent_find(folders) != folders.end())
    throw CLI::ValidationError("--cpp, --c, --c-sources and --memory", "each needs a folder of its own");
}

// Returns the option that resembles `argument` most, or "" if none does.
std::string similar_option(const CLI::App& app, const std::string& argument) {
  std::string nearest;
  std::size_t least = 2 + argument.size() / 4;  // more edits than these make another word
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const std::size_t distance = files::edit_distance(argument, name);
    if (distance < least) nearest = name, least = distance;
  }
  return nearest;
}

// Returns the message for arguments that ladon-import does not know. The message is about the first option of them.
std::string unknown_complaint(const CLI::App& app) {
  const std::vector<std::string> unknown = app.remaining();
  const auto option = std::ranges::find_if(unknown, [](const std::string& text) { return text.starts_with('-'); });
  if (option == unknown.end())
    return unknown.front() + ": only one FOLDER is allowed, and " + app.get_option("folder")->as<std::string>() +
           " is given";
  const std::string name = option->substr(0, option->find('='));
  if (name == "--wasm" || name == "--firmware" || name == "--cpu" || name == "--check" || name == "--check-all")
    return name + " is an option of ./dev import, which calls ladon-import";
  const std::string similar = similar_option(app, name);
  return name + " is unknown" + (similar.empty() ? "" : "; perhaps " + similar);
}

// Returns the message for wrong usage.
std::string usage_complaint(const CLI::App* app, const CLI::Error& error) {
  const auto is = [&](CLI::ExitCodes code) { return error.get_exit_code() == static_cast<int>(code); };
  std::string text = error.what();
  if (is(CLI::ExitCodes::ExtrasError) && !app->remaining().empty()) text = unknown_complaint(*app);
  for (const CLI::Option* option : app->get_options())
    if (is(CLI::ExitCodes::ArgumentMismatch) && option->get_items_expected_max() == 1 && option->count() > 1)
      text = option->get_name() + " is given " + std::to_string(option->count()) + " times; allowed: once";
  return "ladon-import: " + text + "\nRun with --help for more information.\n";
}

std::string regex_complaint(const std::string& text) {
  try {
    static_cast<void>(std::regex(text));
    return "";
  } catch (const std::regex_error& error) {
    return "'" + text + "' is not a regular expression: " + error.what();
  }
}

int compare(const Options& options) {
  const double error = import::largest_error(options.compared[0], options.compared[1]);
  const double most = c_kernel::tolerance_of(options.precision);
  std::printf("largest error: %.1e of the largest value\n", error);
  if (error <= most) return 0;
  std::fprintf(stderr, "ladon-import: expected at most %.1e\n", most);
  return failure;
}

// Writes the files of the program into `out`, and the weights of an ONNX file into `out`/weights.
void write_project(const std::filesystem::path& out, const std::vector<import::SourceFile>& sources,
                   import::ModelFolder& model, const import::Program& program) {
  import::expect_own_files(out);
  if (model.is_onnx()) model.write_weights(out, program);
  import::write_folder(out, sources);
}

// Returns the programs of a model with each precision that the checkpoint allows. Int8 tensors allow only int8.
std::vector<import::Program> programs_of_precisions(const import::Program& program,
                                                    const ladon::families::Description& description,
                                                    const ladon::families::Tensors& tensors) {
  using enum ladon::PrecisionKind;
  const bool is_int8 = std::ranges::any_of(tensors, [](const auto& named) { return named.second.dtype == "I8"; });
  std::vector<import::Program> programs;
  for (const ladon::PrecisionKind precision : {float32, bfloat16, int8, int4}) {
    if (is_int8 && precision != int8) continue;
    import::Choices choices = program.choices;
    choices.precision = precision;
    choices.name += std::string("_") + import::precision_name(precision);
    choices.keep.clear(), choices.budget = 0;  // the bits of linear maps do not change the memory of a call
    programs.push_back(import::program_of(description, tensors, choices));
  }
  return programs;
}

void write(const Options& options) {
  namespace fs = std::filesystem;
  const fs::path folder = files::path_of(options.folder), source = folder / "config.json";
  import::expect_model_folder(folder);
  const fs::path last = folder.has_filename() ? folder.filename() : folder.parent_path().filename();
  import::ModelFolder model(folder, !options.without_weights);
  const import::Choices choices{.name = import::identifier(options.name.empty() ? files::utf8_of(last) : options.name),
                                .tokens = options.tokens,
                                .precision = precision_of(options.precision),
                                .activation_bits = options.activation_bits,
                                .cache_precision = options.cache_precision,
                                .keep = options.keep,
                                .budget = options.budget / 100,
                                .source = files::utf8_of(source),
                                .text_tokens = import::text_tokens_of(folder),
                                .has_tokenizer = import::has_tokenizer(folder),
                                .behind_missing = model.behind_missing()};
  const auto description = ladon::families::describe(folder, options.tokens, model.tensors());
  const import::Program program = import::program_of(description, model.tensors(), choices);
  if (options.cache_precision != "float32" && !program.generation)
    throw std::runtime_error("--cache-precision is for models that write texts, and this model writes none");
  model.expect_layers(program);
  if (options.dry_run) std::cout << import::summary(program, model.tensors());
  if (options.dry_run && options.memory.empty())
    std::cout << "The memory of a call is sizeof(" << program.choices.name
              << "::Workspace), which the compiler knows: --memory DIR writes a program that prints it.\n";
  if (!options.memory.empty()) {
    const auto programs = programs_of_precisions(program, description, model.tensors());
    import::write_folder(files::path_of(options.memory), import::memory_project_files(programs));
  }
  if (!options.cpp.empty())
    write_project(files::path_of(options.cpp), import::cpp_project_files(program), model, program);
  if (!options.c_sources.empty())
    write_project(files::path_of(options.c_sources), import::checked_c_library_files(program), model, program);
  const import::CChoices c{
      .dispatch = options.dispatch, .maps_weights = options.weights == "mapped", .has_weights_folder = model.is_onnx()};
  if (!options.c.empty()) write_project(files::path_of(options.c), import::c_project_files(program, c), model, program);
  files::flush(std::cout, "the output");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Writes a C++ program that computes a model of Hugging Face's transformers", "ladon-import"};
  try {
    Options options;
    auto* folder =
        app.add_option("folder", options.folder, "a folder with config.json, and safetensors files or model.onnx")
            ->type_name("FOLDER");
    auto* cpp = app.add_option("--cpp", options.cpp, "writes the program into this folder")->type_name("DIR");
    auto* c = app.add_option("--c", options.c, "writes a C library with the model into this folder")->type_name("DIR");
    auto* c_sources =
        app.add_option("--c-sources", options.c_sources, "writes only its sources (ladon_add_model)")->type_name("DIR");
    auto* memory = app.add_option("--memory", options.memory,
                                  "writes a project into this folder, whose program prints the memory of a call")
                       ->type_name("DIR");
    auto* dispatch =
        app.add_flag("--dispatch", options.dispatch, "--c: code for all instruction sets of this architecture");
    auto* weights = app.add_option("--weights", options.weights, "--c: whether the library contains the weights")
                        ->check(CLI::IsMember({"inside", "mapped"}))
                        ->capture_default_str();
    app.add_option("--name", options.name, "the namespace, and the name of files (default: the folder's name)")
        ->type_name("NAME");
    app.add_option("--tokens", options.tokens, "the largest number of tokens of a call")
        ->type_name("N")
        ->check(CLI::Range(1, 1 << 20));
    app.add_flag("--without-weights", options.without_weights,
                 "reads only config.json, as if the checkpoint had all tensors of the family under their usual names");
    app.add_option("--precision", options.precision, "float32, bfloat16, int8, rotated_int8, int4 or rotated_int4")
        ->check(CLI::IsMember({"float32", "bfloat16", "int8", "rotated_int8", "int4", "rotated_int4"}))
        ->capture_default_str();
    auto* activation_bits =
        app.add_option("--activation-bits", options.activation_bits,
                       "int8 and int4: the bits of the inputs of the layers' products. 7 bits are less accurate, and "
                       "faster on x86 without VNNI (docs/precision.md)")
            ->check(CLI::IsMember({7, 8}))
            ->capture_default_str();
    app.add_option("--cache-precision", options.cache_precision,
                   "a model that writes texts: the type of the keys and values in the memory of a text")
        ->check(CLI::IsMember({"float32", "bfloat16", "int8"}))
        ->capture_default_str();
    app.add_option(
           "--keep", options.keep,
           "int4: linear maps of layers that get 8 bits, such as layers.5, linear1 or value_proj; several times")
        ->type_name("REGEX")
        ->allow_extra_args(false)
        ->check(CLI::Validator(regex_complaint, ""));
    app.add_option(
           "--budget", options.budget,
           "int4: the bytes of the matrices of the layers, in percent of those of int8. Linear maps of the last "
           "layers get 8 bits (docs/precision.md)")
        ->type_name("PERCENT")
        ->check(CLI::Range(1.0, 100.0));
    auto* dry_run = app.add_flag("--dry-run", options.dry_run, "prints the parts of the model, and what they cost");
    app.add_option(
           "--compare", options.compared,
           "compares the tensors \"last\", \"pooled\" and \"answer\" of two files: the recorded ones, and the "
           "results of the program. Above 2e-5 of the largest value (float32; 0.05 for bfloat16, 0.2 for int8), "
           "the exit status is 1")
        ->type_name("IO.safetensors OUT.safetensors")
        ->expected(2)
        ->excludes(folder);
    app.failure_message(usage_complaint);
    app.set_version_flag("--version", "ladon-import " LADON_VERSION_STRING);
    app.footer(std::string(about) +
               "\n\nExit status: 0 for success, 1 for a wrong input or a model that Ladon lacks, 2 for wrong usage.");
    try {
      std::vector<std::string> arguments = files::arguments_of_main(argc, argv);
      std::ranges::reverse(arguments);  // `parse` takes the last argument first
      app.parse(std::move(arguments));
      if (options.compared.empty() && folder->empty()) throw CLI::RequiredError("FOLDER");
      if (options.compared.empty() && cpp->empty() && c->empty() && c_sources->empty() && memory->empty() &&
          dry_run->empty())
        throw CLI::RequiredError("--cpp DIR, --c DIR, --c-sources DIR, --memory DIR or --dry-run");
      expect_other_folders(options);
      for (const CLI::Option* of_library : {dispatch, weights})
        if (!of_library->empty() && c->empty()) throw CLI::ValidationError(of_library->get_name(), "needs --c DIR");
      if ((!options.keep.empty() || options.budget > 0) && !options.precision.ends_with("int4"))
        throw CLI::ValidationError("--keep and --budget", "need --precision int4 or rotated_int4");
      if (!activation_bits->empty() && !import::has_integers(precision_of(options.precision)))
        throw CLI::ValidationError("--activation-bits", "needs --precision int8, int4, rotated_int8 or rotated_int4");
    } catch (const CLI::ParseError& error) {
      return app.exit(error) == 0 ? 0 : wrong_usage;
    }
    if (!options.compared.empty()) return compare(options);
    write(options);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "ladon-import: " << error.what() << '\n';
    return failure;
  }
}
