"""Trains a GRU on random characters with JAX and optax, lax.scan over time: gru_scan.py [steps]."""

import sys

import jax
import jax.numpy as jnp
import optax

WIDTH, CHARACTERS, BATCH, LENGTH = 256, 100, 64, 64


def weights(key):
    shapes = {
        "embed": (CHARACTERS, WIDTH),
        "inputs": (WIDTH, 3 * WIDTH),
        "state": (WIDTH, 3 * WIDTH),
        "head": (WIDTH, CHARACTERS),
    }
    keys = jax.random.split(key, len(shapes))
    return {name: jax.random.normal(keys[i], shape) * 0.05 for i, (name, shape) in enumerate(shapes.items())}


def cell(weights, state, characters):
    inputs, inner = weights["embed"][characters] @ weights["inputs"], state @ weights["state"]
    reset, update = (jax.nn.sigmoid(inputs[:, at] + inner[:, at]) for at in (slice(0, WIDTH), slice(WIDTH, 2 * WIDTH)))
    new = jnp.tanh(inputs[:, 2 * WIDTH :] + reset * inner[:, 2 * WIDTH :])
    return (1 - update) * new + update * state


def loss_of(weights, text):
    def step(state, characters):
        state = cell(weights, state, characters)
        return state, state @ weights["head"]

    _, predicted = jax.lax.scan(step, jnp.zeros((BATCH, WIDTH)), text[:-1])
    return optax.softmax_cross_entropy_with_integer_labels(predicted, text[1:]).mean()


def main(steps):
    key = jax.random.PRNGKey(0)
    trained, optimizer = weights(key), optax.adam(1e-3)
    state = optimizer.init(trained)
    text = jax.random.randint(key, (LENGTH + 1, BATCH), 0, CHARACTERS)

    @jax.jit
    def step(trained, state):
        loss, gradients = jax.value_and_grad(loss_of)(trained, text)
        updates, state = optimizer.update(gradients, state, trained)
        return optax.apply_updates(trained, updates), state, loss

    for _ in range(steps):
        trained, state, loss = step(trained, state)
    print("finished", steps, "steps", "" if jnp.isfinite(loss) else "with a loss that is none")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
