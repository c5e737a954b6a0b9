// SPDX-License-Identifier: Apache-2.0
#include <ladon/safetensors/records.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ladon/safetensors/file.hpp>
#include <span>
#include <system_error>
#include <vector>

#include "byte_order.hpp"

#include "safetensors.hpp"
#include "utf8.hpp"

namespace ladon::safetensors {
namespace {

constexpr std::array<const char*, 5> of_generation = {"--generate", "--temperature", "--top-k", "--top-p", "--seed"};

bool is_option(const std::string& word, const Records::Abilities& abilities) {
  if (word == "--inputs" || word == "--outputs" || (abilities.takes_text && word == "--text") ||
      (abilities.takes_pair && word == "--text-pair"))
    return true;
  return abilities.writes_text && std::find(of_generation.begin(), of_generation.end(), word) != of_generation.end();
}

// Returns whether `word` is a number, which `number` receives.
bool is_number(const std::string& word, auto& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

std::int32_t id_of(const std::string& word) {
  std::int32_t id = 0;
  if (is_number(word, id)) return id;
  throw Error(files::in_quotes(word) + " is no token id and no option of this program, such as --inputs and --outputs");
}

template <class Number>
Number number_of(const std::string& option, const std::string& value) {
  Number number = 0;
  if (!is_number(value, number) || !(number >= 0)) throw Error(option + " is " + files::in_quotes(value));
  return number;
}

template <class T>
std::vector<T> values_of(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  files::swap_if_big_endian(std::as_writable_bytes(std::span(values)), sizeof(T));
  return values;
}

void expect_count(const std::string& name, std::size_t count, std::size_t least, std::size_t most) {
  if (count >= least && count <= most) return;
  throw Error(files::in_quotes(name) + " has " + std::to_string(count) + " numbers; expected " + std::to_string(least) +
              (least == most ? "" : " to " + std::to_string(most)));
}

// Returns the ids, which must be smaller than `rows`, the rows of `table`.
std::vector<std::int32_t> rows_of(const std::string& name, const std::vector<std::int64_t>& ids, std::size_t rows,
                                  const char* what, const char* table) {
  std::vector<std::int32_t> result;
  for (const std::int64_t id : ids) {
    if (id < 0 || static_cast<std::uint64_t>(id) >= rows)
      throw Error(files::in_quotes(name) + " has the " + what + " " + std::to_string(id) + ", but the table of " +
                  table + " has " + std::to_string(rows) + " rows");
    result.push_back(static_cast<std::int32_t>(id));
  }
  return result;
}

// Expects that every number of the tensor given.`name` is `expected`, if the file has such a tensor of integers.
void expect_all(const File& file, const std::string& name, std::int64_t expected, const char* what) {
  const auto found = file.tensors().find("given." + name);
  if (found == file.tensors().end()) return;
  const auto bytes = file.bytes(found->second);
  const auto differ = [&](const auto& numbers) {
    return std::any_of(numbers.begin(), numbers.end(), [&](std::int64_t number) { return number != expected; });
  };
  if (found->second.dtype == "I64" ? differ(values_of<std::int64_t>(bytes))
                                   : found->second.dtype == "I32" && differ(values_of<std::int32_t>(bytes)))
    throw Error(file.name() + ": given." + name + " has a number that is not " + std::to_string(expected) + "; " +
                what);
}

}  // namespace

struct Records::Given {
  File file;
};

Records::Records(int argc, const char* const* argv, const Abilities& abilities) {
  std::string inputs;
  const std::vector<std::string> arguments = files::arguments_of_main(argc, argv);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (is_option(word, abilities)) {
      if (++i == arguments.size()) throw Error(word + " needs a value");
      read_option(word, arguments[i], inputs);
    } else if (word == "--text") {
      throw Error(
          "--text: the program takes no text. If its model reads token ids, put the model's tokenizer.json into the "
          "model's folder, and import the model again");
    } else if (word == "--text-pair") {
      throw Error("--text-pair: the program takes no pair of texts");
    } else if (folder_.empty()) {
      folder_ = files::path_of(word);
    } else {
      words_.push_back(id_of(word));
    }
  }
  if (text_pair_ && text_.empty()) throw Error("--text-pair needs --text, the first text of the pair");
  const int given = !inputs.empty() + !words_.empty() + !text_.empty();
  if (folder_.empty() || given != 1)
    throw Error("usage: FOLDER --inputs IN.safetensors [--outputs OUT.safetensors], or FOLDER ID..." +
                std::string(abilities.takes_text ? ", or FOLDER --text TEXT" : "") +
                (abilities.takes_pair ? " [--text-pair TEXT]" : ""));
  if (inputs.empty()) return;
  given_ = std::make_unique<Given>(Given{File(files::path_of(inputs))});
  expect_all(given_->file, "attention_mask", 1, "a program computes one text a call, without padding");
  expect_all(given_->file, "past_values_padding", 0, "a program takes the numbers of a series without padding");
  expect_all(given_->file, "freq", 0, "a program computes series of the frequency 0");
  if (!abilities.takes_types)
    expect_all(given_->file, "token_type_ids", 0, "the model has no table of token types, or a table of one row");
}

void Records::read_option(const std::string& option, const std::string& value, std::string& inputs) {
  if (option == "--inputs") inputs = value;
  if (option == "--outputs") outputs_ = value;
  if (option == "--text") text_ = value;
  if (option == "--text-pair") text_pair_ = value;
  if (option == "--generate") generation_.tokens = number_of<std::size_t>(option, value);
  if (option == "--temperature") generation_.temperature = number_of<float>(option, value);
  if (option == "--top-k") generation_.top_k = number_of<std::size_t>(option, value);
  if (option == "--top-p") generation_.top_p = number_of<float>(option, value);
  if (option == "--seed") generation_.seed = number_of<std::uint64_t>(option, value);
}

Records::~Records() = default;

bool Records::has(const std::string& name) const { return given_ && given_->file.tensors().contains("given." + name); }

bool Records::has_ids(const std::string& name) const {
  return has(name) || (!words_.empty() && (words_name_.empty() || words_name_ == name));
}

std::vector<std::int32_t> Records::ids(const std::string& name, std::size_t most, std::size_t rows) {
  if (words_name_.empty()) words_name_ = name;
  if (!given_ && name != words_name_) throw Error("the model needs --inputs with a tensor given." + name);
  std::vector<std::int64_t> ids(words_.begin(), words_.end());
  if (given_) ids = integers(name);
  expect_count(name, ids.size(), 1, most);
  return rows_of(name, ids, rows, "id", "embeddings");
}

std::vector<std::int32_t> Records::types(const std::string& name, std::size_t tokens, std::size_t rows) const {
  std::vector<std::int64_t> types(types_.begin(), types_.end());
  if (has(name))
    types = integers(name);
  else if (types_.empty())
    types.resize(tokens);
  expect_count(name, types.size(), tokens, tokens);
  return rows_of(name, types, rows, "type", "token types");
}

// Returns the numbers of a tensor of integers.
std::vector<std::int64_t> Records::integers(const std::string& name) const {
  const auto found = given_->file.tensors().find("given." + name);
  if (found == given_->file.tensors().end()) throw Error(given_->file.name() + " has no tensor given." + name);
  const auto bytes = given_->file.bytes(found->second);
  if (found->second.dtype == "I64") return values_of<std::int64_t>(bytes);
  if (found->second.dtype != "I32")
    throw Error("given." + name + " has the dtype " + found->second.dtype + "; expected I64 or I32");
  const auto numbers = values_of<std::int32_t>(bytes);
  return {numbers.begin(), numbers.end()};
}

std::vector<float> Records::numbers(const std::string& name, std::size_t most, std::size_t least) const {
  if (!given_) throw Error("the model needs --inputs with a tensor given." + name);
  const auto found = given_->file.tensors().find("given." + name);
  if (found == given_->file.tensors().end()) throw Error(given_->file.name() + " has no tensor given." + name);
  if (found->second.dtype != "F32")
    throw Error("given." + name + " has the dtype " + found->second.dtype + "; expected F32");
  std::vector<float> numbers = values_of<float>(given_->file.bytes(found->second));
  expect_count(name, numbers.size(), least, most);
  return numbers;
}

void Records::add(const std::string& name, const float* values, std::size_t rows, std::size_t width) {
  results_.push_back({name, values, rows, width});
}

void Records::write() const {
  if (results_.empty()) {
    if (!given_) throw Error("the model needs --inputs");
    std::string names;
    for (const auto& [name, tensor] : given_->file.tensors())
      if (name.starts_with("given.")) names += " " + name;
    throw Error(given_->file.name() + " has no input of the model, such as given.input_ids" +
                (names.empty() ? "" : "; found" + names));
  }
  if (outputs_.empty()) {
    const Result& last = results_.back();
    for (std::size_t i = 0; i < last.rows * last.width; ++i)
      std::printf("%.6g%c", static_cast<double>(last.values[i]), (i + 1) % last.width == 0 ? '\n' : ' ');
    return;
  }
  std::vector<files::NamedTensor> tensors;
  std::uint64_t end = 0;
  for (const Result& result : results_) {
    const std::uint64_t begin = end;
    end += result.rows * result.width * sizeof(float);
    tensors.push_back({result.name, {"F32", {result.rows, result.width}, begin, end}});
  }
  // Another program sees either the old file or the complete new file.
  const std::filesystem::path outputs = files::path_of(outputs_), temporary = files::path_of(outputs_ + ".part");
  std::ofstream file(temporary, std::ios::binary);
  file << files::safetensors_header(tensors, "");
  for (const Result& result : results_) {
    std::vector<float> values(result.values, result.values + result.rows * result.width);
    files::swap_if_big_endian(std::as_writable_bytes(std::span(values)), sizeof(float));
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
  }
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(temporary, outputs, error);
  if (!file || error) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw Error(outputs_ + ": cannot write the file");
  }
}

}  // namespace ladon::safetensors
