// ladon_write_checkpoint bert|keywords FILE: writes small_bert() or small_keywords() as a safetensors file: the length
// of a JSON header in 8 bytes, the header, the data.
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "small_bert.hpp"
#include "small_keywords.hpp"

int main(int count, char** arguments) {
  if (count != 3) return 1;
  const auto tensors = arguments[1] == std::string("bert") ? ladon_test::small_bert() : ladon_test::small_keywords();
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
