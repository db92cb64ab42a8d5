"""Multiplies and normalizes matrices on four threads, each with a stream of its own: threads.py [rounds]."""

import sys
import threading

import torch


def work(number, rounds):
    torch.manual_seed(number)
    with torch.cuda.stream(torch.cuda.Stream()):
        size = 512 + 128 * number
        left, right = (torch.randn(size, size, device="cuda") for _ in range(2))
        for _ in range(rounds):
            left = torch.softmax(left @ right, dim=-1) + torch.layer_norm(right, (size,))
        torch.cuda.current_stream().synchronize()


def main(rounds):
    threads = [threading.Thread(target=work, args=(number, rounds)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("finished", rounds, "rounds")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
