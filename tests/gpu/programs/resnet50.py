"""Trains timm's ResNet-50 with mixed precision on pictures that a data loader makes: resnet50.py [steps] [--benchmark]."""

import sys

import timm
import torch
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return torch.rand(3, 224, 224, generator=generator), index % 1000


def main(steps, benchmark):
    torch.backends.cudnn.benchmark = benchmark  # cuDNN times its algorithms in the first step, as image training commonly has it
    model = timm.create_model("resnet50", pretrained=False).cuda().train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    scaler = torch.amp.GradScaler("cuda")
    loader = DataLoader(Pictures(), batch_size=32, num_workers=4, pin_memory=True)
    for step, (pictures, labels) in enumerate(loader):
        pictures, labels = pictures.cuda(non_blocking=True), labels.cuda(non_blocking=True)
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.cross_entropy(model(pictures), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        if step + 1 == steps:
            break
    torch.cuda.synchronize()
    print("finished", steps, "steps")


if __name__ == "__main__":
    main(next((int(word) for word in sys.argv[1:] if word.isdigit()), 60), "--benchmark" in sys.argv)
