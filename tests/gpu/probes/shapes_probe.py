#!/usr/bin/env python3
"""shapes_probe.py STEPS: trains a small encoder on sequences whose length is drawn anew for each step, and prints its loss.

No two steps in a row launch alike, as in a program that trains on texts: grids, and the kernels that libraries choose, follow the
length.
"""

import os
import random
import sys

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch  # noqa: E402
from torch import nn  # noqa: E402

WIDTH, HEADS, BATCH, LONGEST = 256, 4, 8, 512


def main():
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True)
    lengths = random.Random(0)
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for step in range(1, int(sys.argv[1]) + 1):
        inputs = torch.randn((BATCH, 8 * lengths.randint(1, LONGEST // 8), WIDTH), device="cuda")
        optimizer.zero_grad(set_to_none=True)
        loss = (model(inputs) - inputs).square().mean()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(f"step {step} loss {loss.item()!r}", flush=True)


if __name__ == "__main__":
    main()
