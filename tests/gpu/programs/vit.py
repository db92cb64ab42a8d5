"""Trains timm's ViT with torch.compile(mode="reduce-overhead"), that is, in CUDA graphs: vit.py [steps]."""

import sys

import timm
import torch


def main(steps):
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    model = timm.create_model("vit_small_patch16_224", num_classes=100).cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    compiled = torch.compile(model, mode="reduce-overhead")
    for _ in range(steps):
        pictures, labels = torch.randn(32, 3, 224, 224, device="cuda"), torch.randint(100, (32,), device="cuda")
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(compiled(pictures), labels)
        loss.backward()
        optimizer.step()
    torch.cuda.synchronize()
    print("finished", steps, "steps")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
