#!/usr/bin/env python3
"""Serves a base model and one adapter on loopback, over the OpenAI wire format, each under a name of its own.

    python serve.py --model MODEL --base NAME --adapter FOLDER --name NAME --port 8123

It is for trying an adapter out: one request at a time, chat completions without streaming, an unknown model is a 404.
For more, give the adapter to a server that is made for it (vLLM, llama.cpp).
"""
import argparse
import http.server
import json
import os
import threading
import time

import torch
from peft import PeftModel

from model import load, prompt_text


class Served:
    """One model with the adapter on or off. It keeps the last prompt's states, since schemas repeat."""

    def __init__(self, args):
        base, self.tokenizer, self.kind = load(args.model)
        self.names = {args.base: False}
        self.model = base
        if args.adapter:
            self.model = PeftModel.from_pretrained(base, args.adapter)
            self.names[args.name] = True
        self.model.eval()
        self.kept = {}  # by name: token ids and the states of them
        self.lock = threading.Lock()

    @torch.inference_mode()
    def complete(self, name, messages, most, temperature):
        text = prompt_text(self.tokenizer, messages)
        ids = self.tokenizer(text, add_special_tokens=False).input_ids
        before, past = self.kept.pop(name, ([], None))
        n = 0
        while n < min(len(before), len(ids) - 1) and before[n] == ids[n]:
            n += 1
        cut(past, n)
        made, stop = [], "length"
        fresh = ids[n:]
        while len(made) < most:
            out = self.model(input_ids=torch.tensor([fresh], device=self.model.device), past_key_values=past, use_cache=True,
                             logits_to_keep=1)
            past, logits = out.past_key_values, out.logits[0, -1].float()
            token = int(logits.argmax() if temperature <= 0 else torch.multinomial((logits / temperature).softmax(-1), 1))
            if token == self.tokenizer.eos_token_id:
                stop = "stop"
                break
            made.append(token)
            fresh = [token]
        cut(past, len(ids))
        self.kept[name] = (ids, past)
        return self.tokenizer.decode(made, skip_special_tokens=True), stop, len(ids), len(made)

    def answer(self, name, *rest):
        with self.lock:
            if self.names[name] or not hasattr(self.model, "disable_adapter"):
                return self.complete(name, *rest)
            with self.model.disable_adapter():
                return self.complete(name, *rest)


def cut(past, length):
    """Forgets the states behind length tokens. A negative number is what every version of transformers takes."""
    if past is not None and past.get_seq_length() > length:
        past.crop(length - past.get_seq_length())


class Handler(http.server.BaseHTTPRequestHandler):
    served = None
    most = 512

    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def fail(self, status, code, text):
        self.reply(status, {"error": {"message": text, "type": "invalid_request_error", "code": code}})

    def do_GET(self):
        self.reply(200, {"object": "list", "data": [{"id": n, "object": "model"} for n in self.served.names]})

    def do_POST(self):
        try:
            r = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            name, messages = r["model"], [{"role": m["role"], "content": text_of(m["content"])} for m in r["messages"]]
        except (ValueError, KeyError, TypeError) as e:
            return self.fail(400, "bad_request", f"no chat completion: {e}")
        if name not in self.served.names:
            return self.fail(404, "model_not_found", f"The model `{name}` does not exist; there are {', '.join(self.served.names)}")
        most = min(r.get("max_completion_tokens") or r.get("max_tokens") or self.most, self.most)
        try:
            text, stop, read, written = self.served.answer(name, messages, most, r.get("temperature", 0) or 0)
        except Exception as e:  # one request must not end the others
            return self.fail(500, "failed", f"{type(e).__name__}: {e}")
        self.reply(200, {
            "id": "local", "object": "chat.completion", "created": int(time.time()), "model": name,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": stop}],
            "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
        })

    def log_message(self, *args):
        pass


def text_of(content):
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--model", required=True, help="the model that was trained on: of a hub, a folder, or a GGUF file")
    p.add_argument("--base", default="base", help="name under which it answers without the adapter")
    p.add_argument("--adapter", help="folder of train.py; none: the base model alone")
    p.add_argument("--name", default="adapter", help="name under which it answers with the adapter")
    p.add_argument("--port", type=int, default=8123)
    p.add_argument("--most", type=int, default=512, help="tokens of a reply at most")
    args = p.parse_args()
    torch.set_num_threads(int(os.environ.get("THREADS", os.cpu_count())))
    Handler.served, Handler.most = Served(args), args.most
    server = http.server.ThreadingHTTPServer(("127.0.0.1", args.port), Handler)
    print(f"ready http://127.0.0.1:{args.port}/v1 ({Handler.served.kind}; models {', '.join(Handler.served.names)})", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
