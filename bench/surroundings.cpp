// ladon_bench_surroundings [ROUNDS]: measures attention in four surroundings (surroundings_case.cpp), alternating, and
// prints the speed of the slowest beside the fastest. The default is 301 rounds of about two milliseconds.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

void surrounding_1(int times);
void surrounding_2(int times);
void surrounding_3(int times);
void surrounding_4(int times);

namespace {

struct Surrounding {
  const char* name;
  void (*call)(int times);
  std::vector<double> microseconds{};
};

double microseconds_of(void (*call)(int), int times) {
  const auto start = std::chrono::steady_clock::now();
  call(times);
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / times;
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::max(1, std::atoi(arguments[1])) : 301;
  std::array<Surrounding, 4> all{{{"static arrays", surrounding_1},
                                  {"heap arrays, in a lambda", surrounding_2},
                                  {"two masks in one function", surrounding_3},
                                  {"member of a class template", surrounding_4}}};
  for (Surrounding& one : all) one.call(100);
  const int times = std::max(1, static_cast<int>(2000 / microseconds_of(all[0].call, 100)));
  for (int round = 0; round < rounds; ++round) {
    for (Surrounding& one : all) one.microseconds.push_back(microseconds_of(one.call, times));
  }
  double fastest = 0, slowest = 0;
  for (Surrounding& one : all) {
    std::sort(one.microseconds.begin(), one.microseconds.end());
    const double median = one.microseconds[one.microseconds.size() / 2];
    fastest = fastest == 0 ? median : std::min(fastest, median);
    slowest = std::max(slowest, median);
    std::printf("%-28s %8.2f us, best %8.2f us\n", one.name, median, one.microseconds[0]);
  }
  std::printf("slowest beside fastest: %.3f\n", fastest / slowest);
}
