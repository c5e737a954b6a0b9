#include <Arduino.h>

void delay(unsigned long) {}

int main() {
  setup();
  loop();
}
