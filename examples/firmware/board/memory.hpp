// Declares the symbols of the linker script sections.ld. Their addresses are the bounds of the parts of the image.
#pragma once

#include <cstdint>

extern "C" {
extern const char board_flash_begin[], board_flash_end[], board_weights[], board_weights_end[], board_data_from[];
extern char board_data[], board_data_end[], board_bss[], board_bss_end[], board_stack[], board_stack_end[];
}
