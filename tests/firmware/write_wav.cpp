// write_wav FILE RATE CHANNELS BITS FRAMES: writes a WAV file of silence. In front of the samples, the file has an
// unknown chunk of odd size, to test that readers skip it.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

// Writes a little-endian integer.
void put(std::ostream& out, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.put(static_cast<char>(value >> 8 * i & 0xff));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  std::uint32_t numbers[4];
  for (int i = 0; i < 4; ++i) numbers[i] = static_cast<std::uint32_t>(std::strtoul(argv[2 + i], nullptr, 10));
  const auto [rate, channels, bits, frames] = numbers;
  const std::uint32_t frame = channels * bits / 8, bytes = frames * frame;
  std::ofstream out(argv[1], std::ios::binary);
  out << "RIFF";
  put(out, 4 + 24 + 12 + 8 + bytes, 4);
  out << "WAVEfmt ";
  put(out, 16, 4);
  put(out, 1, 2);
  put(out, channels, 2);
  put(out, rate, 4);
  put(out, rate * frame, 4);
  put(out, frame, 2);
  put(out, bits, 2);
  out << "LIST";
  put(out, 3, 4);
  out << "abc";
  put(out, 0, 1);
  out << "data";
  put(out, bytes, 4);
  out << std::string(bytes, '\0');
  return out.flush() ? 0 : 1;
}
