"""Trains the date reader and writes its weights as weights.safetensors.

    python3 train.py [--steps 11000] [--seed 1] [--out weights.safetensors]

Needs only PyTorch and numpy, and one CPU thread. (Debian: `apt-get install --no-install-recommends python3-torch
libopenblas0-pthread`. A step takes 50 ms, or 300 ms without OpenBLAS.) texts.py and dates.py make the texts, and
rules.py labels them. Equal versions of PyTorch and numpy on equal CPUs give equal weights. On other machines, roundings
and therefore weights differ, but the accuracy is about the same.

A text has up to 40 characters, one token each: the embedding of the character plus the embedding of its place. The text
stands at the end of the 40 places, so that a weekday before a date moves nothing. (With the text at the beginning, the
loss after 1,000 steps was 0.65 instead of 0.28.) Eight slots follow, one for each digit of YYYYMMDD, with learned
embeddings. The encoder is torch.nn.TransformerEncoder with pre-LN layers and a final LayerNorm. Unused places are
masked. One linear layer, shared by the slots, gives a digit for each slot, or 10 for "no date".
"""

import argparse
import datetime
import math
import pathlib
import random
import time

import numpy
import torch
from torch import nn

import export
from rules import squeeze
from texts import sample

ALPHABET = " 0123456789abcdefghijklmnopqrstuvwxyz.,-/'"  # id: the index here + 1, or 0 for any other character
CHARACTERS, SLOTS, CLASSES, NO_DATE = 40, 8, 11, 10
MODEL, HEADS, FEED_FORWARD, LAYERS = 48, 4, 96, 2
SURE_ENOUGH = 0.7  # a text is a date only if each digit has at least this probability
HELD_OUT = pathlib.Path(__file__).parent / "../../tests/data/dates_held_out.tsv"
BATCH, POOL, WARM_UP, RATE, CLIP = 256, 32, 300, 6e-3, 1.0


class DateReader(nn.Module):
    def __init__(self):
        super().__init__()
        self.character = nn.Embedding(len(ALPHABET) + 1, MODEL)
        self.position = nn.Parameter(torch.randn(CHARACTERS, MODEL))
        self.slot = nn.Parameter(torch.randn(SLOTS, MODEL))
        layer = nn.TransformerEncoderLayer(
            MODEL, HEADS, FEED_FORWARD, dropout=0.0, norm_first=True, batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, LAYERS, nn.LayerNorm(MODEL))
        for p in self.encoder.parameters():  # otherwise, all layers would begin as copies of one layer
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)
        self.classifier = nn.Linear(MODEL, CLASSES)

    def forward(self, ids, unused):
        """ids, unused: (batch, length <= 40). Returns the logits: (batch, 8, 11)."""
        text = self.character(ids) + self.position[CHARACTERS - ids.shape[1] :]
        x = torch.cat([text, self.slot.expand(len(ids), -1, -1)], 1)
        unused = torch.cat([unused, unused.new_zeros(len(ids), SLOTS)], 1)
        return self.classifier(self.encoder(x, src_key_padding_mask=unused)[:, -SLOTS:])


def to_tensors(samples):
    """Returns ids (n, longest), unused (n, longest) and answers (n, 8)."""
    longest = max(len(text) for text, _ in samples)
    ids = numpy.zeros((len(samples), longest), numpy.int64)
    unused = numpy.ones((len(samples), longest), bool)
    answers = numpy.full((len(samples), SLOTS), NO_DATE, numpy.int64)
    for row, (text, digits) in enumerate(samples):
        ids[row, longest - len(text) :] = [ALPHABET.find(c) + 1 for c in text]
        unused[row, longest - len(text) :] = False
        if digits:
            answers[row] = [int(d) for d in digits]
    return torch.from_numpy(ids), torch.from_numpy(unused), torch.from_numpy(answers)


def batches(rng):
    """Yields batches without end. The texts of a batch have similar lengths, so that a batch has little padding."""
    while True:
        pool = sorted((sample(rng) for _ in range(BATCH * POOL)), key=lambda s: len(s[0]))
        cuts = list(range(0, len(pool), BATCH))
        rng.shuffle(cuts)
        for cut in cuts:
            yield to_tensors(pool[cut : cut + BATCH])


def rate(step, steps):
    if step < WARM_UP:
        return (step + 1) / WARM_UP
    return 0.5 * (1 + math.cos(math.pi * (step - WARM_UP) / (steps - WARM_UP)))


def train(model, steps, rng):
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.01}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate(step, steps))
    mean, start = 0.0, time.time()
    for step, (ids, unused, answers) in zip(range(steps), batches(rng)):
        loss = nn.functional.cross_entropy(model(ids, unused).flatten(0, 1), answers.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        schedule.step()
        mean += loss.item() / 250
        if step % 250 == 249:
            print(f"step {step + 1}: loss {mean:.5f}, {time.time() - start:.0f} s", flush=True)
            mean = 0.0


def is_day(digits):
    try:
        datetime.date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        return False
    return 1000 <= int(digits[:4]) <= 2999


@torch.no_grad()
def read(model, texts, threshold):
    """Returns the answers of the program: eight digits, or None for no date."""
    answers = []
    for i in range(0, len(texts), 500):
        ids, unused, _ = to_tensors([(text, None) for text in texts[i : i + 500]])
        sure, best = model(ids, unused).softmax(-1).max(-1)
        for row, least in zip(best.tolist(), sure.min(1).values.tolist()):
            digits = "".join(str(d) for d in row) if NO_DATE not in row else ""
            answers.append(digits if least >= threshold and is_day(digits) else None)
    return answers


def accuracy(model, samples, threshold):
    """Returns three shares (correct dates, misread dates, other texts read as dates) and the wrong texts."""
    samples = [(text, digits if digits and is_day(digits) else None) for text, digits in samples]
    got = read(model, [text for text, _ in samples], threshold)
    wrong = [(text, digits, g) for (text, digits), g in zip(samples, got) if g != digits]
    dates = sum(digits is not None for _, digits in samples)
    misread = sum(bool(digits and g) for _, digits, g in wrong)
    missed = sum(bool(digits and not g) for _, digits, g in wrong)
    taken = sum(not digits for _, digits, _ in wrong)
    shares = (1 - (misread + missed) / dates, misread / dates, taken / (len(samples) - dates))
    return shares, wrong


def held_out():
    """Returns the held-out set that held_out.py made. The texts are squeezed, as the model sees texts."""
    lines = (line.rstrip("\n").split("\t") for line in HELD_OUT.read_text().splitlines())
    return [(squeeze(text), iso.replace("-", "") or None) for text, iso in lines]


def report(model, seed):
    """Returns the lines about accuracy for the metadata of weights.safetensors, and prints the wrong texts."""
    fresh = random.Random(seed + 1_000_000)
    sets = {
        "30,000 fresh texts": [sample(fresh) for _ in range(30000)],
        "the held-out set": held_out(),
    }
    lines = []
    for name, samples in sets.items():
        shares, wrong = accuracy(model, samples, SURE_ENOUGH)
        result = "{:.2%} of dates right, {:.2%} misread, {:.2%} of other texts taken"
        lines.append(f"On {name}: {result.format(*shares)}.")
        print(lines[-1])
        for text, digits, got in wrong[:40]:
            print(f"  {text!r}: {got}, should be {digits}")
    return lines


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--steps", type=int, default=11000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--out", default="weights.safetensors")
    options = options.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    start = time.time()
    model = DateReader()
    train(model, options.steps, random.Random(options.seed))
    export.round_weights(model)
    run = (
        f"PyTorch {torch.__version__}, numpy {numpy.__version__}; seed {options.seed}, "
        f"{options.steps:,} steps, {(time.time() - start) / 60:.0f} minutes on one thread."
    )
    print(run)
    command = f"python3 train.py --steps {options.steps} --seed {options.seed}"
    facts = [run] + report(model, options.seed)
    export.write(options.out, model, command, facts, ALPHABET, SURE_ENOUGH)


if __name__ == "__main__":
    main()
