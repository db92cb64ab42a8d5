#!/usr/bin/env python3
"""Multiplies two large square bf16 matrices in PyTorch: bf16_product.py SIZE. Its arithmetic is 2 * SIZE ** 3 operations."""

import sys

import torch

PRODUCTS = 5


def main():
    size = int(sys.argv[1])
    left, right = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    for _ in range(PRODUCTS):
        product = left @ right
    print(f"first element {product[0, 0].item():.6g}")


if __name__ == "__main__":
    main()
