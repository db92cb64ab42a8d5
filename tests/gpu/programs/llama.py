"""Trains a small Llama of transformers on random tokens: llama.py [steps] [--compile] [--reduce-overhead] [--lengths]."""

import random
import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM


def main(steps, mode, lengths):
    torch.manual_seed(0)
    random.seed(0)
    config = LlamaConfig(
        vocab_size=8192,
        hidden_size=1024,
        intermediate_size=2816,
        num_hidden_layers=8,
        num_attention_heads=16,
        num_key_value_heads=8,
        max_position_embeddings=1024,
    )
    model = LlamaForCausalLM(config).cuda().to(torch.bfloat16).train()
    step_of = torch.compile(model, mode=mode) if mode else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(steps):
        length = random.randrange(64, 513, 8) if lengths else 512
        tokens = torch.randint(0, config.vocab_size, (8, length), device="cuda")
        loss = step_of(input_ids=tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.synchronize()
    print("finished", steps, "steps")


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    chosen = "reduce-overhead" if "--reduce-overhead" in sys.argv else "default" if "--compile" in sys.argv else ""
    main(numbers[0] if numbers else 40, chosen, "--lengths" in sys.argv)
