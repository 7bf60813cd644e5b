"""Loads a base model for train.py and serve.py: 4 bit where the machine has a GPU, else 32 bit on the processor."""
import pathlib

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig


def load(name):
    """name is a model of a hub, a folder, or a GGUF file. Returns the model, its tokenizer and what the weights are."""
    where, options = name, {}
    if name.endswith(".gguf"):
        where, options["gguf_file"] = str(pathlib.Path(name).parent), pathlib.Path(name).name
    tokenizer = AutoTokenizer.from_pretrained(where, **options)
    if torch.cuda.is_available() and "gguf_file" not in options:
        kind = "4 bit (nf4, double)"
        options["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True, bnb_4bit_compute_dtype=torch.bfloat16)
    else:
        kind, options["dtype"] = "32 bit", torch.float32
    return AutoModelForCausalLM.from_pretrained(where, attn_implementation="sdpa", **options), tokenizer, kind


def prompt_text(tokenizer, messages):
    """The text of a request, as training and serving both write it."""
    return tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
