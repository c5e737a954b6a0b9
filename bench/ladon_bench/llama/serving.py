"""The request "case" of a language model. ../peers/model_serving.py describes the other requests and all answers.

    {"do": "case", "model": FOLDER,           the files that model.py has written
     "precision": "8 bits" or "4 bits",       of the weights
     "tokens": N, "inputs": FILE,             the ids, int32
     "depth": N, "together": BOOL}            the first `depth` ids are read before; a call takes all others, or one

The result is the logits of the token that follows all ids.
"""

import numpy as np

from ladon_bench.llama.model import gguf_of
from ladon_bench.peers.model_serving import serve_model


class Case:
    def __init__(self, request):
        self.precision, self.depth, self.together = request["precision"], request["depth"], request["together"]
        self.ids = np.fromfile(request["inputs"], np.int32)
        self.gguf = gguf_of(request["model"], self.precision)


def serve(name, versions, forms, build):
    """build(case, form) returns a function that computes the logits, a list of [vocabulary]."""
    serve_model(name, versions, forms, build, Case)
