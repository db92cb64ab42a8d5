#!/usr/bin/env python3
"""ddp_graph_probe.py ITERATIONS: as ddp_probe.py, but each iteration is one launch of a CUDA graph, NCCL's reduction included.

PyTorch lets a graph hold collectives once they have run outside of it; the gradients are reduced in one all_reduce.
"""

import os
import sys

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch  # noqa: E402
import torch.distributed as distributed  # noqa: E402
from torch import nn  # noqa: E402

WIDTH, BATCH, WARM_UP = 1024, 256, 12


def main():
    rank, local_rank = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(0)
    distributed.init_process_group("nccl", device_id=torch.device("cuda", local_rank))
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH)).cuda()
    parameters = list(model.parameters())
    inputs = torch.randn((BATCH, WIDTH), generator=torch.Generator().manual_seed(rank)).cuda()

    def step():
        gradients = torch.autograd.grad(model(inputs).square().mean(), parameters)
        whole = torch.cat([gradient.flatten() for gradient in gradients])
        distributed.all_reduce(whole)
        with torch.no_grad():
            for parameter, part in zip(parameters, whole.split([one.numel() for one in parameters])):
                parameter.sub_(part.view_as(parameter), alpha=1e-3)

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(WARM_UP):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        step()
    for _ in range(int(sys.argv[1])):
        graph.replay()
    torch.cuda.synchronize()
    words = sum(int(parameter.detach().view(torch.int32).to(torch.int64).sum()) for parameter in parameters)
    for turn in range(distributed.get_world_size()):  # one after the other: lines of two ranks at once may be mixed
        if turn == rank:
            print(f"rank {rank} weights {words & 0xFFFFFFFFFFFFFFFF:016x}", flush=True)
        distributed.barrier()
    graph.reset()  # NCCL's communicator waits for the graphs that it was captured into (pytorch#115388)
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
