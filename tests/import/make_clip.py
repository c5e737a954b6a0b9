# SPDX-License-Identifier: Apache-2.0
"""Makes a tiny CLIP with random weights in the folder OUT, and records its results as record_sample.py does.

    python make_clip.py OUT

Needs torch 2.15 and transformers 5.24 (pip install torch==2.15.0 transformers==5.24.0 safetensors). CI does not run
this script, which has made the folder `clip`. No published weights are used.
"""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "families"))
sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools/export"))

import make_vectors
import record_sample
import torch
import transformers
from safetensors.torch import save_file

SIZES = dict(hidden_size=16, intermediate_size=24, num_hidden_layers=1, num_attention_heads=2)

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    torch.manual_seed(5)
    model = transformers.CLIPModel(
        transformers.CLIPConfig(
            text_config=dict(SIZES, vocab_size=24, max_position_embeddings=32, bos_token_id=1, eos_token_id=2),
            vision_config=dict(SIZES, hidden_size=24, image_size=8, patch_size=4),
            projection_dim=12,
        )
    )
    make_vectors.randomise(model)
    model.save_pretrained(folder)
    save_file(record_sample.record(folder), folder / "io.safetensors")
