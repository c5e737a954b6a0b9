# The layers of include/ladon, from the lowest layer to the highest layer. A header may include headers of its layer and
# of lower layers.
#
# Each element of `layers` is a layer. The entries of a layer are headers and folders, and a folder ends in a slash. A
# folder stands for all headers below it. If several entries match a header, only the longest entry counts.
set(layers
  "version.hpp detail/config/settings.hpp"
  "detail/target/"
  "bfloat16.hpp detail/config/"
  "detail/vec/"
  "checks.hpp views.hpp detail/panel/rows.hpp \
detail/product/epilogue.hpp"
  "detail/cortex_m/"
  "shape.hpp threads.hpp score.hpp position.hpp rotary_scaling.hpp weights.hpp"
  "detail/panel/"
  "mask/ mask.hpp run_options.hpp model.hpp key_value_cache.hpp"
  "detail/product/ detail/layer/norm.hpp"
  "detail/attention/"
  "detail/layer/"
  "linear.hpp quantise.hpp model/"
  "attention.hpp multi_head_attention.hpp stack.hpp encoder.hpp decoder.hpp \
model/attention_pool.hpp model/text.hpp ladon.hpp")

# Normally, a folder in `layers` without headers is an error. may_be_empty lists the exceptions.
set(may_be_empty "")

# isa_folders lists the folders whose headers may name an instruction set.
set(isa_folders detail/target/ detail/vec/ detail/cortex_m/)

# isa_exempt lists the headers outside isa_folders that may name an instruction set. If a header in this list names no
# instruction set, check.cmake reports an error.
set(isa_exempt detail/config/settings.hpp detail/config/quiet_begin.hpp detail/config/quiet_end.hpp)
