"""The case of MiniLM. ../peers/model_serving.py has the rest of what a peer's process hears and answers.

    {"do": "case", "model": FILE, "sentences": [[id, ...], ...], "together": true or false,
     "precision": "float32" or "int8"}         together: padded to the longest, in one call; else a call each
                                               precision: of the weights of linear layers, and of their products

The results are a vector of each sentence. Ladon's process (ladon_peer.cpp) knows one more, and it may come before a
case:

    {"do": "ids", "vocabulary": FILE, "text"}  {"ids"}: the whole text's tokens
"""

import numpy as np

from ladon_bench.minilm.model import Weights
from ladon_bench.peers.model_serving import serve_model


class Case:
    def __init__(self, request):
        self.weights = Weights(request["model"])
        self.together, self.precision = request["together"], request["precision"]
        lengths = [len(ids) for ids in request["sentences"]]
        self.same_length = len(set(lengths)) == 1
        self.calls = [np.array([ids]) for ids in request["sentences"]]  # ids [batch][tokens], of every call
        self.mask = None
        if self.together:
            padded = [ids + [0] * (max(lengths) - len(ids)) for ids in request["sentences"]]
            self.calls = [np.array(padded)]
            self.mask = (np.arange(max(lengths)) < np.array(lengths)[:, None]).astype(np.int64)
        # The sizes that all calls have, or None.
        self.batch = self.calls[0].shape[0]
        self.tokens = self.calls[0].shape[1] if self.together or self.same_length else None


def serve(name, versions, forms, build):
    """build(case, form) returns a function that computes the vectors [batch][384] of case.calls, a list."""
    serve_model(name, versions, forms, build, Case)
