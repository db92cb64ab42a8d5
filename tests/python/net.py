"""A small network on the stand-in for PyTorch, and tests that run it."""

from harness import PythonTest

NET = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Linear()
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.conv1(x))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Sequential(Block(), nn.Linear())
        self.head = nn.Linear()
        self.fail = None

    def forward(self, x):
        x = self.layer1(x)
        if self.fail is not None:
            raise self.fail
        return self.head(x)

net = Net()
x = torch.ones(8, 3).cuda()
"""
NET_PATHS = ["/Net", "/Net/layer1", "/Net/layer1/0", "/Net/layer1/0/conv1", "/Net/layer1/0/act", "/Net/layer1/1", "/Net/head"]


class PyTorchTest(PythonTest):
    def run_net(self, source, **options):
        return self.run_script(NET + source, **options)
