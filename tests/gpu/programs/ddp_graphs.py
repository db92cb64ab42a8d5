"""Trains a network that torch.compile puts into CUDA graphs with DistributedDataParallel: torchrun ... ddp_graphs.py [steps]."""

import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main(steps):
    dist.init_process_group("nccl")
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    torch.manual_seed(0)
    layers = [layer for _ in range(6) for layer in (torch.nn.Linear(2048, 2048), torch.nn.GELU())]
    network = torch.compile(torch.nn.Sequential(*layers).cuda(), mode="reduce-overhead")
    model = DistributedDataParallel(network, device_ids=[local])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(steps):
        batch = torch.randn(512, 2048, device="cuda")
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(batch).float().square().mean()
        loss.backward()
        optimizer.step()
    torch.cuda.synchronize()
    if dist.get_rank() == 0:
        print("finished", steps, "steps")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
