"""Blurs and sorts arrays with CuPy: cupy_blur.py [rounds]."""

import sys

import cupy


def main(rounds):
    picture = cupy.random.default_rng(0).random((2048, 2048), dtype=cupy.float32)
    for _ in range(rounds):
        blurred = sum(cupy.roll(picture, shift, axis) for shift in (-1, 1) for axis in (0, 1)) / 4
        rows = cupy.sort(blurred, axis=1)
        picture = blurred @ rows.T / 2048
    cupy.cuda.Device().synchronize()
    print("finished", rounds, "rounds")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
