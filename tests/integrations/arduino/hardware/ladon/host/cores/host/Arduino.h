// Defines the parts of Arduino that examples/arduino uses: a console and a clock.
#pragma once

#include <cstdio>

struct Console {
  void begin(unsigned long) {}
  void println(double value, int digits) { std::printf("%.*f\n", digits, value); }
};
inline Console Serial;

void delay(unsigned long milliseconds);
void setup();
void loop();
