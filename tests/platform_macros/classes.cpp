// Compiles the public classes behind the macros of platforms.
#include "macros.hpp"

#include "../programs/all_classes.hpp"
