"""A matrix product and a softmax in Triton, one after the other: triton_product.py [rounds]."""

import sys

import torch
import triton
import triton.language as tl


@triton.jit
def product_kernel(a, b, c, m, n, k, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        left = tl.load(a + rows[:, None] * k + (start + inner)[None, :])
        right = tl.load(b + (start + inner)[:, None] * n + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16))


@triton.jit
def softmax_kernel(out, x, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    values = tl.load(x + row * columns + offsets, mask=inside, other=-float("inf")).to(tl.float32)
    weights = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + offsets, (weights / tl.sum(weights, axis=0)).to(tl.float16), mask=inside)


def main(rounds):
    size = 2048
    torch.manual_seed(0)
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.float16) for _ in range(2))
    c, out = torch.empty_like(a), torch.empty_like(a)
    for _ in range(rounds):
        product_kernel[(size // 128, size // 64)](a, b, c, size, size, size, BLOCK_M=128, BLOCK_N=64, BLOCK_K=64)
        softmax_kernel[(size,)](out, c, size, BLOCK=size)
    torch.cuda.synchronize()
    print("finished", rounds, "rounds")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3000)
