#!/usr/bin/env python3
"""Trains a decoder-only transformer on generated text: a PyTorch program of many launches to profile.

Its shape is that of GPT-2 medium (24 layers, width 1024, 16 heads), with a small vocabulary. A training step launches some
2,900 kernels of about a hundred launch configurations. Everything on stdout is bit-identical from run to run with the same
arguments on the same machine; timing, which is not, goes to stderr.
"""

import argparse
import sys

# Before torch: it sets what cuBLAS reads.
from training import StepClock, add_launch_options, graphed, make_deterministic, positive, weights_checksum
import torch
from torch import nn

BATCHES_KEPT = 4  # distinct batches, used in turn
SHORTEST = 8  # tokens of a batch with --vary_length: lengths are multiples of it


class Block(nn.Module):
    """Attention and a multilayer perceptron, each behind a norm and around it a residual (Radford et al. 2019)."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.projections = nn.Linear(width, 3 * width)
        self.attention_out = nn.Linear(width, width)
        self.mlp_norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, hidden):
        hidden = hidden + self.attend(self.attention_norm(hidden))
        return hidden + self.mlp(self.mlp_norm(hidden))

    def attend(self, hidden):
        batch, length, width = hidden.shape
        projected = self.projections(hidden).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = projected.permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.attention_out(mixed.transpose(1, 2).reshape(batch, length, width))


class Transformer(nn.Module):
    def __init__(self, arguments):
        super().__init__()
        self.tokens = nn.Embedding(arguments.vocabulary, arguments.width)
        self.positions = nn.Embedding(arguments.length, arguments.width)
        self.blocks = nn.ModuleList(Block(arguments.width, arguments.heads) for _ in range(arguments.layers))
        self.norm = nn.LayerNorm(arguments.width)
        self.out = nn.Linear(arguments.width, arguments.vocabulary, bias=False)

    def forward(self, tokens):
        hidden = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            hidden = block(hidden)
        return self.out(self.norm(hidden))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch_size", type=positive, default=8)
    parser.add_argument("--layers", type=positive, default=24)
    parser.add_argument("--width", type=positive, default=1024)
    parser.add_argument("--heads", type=positive, default=16)
    parser.add_argument("--length", type=positive, default=256, help="tokens of a sequence")
    parser.add_argument("--vary_length", action="store_true", help="sequences of another length in each iteration")
    parser.add_argument("--vocabulary", type=positive, default=8192)
    parser.add_argument("--fp32", action="store_true", help="no bf16 autocast")
    add_launch_options(parser)
    parser.add_argument("--iters", type=positive, default=20, help="training iterations")
    parser.add_argument("--lr", type=float, default=3e-4, help="learning rate of AdamW")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda")
    parser.add_argument(
        "--print_every", type=positive, default=5, help="iterations between two printed losses; each print waits for the GPU"
    )
    arguments = parser.parse_args()
    if arguments.width % arguments.heads:
        parser.error("--width must be a multiple of --heads")
    if arguments.graph and (arguments.vary_length or not arguments.device.startswith("cuda")):
        parser.error("--graph needs --device cuda, and sequences of one length")
    return arguments


def make_batches(arguments, device):
    """Text that can be learned: each token follows from the one before it, but for one in ten."""
    generator = torch.Generator().manual_seed(arguments.seed)
    shape = (arguments.batch_size, arguments.length + 1)
    successor = torch.randperm(arguments.vocabulary, generator=generator)
    batches = []
    for _ in range(BATCHES_KEPT):
        tokens = torch.randint(arguments.vocabulary, shape, generator=generator)
        surprises = torch.rand(shape, generator=generator) < 0.1
        for place in range(1, shape[1]):
            tokens[:, place] = torch.where(surprises[:, place], tokens[:, place], successor[tokens[:, place - 1]])
        batches.append(tokens.to(device))
    return batches


def lengths(arguments):
    """The number of tokens of each iteration."""
    generator = torch.Generator().manual_seed(arguments.seed)
    most = max(1, arguments.length // SHORTEST)
    while True:
        drawn = int(torch.randint(1, most + 1, (), generator=generator)) * SHORTEST
        yield min(arguments.length, drawn) if arguments.vary_length else arguments.length


def train(arguments, device):
    model = Transformer(arguments).to(device)
    batches = make_batches(arguments, device)
    forward = graphed(model, batches[0][:, :-1], not arguments.fp32) if arguments.graph else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=arguments.lr, fused=arguments.fused or None)
    clock = StepClock(device, arguments.batch_size)
    for iteration, length in zip(range(1, arguments.iters + 1), lengths(arguments)):
        tokens = batches[iteration % BATCHES_KEPT][:, : length + 1]
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=not arguments.fp32):
            scores = forward(tokens[:, :-1])
            loss = nn.functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        clock.step()
        if iteration % arguments.print_every == 0 or iteration == arguments.iters:
            print(f"iteration {iteration} loss {loss.item():.17g}")
            clock.wait()
    print(clock.report(), file=sys.stderr)
    return model


def main():
    arguments = parse_arguments()
    device = torch.device(arguments.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        sys.exit("transformer.py: PyTorch sees no CUDA device; run with --device cpu, or check nvidia-smi")
    make_deterministic(arguments.seed)
    model = train(arguments, device)
    print(f"weights {weights_checksum(model):016x}")


if __name__ == "__main__":
    main()
