"""The request "case" of MiniLM. ../peers/model_serving.py describes the other requests and all answers.

    {"do": "case", "model": FILE, "sentences": [[id, ...], ...], "together": true or false,
     "precision": "float32", "bfloat16" or "int8"}
                                               together: one call with all sentences, padded to the longest sentence;
                                               otherwise, one call for each sentence
                                               precision: of the weights of linear layers, and of their products

The results are the vectors of all sentences. Ladon's process (ladon_peer.cpp) has one more request, which may come
before a case:

    {"do": "ids", "vocabulary": FILE, "text"}  {"ids"}: the tokens of the whole text
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
        self.calls = [np.array([ids]) for ids in request["sentences"]]  # for each call, ids [batch][tokens]
        self.mask = None
        if self.together:
            padded = [ids + [0] * (max(lengths) - len(ids)) for ids in request["sentences"]]
            self.calls = [np.array(padded)]
            self.mask = (np.arange(max(lengths)) < np.array(lengths)[:, None]).astype(np.int64)
        # `batch` is the batch size, and `tokens` the number of tokens of each call. `tokens` is None if the calls have
        # different numbers of tokens.
        self.batch = self.calls[0].shape[0]
        self.tokens = self.calls[0].shape[1] if self.together or self.same_length else None


def serve(name, versions, forms, build):
    """Answers the driver. build(case, form) returns a function that returns a list: the vectors [batch][384] of each
    call."""
    serve_model(name, versions, forms, build, Case)
