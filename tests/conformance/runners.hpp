// Declares the functions that run the cases of ONNX's Attention, of PyTorch's layers, and of PyTorch's stacks of
// decoder layers.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "tensor.hpp"

namespace conformance {

bool is_onnx(const nlohmann::json& document);
// Runs a case. Throws Failure, or an exception of nlohmann's json, if the case is malformed or unsupported.
Outcome run_onnx(const nlohmann::json& document);

bool is_pytorch(const nlohmann::json& document);
// Calls `report` for each case in a JSON file, with the name of the case and a function that runs the case.
void for_pytorch_cases(const nlohmann::json& document,
                       const std::function<void(const std::string& name, const std::function<Outcome()>& run)>& report);

// The next two functions are for cases of a stack of PyTorch's decoder layers. They compute each case in several calls
// (decoding.cpp).
bool is_decoding(const nlohmann::json& document);
void for_decoding_cases(
    const nlohmann::json& document,
    const std::function<void(const std::string& name, const std::function<Outcome()>& run)>& report);

}  // namespace conformance
