"""Runs MiniLM in PyTorch with scaled_dot_product_attention, directly or compiled by torch.compile with frozen
weights."""

import warnings

import numpy as np
import torch
from torch.nn import functional

from ladon_bench.minilm.model import EPSILON, HEAD_WIDTH, HEADS, MODEL
from ladon_bench.minilm.serving import serve
from ladon_bench.peers.torch_linear import by_onednn, compile_for, linear

FUNCTION, FROZEN = "scaled_dot_product_attention", "torch.compile, weights frozen"
FUNCTION_ONEDNN, FROZEN_ONEDNN = f"{FUNCTION}, oneDNN", f"{FROZEN}, oneDNN"


class MiniLM(torch.nn.Module):
    def __init__(self, weights):
        super().__init__()
        tensor = lambda array: torch.nn.Parameter(torch.from_numpy(np.array(array)), requires_grad=False)
        pair = lambda parts: torch.nn.ParameterList([tensor(part) for part in parts])
        self.word, self.place = tensor(weights.word), tensor(weights.place)
        self.embedding_norm = pair(weights.embedding_norm)
        self.layers = torch.nn.ModuleList([torch.nn.ModuleDict({name: pair(parts) for name, parts in layer.items()})
                                           for layer in weights.layers])

    def forward(self, ids, mask):
        """Returns the vectors. `mask` is [batch][tokens], true for a token and false for padding, or None without
        padding."""
        norm = lambda x, pair: functional.layer_norm(x, [MODEL], pair[0], pair[1], EPSILON)
        heads = lambda x: x.view(*ids.shape, HEADS, HEAD_WIDTH).transpose(1, 2)
        shown = None if mask is None else mask[:, None, None, :]
        x = norm(self.word[ids] + self.place[:ids.shape[1]], self.embedding_norm)
        for layer in self.layers:
            q, k, v = (heads(linear(x, *layer[name])) for name in ("query", "key", "value"))
            y = functional.scaled_dot_product_attention(q, k, v, attn_mask=shown).transpose(1, 2).reshape(x.shape)
            x = norm(x + linear(y, *layer["output"]), layer["norm1"])
            hidden = functional.gelu(linear(x, *layer["linear1"]))
            x = norm(x + linear(hidden, *layer["linear2"]), layer["norm2"])
        total = (x if mask is None else x * mask[:, :, None]).sum(1)
        return functional.normalize(total, dim=1)


def lay_out_by_onednn(model):
    laid_out = [{name: [by_onednn(weight.data), bias] for name, (weight, bias) in layer.items()}
                for layer in model.layers]
    del model.layers
    model.layers = laid_out


def build(case, form):
    model = MiniLM(case.weights).eval()
    if form == FUNCTION_ONEDNN:
        with torch.inference_mode():
            lay_out_by_onednn(model)
    if form in (FROZEN, FROZEN_ONEDNN):
        torch._inductor.config.freezing = True
        compile_for(onednn=form == FROZEN_ONEDNN)
        model = torch.compile(model, dynamic=None if case.tokens is None else False)
    mask = torch.from_numpy(case.mask.astype(bool)) if case.together else None
    calls = [torch.from_numpy(ids) for ids in case.calls]

    def compute():
        with torch.inference_mode():
            return [model(ids, mask).numpy() for ids in calls]

    return compute


warnings.filterwarnings("ignore")
torch.set_num_threads(1)
torch.set_num_interop_threads(1)
serve("PyTorch", {"torch": torch.__version__}, {"float32": [FUNCTION, FUNCTION_ONEDNN, FROZEN, FROZEN_ONEDNN]}, build)
