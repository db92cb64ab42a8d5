"""Trains the same small network in three spawned processes on one GPU: spawned.py [steps]."""

import sys

import torch
import torch.multiprocessing as processes


def train(rank, steps):
    torch.manual_seed(rank)
    model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 512)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(steps):
        pictures = torch.randn(256, 512, device="cuda")
        torch.nn.functional.mse_loss(model(pictures), pictures).backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.synchronize()


def main(steps):
    processes.spawn(train, (steps,), nprocs=3)
    print("finished", steps, "steps")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
