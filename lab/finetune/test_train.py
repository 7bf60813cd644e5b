"""python test_train.py: the loss and the gradient of a batch with a shared prompt are those of its pairs one by one."""
import random

import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

from train import batches, common, loss_of

torch.manual_seed(1)
base = LlamaForCausalLM(LlamaConfig(vocab_size=50, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                                    num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64))
model = get_peft_model(base, LoraConfig(task_type="CAUSAL_LM", r=4, lora_dropout=0, target_modules="all-linear", init_lora_weights=False))
draw = random.Random(1)
schema = [draw.randrange(50) for _ in range(20)]
pairs = [(schema + [draw.randrange(50) for _ in range(n)], [draw.randrange(50) for _ in range(m)]) for n, m in [(3, 4), (1, 9), (5, 1)]]


def gradient(losses):
    model.zero_grad()
    sum(losses).backward()
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.requires_grad])


tokens = sum(len(a) for _, a in pairs)
together = loss_of(torch, model, pairs)
got = gradient([together])
one_by_one = []
for prompt, answer in pairs:
    logits = model(torch.tensor([prompt + answer])).logits[0, len(prompt) - 1:-1]
    one_by_one.append(torch.nn.functional.cross_entropy(logits, torch.tensor(answer), reduction="sum") / tokens)
want = gradient(one_by_one)
assert common([p for p, _ in pairs]) == 20, common([p for p, _ in pairs])
assert torch.allclose(together, sum(one_by_one), atol=1e-5), (together, sum(one_by_one))
assert got.abs().max() > 1e-3 and torch.allclose(got, want, atol=1e-5), (got - want).abs().max()
assert common([[1, 2], [1, 2]]) == 1 and common([[1], [2]]) == 0
alone = loss_of(torch, model, [([7], [8, 9])])  # nothing is shared
assert torch.isfinite(alone)
made = batches(pairs * 5, 4, random.Random(1))
assert sorted(map(len, made)) == [3, 4, 4, 4] and sorted(p for b in made for p in b) == sorted(pairs * 5)
print("ok")
