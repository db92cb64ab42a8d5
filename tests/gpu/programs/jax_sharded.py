"""Trains a network in JAX on batches that are shared out over all GPUs: jax_sharded.py [steps]."""

import sys

import jax
import jax.numpy as jnp
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

SIZES = (1024, 4096, 4096, 1024)


def main(steps):
    key = jax.random.PRNGKey(0)
    mesh = Mesh(jax.devices(), ("data",))
    whole, shared = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("data"))
    shapes = list(zip(SIZES, SIZES[1:]))
    weights = [jax.random.normal(jax.random.fold_in(key, i), shape) * shape[0] ** -0.5 for i, shape in enumerate(shapes)]
    weights = jax.device_put(weights, whole)
    optimizer = optax.adam(1e-4)
    state = jax.device_put(optimizer.init(weights), whole)
    batch = jax.device_put(jax.random.normal(key, (2048, SIZES[0])), shared)

    def loss_of(weights, batch):
        inner = batch
        for weight in weights:
            inner = jax.nn.gelu(inner @ weight)
        return jnp.mean((inner - batch) ** 2)

    @jax.jit
    def step(weights, state, batch):
        loss, gradients = jax.value_and_grad(loss_of)(weights, batch)
        updates, state = optimizer.update(gradients, state, weights)
        return optax.apply_updates(weights, updates), state, loss

    for _ in range(steps):
        weights, state, loss = step(weights, state, batch)
    print("finished", steps, "steps", "" if jnp.isfinite(loss) else "with a loss that is none")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
