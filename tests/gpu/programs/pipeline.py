"""Trains a transformer, half of whose layers are on each of two GPUs: pipeline.py [steps]."""

import sys

import torch
from torch import nn

WIDTH = 1024


def half_on(device):
    layers = [nn.TransformerEncoderLayer(WIDTH, 16, 4 * WIDTH, batch_first=True, dropout=0.0) for _ in range(4)]
    return nn.Sequential(*layers).to(device, torch.bfloat16)


def main(steps):
    torch.manual_seed(0)
    first, second = half_on("cuda:0"), half_on("cuda:1")
    optimizer = torch.optim.AdamW([*first.parameters(), *second.parameters()], lr=1e-5)
    for _ in range(steps):
        for _ in range(2):
            tokens = torch.randn(8, 512, WIDTH, device="cuda:0", dtype=torch.bfloat16)
            loss = second(first(tokens).to("cuda:1")).float().square().mean()
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.synchronize()
    print("finished", steps, "steps")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 80)
