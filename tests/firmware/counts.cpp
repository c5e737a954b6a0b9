// Calls several kernels. Prints a line for each call: a name, the number of its instructions, and 100 times the number
// of instructions per multiply-add. `counts small` omits the calls that take long without an FPU.
#include <string_view>

#include "board.hpp"
#include "subjects.hpp"

namespace {

template <class Subject>
void count(const char* name) {
  Subject::prepare();
  Subject::run();
  const std::uint64_t before = board::instructions();
  Subject::run();
  const std::uint64_t count = board::instructions() - before;
  board::print(name);
  board::print_number(count, 12);
  board::print_number((100 * count + Subject::products / 2) / Subject::products, 6);
  board::print("\n");
}

constexpr ladon::Shape shape(std::size_t tokens, std::size_t model) {
  return {.queries = tokens, .model = model, .heads = 4};
}

}  // namespace

int main(int argc, char** argv) {
  count<firmware::Attention<shape(16, 32)>>("attention_16_32_4");
  count<firmware::Layer<shape(16, 32)>>("layer_16_32_4    ");
  if (argc > 1 && std::string_view(argv[1]) == "small") return 0;
  count<firmware::Attention<shape(32, 64)>>("attention_32_64_4");
  count<firmware::Layer<shape(32, 64)>>("layer_32_64_4    ");
  count<firmware::Attention<shape(64, 128)>>("attention_64_128_4");
  count<firmware::Layer<shape(64, 128)>>("layer_64_128_4   ");
}
