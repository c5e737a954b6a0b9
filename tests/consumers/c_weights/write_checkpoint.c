/* write_checkpoint FILE: writes the weights of reference.h to FILE in the format safetensors. A safetensors file
 * consists of an integer of 8 bytes, a JSON header and the tensors. The integer is the length of the header. */
#include <string.h>

#include "reference.h"

static int write_all(FILE* file) {
  char header[512];
  const int in = 3 * MODEL * MODEL * 4, in_bias_end = in + 3 * MODEL * 4, out = in_bias_end + MODEL * MODEL * 4;
  const char* tensor = "\"encoder.attention.%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%d,%d]}%s";
  char* end = header;
  end += sprintf(end, "{");
  end += sprintf(end, tensor, "in_proj_weight", "48,16", 0, in, ",");
  end += sprintf(end, tensor, "in_proj_bias", "48", in, in_bias_end, ",");
  end += sprintf(end, tensor, "out_proj.weight", "16,16", in_bias_end, out, ",");
  end += sprintf(end, tensor, "out_proj.bias", "16", out, out + MODEL * 4, "}");
  const size_t length = strlen(header);
  for (int i = 0; i < 8; ++i) fputc((int)((unsigned long long)length >> 8 * i & 255), file);
  fwrite(header, 1, length, file);
  fwrite(in_weight, sizeof in_weight, 1, file);
  fwrite(in_bias, sizeof in_bias, 1, file);
  fwrite(out_weight, sizeof out_weight, 1, file);
  return fwrite(out_bias, sizeof out_bias, 1, file) == 1;
}

int main(int count, char** arguments) {
  FILE* file = count == 2 ? fopen(arguments[1], "wb") : NULL;
  fill_all();
  return file && write_all(file) && fclose(file) == 0 ? 0 : 1;
}
