# SPDX-License-Identifier: Apache-2.0
"""Records inputs of a model of Hugging Face's transformers, and what the original computes from them.

    python3 record_sample.py FOLDER OUT.safetensors

FOLDER         config.json and the weights, as save_pretrained writes them
OUT            gets the tensors given.NAME (random inputs), last (the last hidden state of the first item), answer (the
               logits, if config.json names an architecture For...Classification...), and pooled (the output of the
               pooler, if the model reads images and has no head). Of a model with a stack for texts and another
               for images (CLIP): last_text, answer_text (the vector), last_vision and answer_vision

Needs torch, transformers and safetensors. `./dev import FOLDER --check` runs this script if FOLDER has no
io.safetensors.
"""

import inspect
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"  # reads only FOLDER

import torch
import transformers
from safetensors.torch import save_file

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()

TOKENS, SAMPLES = 8, 16000


def first(values):
    return values[0] if isinstance(values, (list, tuple)) else values


def sizes_of(size):
    return list(size) if isinstance(size, (list, tuple)) else [size, size]


def inputs_of(model, config):
    """Returns random inputs. The ids leave out the lowest, which are often special tokens."""
    random = torch.Generator().manual_seed(7)
    vocabulary = getattr(config, "vocab_size", None) or TOKENS
    ids = torch.randint(min(5, vocabulary - 1), vocabulary, (1, TOKENS), generator=random)
    name = model.main_input_name
    if name == "input_ids":
        inputs = {name: ids}
    elif name == "pixel_values":
        channels = getattr(config, "num_channels", 3)
        frames = [config.num_frames] if hasattr(config, "num_frames") else []
        inputs = {name: torch.randn(1, *frames, channels, *sizes_of(config.image_size), generator=random)}
    elif name == "input_features" and hasattr(config, "max_source_positions"):
        inputs = {name: torch.randn(1, config.num_mel_bins, 2 * config.max_source_positions, generator=random)}
    elif name == "input_values" and hasattr(config, "num_mel_bins"):
        inputs = {name: torch.randn(1, config.max_length, config.num_mel_bins, generator=random)}
    elif name == "input_values":
        inputs = {name: torch.randn(1, SAMPLES, generator=random)}
    else:
        raise SystemExit(
            f"record_sample: no inputs are known for {config.model_type}, whose input is {name}: "
            "name a file with recorded inputs"
        )
    types = getattr(config, "type_vocab_size", None) or 1
    if name == "input_ids" and types > 1 and "token_type_ids" in inspect.signature(model.forward).parameters:
        inputs["token_type_ids"] = (torch.arange(TOKENS) * types // TOKENS).unsqueeze(0)
    if config.is_encoder_decoder:
        inputs["decoder_input_ids"] = ids[:, : TOKENS // 2]
    return inputs


def inputs_of_both(config):
    """Returns random inputs of a stack for texts and a stack for images. CLIP ends a text at the id eos_token_id, or
    at the largest id if eos_token_id is 2."""
    random = torch.Generator().manual_seed(7)
    text, vision = config.text_config, config.vision_config
    ids = torch.randint(min(5, text.vocab_size - 2), text.vocab_size - 1, (1, TOKENS), generator=random)
    ids[0, -1] = text.eos_token_id if 2 != text.eos_token_id < text.vocab_size else text.vocab_size - 1
    image = (1, vision.num_channels, *sizes_of(vision.image_size))
    return {"input_ids": ids, "pixel_values": torch.randn(image, generator=random)}


def record_both(model, config):
    """Returns the inputs and results of such a model. Vectors have the length 1."""
    inputs = inputs_of_both(config)
    with torch.no_grad():
        output = model(**inputs)
    found = {"given." + name: value.contiguous() for name, value in inputs.items()}
    for name, stack, vector in (
        ("text", output.text_model_output, output.text_embeds),
        ("vision", output.vision_model_output, output.image_embeds),
    ):
        found["last_" + name] = rows(stack.last_hidden_state)
        found["answer_" + name] = vector[0].float().contiguous()
    return found


def rows(tensor):
    """Returns the first item of a batch as [rows][width]. An image [channels][height][width] becomes rows of pixels."""
    item = tensor[0].float()
    return (item.flatten(1).T if item.dim() == 3 else item).contiguous()


def record(folder):
    config = transformers.AutoConfig.from_pretrained(folder)
    model, loaded = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    model.eval()
    if hasattr(config, "text_config") and hasattr(config, "vision_config"):
        return record_both(model, config)
    inputs = inputs_of(model, config)
    found = {"given." + name: value.contiguous() for name, value in inputs.items()}
    architecture = first(config.architectures or [""])
    with torch.no_grad():
        output = model(**inputs)
        found["last"] = rows(output.last_hidden_state)
        pooled = getattr(output, "pooler_output", None)
        # A pooler that the checkpoint lacks has random weights.
        if pooled is not None and "pixel_values" in inputs and "For" not in architecture and not loaded["missing_keys"]:
            found["pooled"] = pooled[0].float().clone()  # it may be a row of last
        if "Classification" in architecture:
            whole = getattr(transformers, architecture).from_pretrained(folder, dtype=torch.float32).eval()
            found["answer"] = whole(**inputs).logits[0].float().contiguous()
    return found


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    save_file(record(sys.argv[1]), sys.argv[2])
