"""A softmax kernel in Triton beside PyTorch's matrix product: triton_softmax.py [rounds]."""

import sys

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(out, x, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    values = tl.load(x + row * columns + offsets, mask=inside, other=-float("inf"))
    weights = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + offsets, weights / tl.sum(weights, axis=0), mask=inside)


def main(rounds):
    x = torch.randn(4096, 2000, device="cuda")
    out = torch.empty_like(x)
    for _ in range(rounds):
        softmax_kernel[(x.shape[0],)](out, x, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        x = out @ (out.T @ out)
    torch.cuda.synchronize()
    print("finished", rounds, "rounds")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
