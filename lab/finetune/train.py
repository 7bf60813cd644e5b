#!/usr/bin/env python3
"""Trains a LoRA adapter on a file of the verb export: QLoRA where the machine has a GPU, plain LoRA on the processor.

    python train.py train.jsonl --model MODEL --out adapter

The loss is that of the last message, the statement, alone. What the prompts of a batch have in common, which is the
schema, is read once a batch and not once a pair: the gradient is the same, and a processor can do it. The values are
those of the manifest unless a flag says otherwise. The adapter's folder gets a copy of the manifest, which
`evaluate run --manifest` checks a run against.
"""
import argparse
import json
import math
import os
import pathlib
import random
import shutil
import signal
import sys
import time

import chatdata


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("file")
    p.add_argument("--model", help="a model of a hub, a folder, or a GGUF file")
    p.add_argument("--out", default="adapter", help="folder of the adapter")
    p.add_argument("--check", action="store_true", help="read the file and its manifest, and no more")
    p.add_argument("--epochs", type=float)
    p.add_argument("--rank", type=int)
    p.add_argument("--alpha", type=float)
    p.add_argument("--dropout", type=float)
    p.add_argument("--modules", help="names of layers, by commas; all-linear is a name too")
    p.add_argument("--rate", type=float, help="learning rate")
    p.add_argument("--batch", type=int, help="pairs a step; default: batch × accumulation of the manifest")
    p.add_argument("--minutes", type=float, default=0, help="stop after the step that passes this time, as at SIGTERM, and keep what was learned; 0: never")
    p.add_argument("--seed", type=int, default=1)
    return p.parse_args()


def settings(args, manifest):
    """The manifest's values with the flags on top."""
    t = manifest.get("training", {})
    pick = lambda given, default: default if given is None else given
    modules = args.modules.split(",") if args.modules else t.get("target_modules", ["q_proj", "v_proj"])
    return {
        "epochs": pick(args.epochs, t.get("epochs", 3)), "r": pick(args.rank, t.get("lora_r", 32)),
        "lora_alpha": pick(args.alpha, t.get("lora_alpha", 64)), "lora_dropout": pick(args.dropout, t.get("lora_dropout", .05)),
        "target_modules": modules[0] if modules == ["all-linear"] else modules, "rate": pick(args.rate, t.get("learning_rate", 1e-4)),
        "batch": pick(args.batch, t.get("batch", 1) * t.get("accumulation", 8)), "warmup": t.get("warmup", .05),
    }


def common(rows):
    """How many tokens all prompts begin with; each keeps at least its last one."""
    n = min(len(r) for r in rows) - 1
    for i in range(n):
        if any(r[i] != rows[0][i] for r in rows):
            return i
    return n


def loss_of(torch, model, batch):
    """The mean loss of the answers of a batch of (prompt, answer), token ids both."""
    device, inner, n = model.device, model.get_base_model(), common([p for p, _ in batch])
    past = None
    if n > 0:
        past = inner.model(input_ids=torch.tensor([batch[0][0][:n]], device=device), use_cache=True).past_key_values
        past.batch_repeat_interleave(len(batch))
    rows = [p[n:] + a for p, a in batch]
    width = max(map(len, rows))
    ids, labels, mask = [], [], []
    for (prompt, answer), row in zip(batch, rows):
        pad = width - len(row)
        ids.append(row + [0] * pad)
        labels.append([-100] * (len(prompt) - n) + answer + [-100] * pad)
        mask.append([1] * (n + len(row)) + [0] * pad)
    ids, labels, mask = (torch.tensor(x, device=device) for x in (ids, labels, mask))
    hidden = inner.model(input_ids=ids, attention_mask=mask, past_key_values=past, use_cache=past is not None).last_hidden_state
    wanted = labels[:, 1:] != -100
    logits = inner.lm_head(hidden[:, :-1][wanted]).float()
    return torch.nn.functional.cross_entropy(logits, labels[:, 1:][wanted])


def batches(pairs, size, draw):
    """One epoch by chance, in batches of pairs whose lengths are alike, since the shorter ones are filled up."""
    order, made = draw.sample(pairs, len(pairs)), []
    for i in range(0, len(order), 4 * size):
        group = sorted(order[i:i + 4 * size], key=lambda pair: len(pair[0]) + len(pair[1]))
        made += [group[j:j + size] for j in range(0, len(group), size)]
    draw.shuffle(made)
    return made


def main():
    args = arguments()
    lines, manifest = chatdata.read(args.file)
    s = settings(args, manifest)
    print(f"{len(lines)} pairs, {manifest['k']} exemplars a prompt, prompt {manifest['prompt_hash'][:12]}; {json.dumps(s)}", flush=True)
    if args.check:
        return
    if not args.model:
        sys.exit("train.py: --model: which base model?")
    import torch
    from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
    from model import load, prompt_text

    torch.manual_seed(args.seed)
    torch.set_num_threads(int(os.environ.get("THREADS", os.cpu_count())))
    base, tokenizer, kind = load(args.model)
    if kind.startswith("4"):
        base = prepare_model_for_kbit_training(base, use_gradient_checkpointing=False)
    model = get_peft_model(base, LoraConfig(task_type="CAUSAL_LM", **{k: s[k] for k in ("r", "lora_alpha", "lora_dropout", "target_modules")}))
    trained, every = model.get_nb_trainable_parameters()
    pairs = []
    for messages in lines:
        prompt, whole = prompt_text(tokenizer, messages[:-1]), tokenizer.apply_chat_template(messages, tokenize=False)
        if not whole.startswith(prompt):
            sys.exit("train.py: the chat template of this model writes a finished answer in another way than a request")
        encode = lambda text: tokenizer(text, add_special_tokens=False).input_ids
        pairs.append((encode(prompt), encode(whole[len(prompt):])))
    print(f"{args.model}, {kind}, {torch.get_num_threads()} threads: {trained:,} of {every:,} weights are trained; "
          f"{max(len(p) + len(a) for p, a in pairs)} tokens at most", flush=True)

    steps = math.ceil(math.ceil(len(pairs) / s["batch"]) * s["epochs"])
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=s["rate"])
    warmup = max(1, round(s["warmup"] * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda i: min((i + 1) / warmup, max(0., (steps - i) / max(1, steps - warmup))))
    stop = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.append("it was told to stop"))
    queue, draw, start, done = [], random.Random(args.seed), time.time(), 0
    model.train()
    while done < steps and not stop:
        queue = queue or batches(pairs, s["batch"], draw)
        loss = loss_of(torch, model, queue.pop())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        done += 1
        seconds = time.time() - start
        print(f"step {done} of {steps}: loss {loss.item():.3f}, {seconds:.0f} s", flush=True)
        if args.minutes and seconds > 60 * args.minutes:
            stop.append("the time is up")
    print(f"{done} of {steps} steps" + "".join(": " + why for why in stop[:1]), flush=True)
    model.save_pretrained(args.out)
    shutil.copy(chatdata.manifest_path(args.file), pathlib.Path(args.out) / "manifest.json")
    (pathlib.Path(args.out) / "training.json").write_text(json.dumps(
        {**s, "model": args.model, "weights": kind, "steps": done, "planned_steps": steps, "seconds": round(time.time() - start), "seed": args.seed}, indent=2))


if __name__ == "__main__":
    try:
        main()
    except chatdata.DataError as e:
        sys.exit(f"train.py: {e}")
