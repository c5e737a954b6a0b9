"""PyTorch's linear layer, by the library of its choice or by oneDNN. Its choice is MKL, which on AMD's processors does
without AVX-512 (Zen 5: 97 GFLOP/s instead of 228 at 128 x 768 by 768)."""

import torch
from torch.nn import functional


def by_onednn(weight):
    """The weight laid out for oneDNN, which linear() then takes. Other tensors (biases, norms) as they are."""
    return torch.ops.mkldnn._reorder_linear_weight(weight) if weight.dim() == 2 else weight


def linear(x, weight, bias):
    if weight.is_mkldnn:
        return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return functional.linear(x, weight, bias)


def compile_for(onednn):
    """What torch.compile makes of linear layers with frozen weights, from now on."""
    torch._C.has_mkl = not onednn  # which is asked where it chooses the library
