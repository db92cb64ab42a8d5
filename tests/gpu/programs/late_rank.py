"""Trains a small network with DistributedDataParallel on every rank; rank 1 sleeps before one of its layers: late_rank.py [steps]."""

import sys
import time

import torch
import torch.distributed as distributed

SLEEP_S = 0.01


class Late(torch.nn.Module):
    """A layer that one rank comes to late."""

    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, values):
        if distributed.get_rank() == 1:
            torch.cuda.synchronize()
            time.sleep(SLEEP_S)
        return self.linear(values)


def main(steps):
    distributed.init_process_group("nccl")
    rank = distributed.get_rank()
    torch.cuda.set_device(rank)
    torch.manual_seed(0)
    width = 2048
    layers = torch.nn.Sequential(
        torch.nn.Linear(width, width), torch.nn.ReLU(), Late(width), torch.nn.Linear(width, width)
    ).cuda()
    model = torch.nn.parallel.DistributedDataParallel(layers, device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for _ in range(steps):
        values = torch.randn(256, width, device="cuda")
        torch.nn.functional.mse_loss(model(values), values).backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.synchronize()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
