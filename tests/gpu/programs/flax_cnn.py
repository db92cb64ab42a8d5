"""Trains a small CNN with flax and optax on random pictures: flax_cnn.py [steps]."""

import sys

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn


class Cnn(nn.Module):
    @nn.compact
    def __call__(self, pictures):
        for channels in (32, 64):
            pictures = nn.avg_pool(nn.relu(nn.Conv(channels, (3, 3))(pictures)), (2, 2), (2, 2))
        return nn.Dense(10)(nn.relu(nn.Dense(256)(pictures.reshape((pictures.shape[0], -1)))))


def main(steps):
    model, key = Cnn(), jax.random.PRNGKey(0)
    weights = model.init(key, jnp.ones((1, 32, 32, 3)))
    optimizer = optax.adam(1e-3)
    state = optimizer.init(weights)

    @jax.jit
    def step(weights, state, pictures, labels):
        def loss_of(weights):
            return optax.softmax_cross_entropy_with_integer_labels(model.apply(weights, pictures), labels).mean()

        loss, gradients = jax.value_and_grad(loss_of)(weights)
        updates, state = optimizer.update(gradients, state)
        return optax.apply_updates(weights, updates), state, loss

    for number in range(steps):
        pictures = jax.random.normal(jax.random.fold_in(key, number), (256, 32, 32, 3))
        weights, state, loss = step(weights, state, pictures, jnp.zeros(256, jnp.int32))
    jax.block_until_ready(loss)
    print("finished", steps, "steps")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
