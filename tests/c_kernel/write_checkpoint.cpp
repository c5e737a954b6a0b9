// ladon_write_checkpoint bert|keywords|qwen|CASES FILE: writes FILE in the format safetensors. FILE consists of the
// length of a JSON header in 8 bytes, the header, and the data. `bert` writes the tensors of small_bert(), and so on.
// CASES is a JSON file that tests/conformance/make_decoding_cases.py has
// written. If CASES is given, the program writes the weights of the last case, which are a state dict of PyTorch, and
// the tensors `target`, `memory` and `expected` of this case.
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "json_numbers.hpp"
#include "small_bert.hpp"
#include "small_keywords.hpp"
#include "small_qwen.hpp"

namespace {

// Returns the tensors of the last case in a JSON file. The options of the case must be those of the kernels that
// CMakeLists.txt makes with these tensors.
std::vector<ladon_test::NamedTensor> last_case(const std::string& file) {
  std::vector<ladon_test::NamedTensor> tensors;
  std::ifstream stream(file);
  const nlohmann::json document = nlohmann::json::parse(stream);
  const nlohmann::json& test = document.at("cases").back();
  const nlohmann::json& weights = test.at("weights");
  if (test.at("activation") != "gelu" || test.at("norm_first") != true) throw std::runtime_error("another case");
  for (const auto& [name, values] : weights.items()) {
    ladon_test::NamedTensor tensor{name, {}, {}};
    ladon_test::add_numbers(values, tensor.data);
    // The JSON file has no shapes. A weight matrix has a row for each element of its bias, so the size of the bias is
    // the number of rows.
    constexpr std::string_view weight = "weight";
    const std::size_t size = tensor.data.size();
    const std::string bias = name.substr(0, name.size() - weight.size()) + "bias";
    const std::size_t rows = name.ends_with(weight) ? weights.at(bias).size() : size;
    tensor.shape.push_back(rows);
    if (rows < size) tensor.shape.push_back(size / rows);
    tensors.push_back(tensor);
  }
  for (const std::string name : {"target", "memory", "expected"}) {
    ladon_test::NamedTensor tensor{name, {}, {}};
    ladon_test::add_numbers(test.at(name), tensor.data);
    const std::size_t rows = test.at(name).size();
    tensor.shape = {rows, tensor.data.size() / rows};
    tensors.push_back(tensor);
  }
  return tensors;
}

std::vector<ladon_test::NamedTensor> tensors_of(const std::string& name) {
  if (name == "bert") return ladon_test::small_bert();
  if (name == "qwen") return ladon_test::small_qwen();
  return name == "keywords" ? ladon_test::small_keywords() : last_case(name);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 1;
  const auto tensors = tensors_of(arguments[1]);
  nlohmann::json header;
  std::size_t end = 0;
  for (const auto& tensor : tensors) {
    const std::size_t begin = end;
    end += tensor.data.size() * sizeof(float);
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // aligns the data
  const std::uint64_t length = text.size();
  std::ofstream file(arguments[2], std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), sizeof(length));
  file << text;
  for (const auto& tensor : tensors) {
    file.write(reinterpret_cast<const char*>(tensor.data.data()),
               static_cast<std::streamsize>(tensor.data.size() * sizeof(float)));
  }
  return file.flush() ? 0 : 1;
}
