"""What the training samples share: determinism, CUDA graphs, the clock, the checksum of what was learned."""

import argparse
import os
import statistics
import time

# cuBLAS reads this when its first handle is made: with it, its GEMM results do not depend on scheduling.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch  # noqa: E402


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


def make_deterministic(seed):
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False


def add_launch_options(parser):
    """Ways to do the same with fewer launches."""
    parser.add_argument("--fused", action="store_true", help="the optimizer's step in few kernels")
    parser.add_argument("--graph", action="store_true", help="forward and backward pass as one CUDA graph each")


def graphed(model, example, amp):
    """The model, its forward and backward pass recorded for inputs of the example's shape. With autocast, weights that
    were converted once must not be kept: the graph converts them each time that it runs."""
    # The passes are recorded on a stream of their own, and told apart by it from what runs later: on purpose.
    torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    with torch.autocast(example.device.type, dtype=torch.bfloat16, enabled=amp, cache_enabled=False):
        return torch.cuda.make_graphed_callables(model, (example,))


class StepClock:
    """Times blocks of iterations between two waits for the GPU; leaves out those in which libraries warm up."""

    WARM_UP = 5

    def __init__(self, device, batch_size):
        self._device = device
        self._batch_size = batch_size
        self._block_start = None
        self._block_steps = 0
        self._steps = 0
        self._blocks = []  # (seconds, steps)

    def step(self):
        self._steps += 1
        if self._block_start is not None:
            self._block_steps += 1

    def wait(self):
        """Ends a block; called where the program waits for the GPU anyway."""
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        now = time.perf_counter()
        if self._block_start is not None and self._block_steps > 0:
            self._blocks.append((now - self._block_start, self._block_steps))
        if self._block_start is not None or self._steps >= self.WARM_UP:
            self._block_start, self._block_steps = now, 0

    def report(self):
        if not self._blocks:
            return "throughput not measured: too few iterations"
        seconds = sum(block[0] for block in self._blocks)
        steps = sum(block[1] for block in self._blocks)
        median_ms = 1e3 * statistics.median(block[0] / block[1] for block in self._blocks)
        return f"samples_per_second {steps * self._batch_size / seconds:.1f} median_step_ms {median_ms:.4f} timed_steps {steps}"


def weights_checksum(model):
    """The sum of the weights' bit patterns: one wrong bit in one weight shows."""
    words = (parameter.detach().view(torch.int32).to(torch.int64).sum() for parameter in model.parameters())
    return sum(int(word) for word in words) & 0xFFFFFFFFFFFFFFFF
