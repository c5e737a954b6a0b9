// SPDX-License-Identifier: Apache-2.0
// Includes all public headers. The namespace ladon::detail is not public.
#pragma once

#include <ladon/attention.hpp>
#include <ladon/bfloat16.hpp>
#include <ladon/decoder.hpp>
#include <ladon/detail/panel/workspace.hpp>
#include <ladon/encoder.hpp>
#include <ladon/key_value_cache.hpp>
#include <ladon/linear.hpp>
#include <ladon/mask.hpp>
#include <ladon/model.hpp>
#include <ladon/model/activation.hpp>
#include <ladon/model/batch.hpp>
#include <ladon/model/convolution.hpp>
#include <ladon/model/embedding.hpp>
#include <ladon/model/generation.hpp>
#include <ladon/model/group_norm.hpp>
#include <ladon/model/linear_rows.hpp>
#include <ladon/model/norm.hpp>
#include <ladon/model/patches.hpp>
#include <ladon/model/pooling.hpp>
#include <ladon/model/sampling.hpp>
#include <ladon/model/time_series.hpp>
#include <ladon/model/weight_image.hpp>
#include <ladon/multi_head_attention.hpp>
#include <ladon/position.hpp>
#include <ladon/quantise.hpp>
#include <ladon/rotary_scaling.hpp>
#include <ladon/run_options.hpp>
#include <ladon/score.hpp>
#include <ladon/shape.hpp>
#include <ladon/stack.hpp>
#include <ladon/threads.hpp>
#include <ladon/version.hpp>
#include <ladon/views.hpp>
#include <ladon/weights.hpp>
