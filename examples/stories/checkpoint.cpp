#include "checkpoint.hpp"

#include <cstring>
#include <string>

#include "error.hpp"

namespace stories {
namespace {

// The header of the model's file: seven 32-bit integers, least significant byte first.
using Header = std::array<std::int32_t, 7>;

constexpr Header expected_header{model_width,     feed_forward_width, layer_count, head_count, kv_head_count,
                                 vocabulary_size,  // negative, and rejected, with a separate classifier weight
                                 max_positions};
constexpr std::array header_names{"dim", "hidden_dim", "n_layers", "n_heads", "n_kv_heads", "vocab_size", "seq_len"};

constexpr std::size_t layer_floats =
    2 * model_width + 2 * model_width * model_width + 2 * kv_width * model_width + 3 * feed_forward_width * model_width;
// The number of floats at the end of the file: the cosines and sines of the positions. Older versions of llama2.c read
// these floats, but this program does not.
constexpr std::size_t rotary_floats = 2 * max_positions * head_width / 2;
constexpr std::size_t file_bytes =
    sizeof(Header) +
    sizeof(float) * (vocabulary_size * model_width + layer_count * layer_floats + model_width + rotary_floats);
static_assert(file_bytes == 1'056'540);

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& expected, const std::string& found) {
  throw examples::Error(file.string() + ": expected " + expected + ", found " + found);
}

std::string described(const Header& header) {
  std::string text;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (i > 0) text += ", ";
    text.append(header_names[i]).append(" ").append(std::to_string(header[i]));
  }
  return text;
}

void check(std::span<const std::byte> bytes, const std::filesystem::path& file) {
  Header header{};
  const auto found_bytes = std::to_string(bytes.size()) + " bytes";
  if (bytes.size() < sizeof header)
    refuse(file, "a header of " + std::to_string(sizeof header) + " bytes", found_bytes);
  std::memcpy(header.data(), bytes.data(), sizeof header);
  if (header != expected_header) refuse(file, "the header " + described(expected_header), described(header));
  if (bytes.size() != file_bytes) refuse(file, std::to_string(file_bytes) + " bytes", found_bytes);
}

// Takes the floats of a file one array after another, from front to back.
class Cursor {
 public:
  explicit Cursor(const float* first) : next_(first) {}

  const float* take(std::size_t count) {
    const float* taken = next_;
    next_ += count;
    return taken;
  }

  // Takes one kind of tensor for all layers, `count` floats for each layer. The file stores the tensors of one kind one
  // after another, from the first layer to the last.
  void take(Checkpoint& found, const float* LayerTensors::* tensor, std::size_t count) {
    for (LayerTensors& layer : found.layers) layer.*tensor = take(count);
  }

 private:
  const float* next_;
};

}  // namespace

Checkpoint find_tensors(std::span<const std::byte> bytes, const std::filesystem::path& file) {
  check(bytes, file);
  Cursor cursor(reinterpret_cast<const float*>(bytes.data() + sizeof(Header)));
  Checkpoint found{};
  found.embedding = cursor.take(vocabulary_size * model_width);
  cursor.take(found, &LayerTensors::attention_norm, model_width);
  cursor.take(found, &LayerTensors::query, model_width * model_width);
  cursor.take(found, &LayerTensors::key, kv_width * model_width);
  cursor.take(found, &LayerTensors::value, kv_width * model_width);
  cursor.take(found, &LayerTensors::output, model_width * model_width);
  cursor.take(found, &LayerTensors::feed_forward_norm, model_width);
  cursor.take(found, &LayerTensors::gate, feed_forward_width * model_width);
  cursor.take(found, &LayerTensors::down, model_width * feed_forward_width);
  cursor.take(found, &LayerTensors::up, feed_forward_width * model_width);
  found.final_norm = cursor.take(model_width);
  return found;
}

}  // namespace stories
