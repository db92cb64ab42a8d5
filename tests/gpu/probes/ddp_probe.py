#!/usr/bin/env python3
"""ddp_probe.py ITERATIONS: trains a small network on all ranks of torchrun, and prints each rank's weights in the end.

Every rank works on one GPU (DistributedDataParallel), so that each iteration reduces gradients through NCCL.
"""

import os
import sys

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch  # noqa: E402
import torch.distributed as distributed  # noqa: E402
from torch import nn  # noqa: E402

WIDTH, BATCH = 1024, 256


def main():
    rank, local_rank = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(0)
    distributed.init_process_group("nccl")
    model = nn.parallel.DistributedDataParallel(
        nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH)).cuda(), device_ids=[local_rank]
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(rank)
    inputs = torch.randn((BATCH, WIDTH), generator=generator).cuda()
    for _ in range(int(sys.argv[1])):
        optimizer.zero_grad(set_to_none=True)
        model(inputs).square().mean().backward()
        optimizer.step()
    words = sum(int(parameter.detach().view(torch.int32).to(torch.int64).sum()) for parameter in model.parameters())
    for turn in range(distributed.get_world_size()):  # one after the other: lines of two ranks at once may be mixed
        if turn == rank:
            print(f"rank {rank} weights {words & 0xFFFFFFFFFFFFFFFF:016x}", flush=True)
        distributed.barrier()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
