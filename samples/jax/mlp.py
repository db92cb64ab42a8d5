#!/usr/bin/env python3
"""Trains a small network of dense layers on generated data: a JAX program to profile.

XLA marks each compiled program it runs, and each operation of it, as NVTX ranges of its domain TSL, with nothing to be
switched on. Everything on stdout is bit-identical from run to run with the same arguments on the same machine; timing,
which is not, goes to stderr.
"""

import argparse
import os
import sys
import time

# Read when JAX is imported: results that do not depend on scheduling.
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_gpu_deterministic_ops=true"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

INPUTS, CLASSES = 1024, 10


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch_size", type=positive, default=256)
    parser.add_argument("--iters", type=positive, default=20, help="training iterations")
    parser.add_argument("--width", type=positive, default=2048, help="of the two hidden layers")
    parser.add_argument("--lr", type=float, default=0.02, help="learning rate")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--print_every", type=positive, default=5, help="iterations between two printed losses; each print waits for the GPU"
    )
    return parser.parse_args()


def make_weights(key, width):
    sizes = (INPUTS, width, width, CLASSES)
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        (jax.random.normal(one, (inputs, outputs)) * (2.0 / inputs) ** 0.5, jnp.zeros(outputs))
        for one, inputs, outputs in zip(keys, sizes, sizes[1:])
    ]


def make_batch(key, batch_size):
    """Inputs and labels that a network can learn: the class shifts one part of the input."""
    label_key, input_key = jax.random.split(key)
    labels = jax.random.randint(label_key, (batch_size,), 0, CLASSES)
    part = INPUTS // CLASSES
    shifted = (jnp.arange(INPUTS)[None, :] // part) == labels[:, None]
    return jax.random.normal(input_key, (batch_size, INPUTS)) + shifted, labels


def loss_of(weights, inputs, labels):
    *hidden, last = weights
    for matrix, bias in hidden:
        inputs = jax.nn.relu(inputs @ matrix + bias)
    scores = jax.nn.log_softmax(inputs @ last[0] + last[1])
    return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], axis=1))


@jax.jit
def train_step(weights, inputs, labels, rate):
    loss, gradients = jax.value_and_grad(loss_of)(weights, inputs, labels)
    return jax.tree_util.tree_map(lambda weight, gradient: weight - rate * gradient, weights, gradients), loss


def main():
    arguments = parse_arguments()
    if jax.default_backend() != "gpu":
        print(f"mlp.py: JAX sees no GPU and runs on {jax.default_backend()}", file=sys.stderr)
    weight_key, data_key = jax.random.split(jax.random.PRNGKey(arguments.seed))
    weights = make_weights(weight_key, arguments.width)
    inputs, labels = make_batch(data_key, arguments.batch_size)
    start = time.perf_counter()
    for iteration in range(1, arguments.iters + 1):
        weights, loss = train_step(weights, inputs, labels, arguments.lr)
        if iteration % arguments.print_every == 0 or iteration == arguments.iters:
            print(f"iteration {iteration} loss {float(loss).hex()}")
    print(f"seconds {time.perf_counter() - start:.2f}, compiling included", file=sys.stderr)


if __name__ == "__main__":
    main()
