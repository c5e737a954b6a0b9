// SPDX-License-Identifier: Apache-2.0
// Compares a kernel with the config.json of its checkpoint.
#pragma once

#include <filesystem>
#include <string>

namespace ladon::weights {

// `kernel` is what ladon_add_kernel writes about a kernel, in lines (cmake/kernel/stored_weights.cmake):
//     part stack                   attention, layer, stack, decoder_layer or decoder
//     epsilon 1e-5                 of its norms, if it has norms
//     any causal                   the kernel may have another mask than config.json
//     model.layers = 6;            a member of its ladon::Model, for each argument
// Throws files::Error with a line for each member that contradicts config.json of the folder.
void check_agreement(const std::filesystem::path& folder, const std::string& prefix, const std::string& kernel);

}  // namespace ladon::weights
