"""Computes PyTorch's linear layer with MKL, which is PyTorch's default, or with oneDNN. MKL does not use AVX-512 on
processors of AMD (Zen 5: 97 GFLOP/s with MKL and 228 with oneDNN at 128 x 768 by 768)."""

import torch
from torch.nn import functional


def by_onednn(weight):
    """Returns the weight in the layout of oneDNN, so that linear() uses oneDNN. Returns other tensors (biases, norms)
    unchanged."""
    return torch.ops.mkldnn._reorder_linear_weight(weight) if weight.dim() == 2 else weight


def linear(x, weight, bias):
    if weight.is_mkldnn:
        return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return functional.linear(x, weight, bias)


def compile_for(onednn):
    """Sets the library that torch.compile uses for linear layers with frozen weights."""
    torch._C.has_mkl = not onednn  # torch.compile reads this flag to choose the library
