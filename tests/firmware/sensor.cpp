// The smallest program with an imported model: reads samples, and prints the class of each.
#include <board.hpp>

#include "sensor.h"

int main(int argc, char** argv) {
  static float sample[SENSOR_MOST_FRAMES * 3], answer[SENSOR_ANSWER_WIDTH];
  if (argc != 2 || sensor_start(nullptr, 0) != LADON_MODEL_OK) board::exit(2);
  board::File samples(argv[1]);
  while (samples.read({reinterpret_cast<char*>(sample), sizeof sample}) == sizeof sample) {
    if (sensor_head(sample, SENSOR_MOST_FRAMES, answer, nullptr) != LADON_MODEL_OK) board::exit(3);
    int likeliest = 0;
    for (int i = 1; i < SENSOR_ANSWER_WIDTH; ++i)
      if (answer[i] > answer[likeliest]) likeliest = i;
    board::print_number(static_cast<std::uint64_t>(likeliest));
    board::print("\n");
  }
  board::exit(0);
}
