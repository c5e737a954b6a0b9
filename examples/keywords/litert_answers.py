"""litert_answers.py FOLDER >tests/data/keywords_litert.tsv: LiteRT's labels and logits for variants of the recordings.

FOLDER has non_stream.tflite and the four recordings. `fetch_model --all` gets these files. Needs ai-edge-litert and
numpy, such as those of bench/ladon_bench/peers/requirements.txt.
"""

import importlib.metadata
import itertools
import pathlib
import sys
import wave

import numpy as np
from ai_edge_litert.interpreter import Interpreter

RECORDINGS = ["yes_1000ms.wav", "no_1000ms.wav", "noise_1000ms.wav", "silence_1000ms.wav"]
NOISE = "noise_1000ms.wav"
SHIFTS = range(-100, 101, 20)  # milliseconds
SCALES = [0.25, 0.5, 1, 2, 3]
NOISE_FACTORS = [0, 0.2]
LABELS = "_silence_ _unknown_ yes no up down left right on off stop go".split()
SAMPLES = 16000  # of one second, the model's input
COMMENT = f"""\
# What LiteRT makes of variants of four recordings: the label and the logits of KWT-1, the whole chain from samples.
# Made by examples/keywords/litert_answers.py with ai-edge-litert {{version}}, float32, one thread.
#
# The {SAMPLES} samples of a variant. int16 and noise_int16 are the samples of the recording and of {NOISE}:
#   start = 16 * shift_ms
#   x[i] = float(int16[i - start]) / 32768.0f, and 0.0f where i - start is below 0 or at least {SAMPLES}
#   n[i] = float(noise_int16[i]) / 32768.0f
#   y[i] = scale * x[i] + noise * n[i]     float32 without fused multiply-add: both products are rounded, then the sum
# Nothing is clipped. The columns after the label are the logits of the labels in the heading.
# The rows are the product of all recordings, shifts, scales and noise factors, the last of these changing fastest.
"""


def samples_of(path):
    """Returns the samples of a recording, divided by 32768."""
    with wave.open(str(path)) as file:
        found = file.getnchannels(), file.getsampwidth(), file.getframerate(), file.getnframes()
        if found != (1, 2, SAMPLES, SAMPLES):
            raise ValueError(f"{path} is not one second of 16-bit mono at 16 kHz: {found}")
        return np.frombuffer(file.readframes(SAMPLES), "<i2").astype(np.float32) / np.float32(32768)


def shifted(x, milliseconds):
    start = 16 * milliseconds
    padded = np.pad(x, abs(start))  # zeros on both sides
    return padded[abs(start) - start:][:SAMPLES]


def variant(x, noise, shift, scale, factor):
    return np.float32(scale) * shifted(x, shift) + np.float32(factor) * noise


class Model:
    def __init__(self, path):
        self.interpreter = Interpreter(str(path), num_threads=1)
        self.interpreter.allocate_tensors()
        self.input = self.interpreter.get_input_details()[0]["index"]
        self.output = self.interpreter.get_output_details()[0]["index"]

    def logits(self, samples):
        self.interpreter.set_tensor(self.input, samples[None])
        self.interpreter.invoke()
        return self.interpreter.get_tensor(self.output)[0]


def main(folder):
    folder = pathlib.Path(folder)
    model = Model(folder / "non_stream.tflite")
    recordings = {name: samples_of(folder / name) for name in RECORDINGS}
    sys.stdout.write(COMMENT.format(version=importlib.metadata.version("ai-edge-litert")))
    print("recording", "shift_ms", "scale", "noise", "label", *LABELS, sep="\t")
    for name, shift, scale, factor in itertools.product(RECORDINGS, SHIFTS, SCALES, NOISE_FACTORS):
        logits = model.logits(variant(recordings[name], recordings[NOISE], shift, scale, factor))
        print(name, shift, scale, factor, LABELS[logits.argmax()], *(f"{logit:.7g}" for logit in logits), sep="\t")


if __name__ == "__main__":
    main(*sys.argv[1:])
