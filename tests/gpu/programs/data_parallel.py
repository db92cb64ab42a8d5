"""Trains torchvision's ResNet-50 with torch.nn.DataParallel, a thread for each GPU: data_parallel.py [steps]."""

import sys

import torch
import torchvision


def main(steps):
    torch.manual_seed(0)
    model = torch.nn.DataParallel(torchvision.models.resnet50().cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(steps):
        pictures, labels = torch.randn(64, 3, 224, 224, device="cuda"), torch.randint(1000, (64,), device="cuda")
        loss = torch.nn.functional.cross_entropy(model(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.cuda.synchronize()
    print("finished", steps, "steps")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
