"""The request "case" of KWT-1. ../peers/model_serving.py describes the other requests and all answers.

    {"do": "case", "model": FILE, "tflite": FILE,    kwt1.safetensors and non_stream.tflite, which have equal weights
     "part": "chain" or "model",                     from samples to logits, or from features to logits
     "precision": PRECISION,                         float32; int8 (the model's layers); or int8 everywhere (also the
                                                     front end)
     "windows": N, "inputs": FILE}                   N windows, float32: 16,000 samples or [98][40] features each

The results are the 12 logits of each window.
"""

import numpy as np

from ladon_bench.keywords.model import COEFFICIENTS, FRAMES, SAMPLES
from ladon_bench.peers.model_serving import serve_model

CHAIN, MODEL = "chain", "model"
FLOAT32, INT8, INT8_EVERYWHERE = "float32", "int8", "int8 everywhere"
SHAPES = {CHAIN: (SAMPLES,), MODEL: (FRAMES, COEFFICIENTS)}


class Case:
    def __init__(self, request):
        self.tflite, self.part, self.precision = request["tflite"], request["part"], request["precision"]
        self.inputs = np.fromfile(request["inputs"], np.float32).reshape(request["windows"], *SHAPES[self.part])


def serve(name, versions, forms, build):
    """build(case, form) returns a function that computes the logits of the windows, a list of [1][12]."""
    serve_model(name, versions, forms, build, Case)
