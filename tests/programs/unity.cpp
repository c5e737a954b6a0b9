// Two parts of a program in one translation unit, as a unity build makes them.
#define PART unity
#include "part.cpp"
#undef PART
#define PART second_of_unity
#include "part.cpp"
