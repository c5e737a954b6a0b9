// One function a kind of case.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "tensor.hpp"

namespace conformance {

bool is_onnx(const nlohmann::json& document);
// Throws Failure, or what nlohmann's json throws, where the case is not understood.
Outcome run_onnx(const nlohmann::json& document);

bool is_pytorch(const nlohmann::json& document);
// Each of a file's cases: reports its name and a function that runs it.
void for_pytorch_cases(const nlohmann::json& document,
                       const std::function<void(const std::string& name, const std::function<Outcome()>& run)>& report);

// Stacks of PyTorch's decoder layers, token by token (decoding.cpp).
bool is_decoding(const nlohmann::json& document);
void for_decoding_cases(
    const nlohmann::json& document,
    const std::function<void(const std::string& name, const std::function<Outcome()>& run)>& report);

}  // namespace conformance
