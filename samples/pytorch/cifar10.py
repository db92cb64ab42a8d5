#!/usr/bin/env python3
"""Trains a small CNN on generated pictures of CIFAR-10's shape: a PyTorch program to profile.

The network is that of the TensorFlow 2 CIFAR-10 example that ALCF's profiling tutorials use: two convolutions, a pool,
and two dense layers, whose GEMM kernels change with --batch_size. Everything on stdout is bit-identical from run to run
with the same arguments on the same machine; timing, which is not, goes to stderr.
"""

import argparse
import sys

# Before torch: it sets what cuBLAS reads.
from training import StepClock, add_launch_options, graphed, make_deterministic, positive, weights_checksum
import torch
from torch import nn

IMAGE_SHAPE = (3, 32, 32)
CLASSES = 10
BATCHES_KEPT = 4  # distinct batches, used in turn


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 32, 3),
            nn.ReLU(),
            nn.Conv2d(32, 64, 3),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Dropout(0.25),
            nn.Flatten(),
        )
        self.classifier = nn.Sequential(
            nn.Linear(64 * 14 * 14, 128),
            nn.ReLU(),
            nn.Dropout(0.5),
            nn.Linear(128, CLASSES),
        )

    def forward(self, images):
        return self.classifier(self.features(images))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch_size", type=positive, default=128)
    parser.add_argument("--amp", action="store_true", help="bf16 autocast for the forward pass")
    parser.add_argument("--channels_last", action="store_true", help="pictures and filters in NHWC")
    add_launch_options(parser)
    parser.add_argument("--iters", type=positive, default=20, help="training iterations")
    parser.add_argument("--lr", type=float, default=1e-3, help="learning rate of Adam")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda")
    parser.add_argument(
        "--print_every", type=positive, default=5, help="iterations between two printed losses; each print waits for the GPU"
    )
    arguments = parser.parse_args()
    if arguments.graph and not arguments.device.startswith("cuda"):
        parser.error("--graph needs --device cuda")
    return arguments


def make_batches(batch_size, seed, device, layout=torch.contiguous_format):
    """Pictures and labels that a network can learn: the class shifts the mean of one region of the picture."""
    generator = torch.Generator().manual_seed(seed)
    batches = []
    for _ in range(BATCHES_KEPT):
        labels = torch.randint(CLASSES, (batch_size,), generator=generator)
        images = torch.randn((batch_size, *IMAGE_SHAPE), generator=generator)
        channels, rows = torch.arange(IMAGE_SHAPE[0])[None, :, None, None], torch.arange(IMAGE_SHAPE[1])[None, None, :, None]
        label = labels[:, None, None, None]
        images += (channels == label % 3) & (rows // 3 == label)
        batches.append((images.to(device, memory_format=layout), labels.to(device)))
    return batches


def train(arguments, device):
    layout = torch.channels_last if arguments.channels_last else torch.contiguous_format
    model = Cnn().to(device, memory_format=layout)
    batches = make_batches(arguments.batch_size, arguments.seed, device, layout)
    forward = graphed(model, batches[0][0], arguments.amp) if arguments.graph else model
    optimizer = torch.optim.Adam(model.parameters(), lr=arguments.lr, fused=arguments.fused or None)
    loss_function = nn.CrossEntropyLoss()
    clock = StepClock(device, arguments.batch_size)
    for iteration in range(1, arguments.iters + 1):
        images, labels = batches[iteration % BATCHES_KEPT]
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=arguments.amp):
            loss = loss_function(forward(images), labels)
        loss.backward()
        optimizer.step()
        clock.step()
        if iteration % arguments.print_every == 0 or iteration == arguments.iters:
            print(f"iteration {iteration} loss {loss.item():.17g}")
            clock.wait()
    print(clock.report(), file=sys.stderr)
    return model


def main():
    arguments = parse_arguments()
    device = torch.device(arguments.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        sys.exit("cifar10.py: PyTorch sees no CUDA device; run with --device cpu, or check nvidia-smi")
    make_deterministic(arguments.seed)
    model = train(arguments, device)
    print(f"weights {weights_checksum(model):016x}")


if __name__ == "__main__":
    main()
