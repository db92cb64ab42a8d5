"""What each kernel of samples/cuda was written to be, and how a diagnosis must show it."""

import dataclasses
from collections.abc import Callable

PEAK_SHARE = 60  # %, from which on compute or memory bounds a kernel (docs/user/diagnosis.md)
BUSY_TENSOR = 5  # % of the active cycles: far from what any other kernel's tensor pipe shows


@dataclasses.dataclass(frozen=True)
class Trait:
    kernel: str
    written_to_be: str
    shows: Callable  # (Verdicts, kernel) -> (whether the diagnosis names it, the evidence in words)


@dataclasses.dataclass(frozen=True)
class Subject:
    """A program whose kernels have traits; `arguments` as where they show."""

    program: str
    arguments: tuple
    traits: tuple


def verdict_words(verdicts, kernel):
    row = verdicts.kernel("bottleneck", kernel)
    return f"{row.get('Verdict') or 'no verdict'} ({row.get('Reason') or 'nothing measured'})"


def of_peak(verdicts, kernel):
    """Shares of peak of each level of the memory system; 0 where it was not measured."""
    return {level: verdicts.number("memory", kernel, f"{level} Of Peak (%)") or 0.0 for level in ("DRAM", "L2", "L1")}


def bandwidth_bound(verdicts, kernel):
    shares = of_peak(verdicts, kernel)
    named = verdicts.kernel("bottleneck", kernel).get("Verdict") == "memory-bound"
    return (
        named and shares["DRAM"] >= PEAK_SHARE,
        f"{verdict_words(verdicts, kernel)}; DRAM at {shares['DRAM']:.1f} % of peak, L2 {shares['L2']:.1f}, L1 {shares['L1']:.1f}",
    )


def tiles_without_tensor_cores(verdicts, kernel):
    """Bound by what feeds the arithmetic, shared memory above all, and no tensor core in use."""
    shares = of_peak(verdicts, kernel)
    use = verdicts.kernel("kernel", kernel)
    idle = use.get("Uses TC") == "false" and use.get("TC Source") == "counter"
    named = verdicts.kernel("bottleneck", kernel).get("Verdict") in ("memory-bound", "compute-bound")
    return (
        named and idle and max(shares, key=shares.get) == "L1",
        f"{verdict_words(verdicts, kernel)}; L1 and shared memory at {shares['L1']:.1f} % of peak, DRAM {shares['DRAM']:.1f}; "
        f"{'no tensor cores' if idle else 'tensor cores in use'} (by {use.get('TC Source')})",
    )


def on_tensor_cores(verdicts, kernel):
    pipe = verdicts.number("kernel", kernel, "Tensor Pipe (%)")
    row = verdicts.kernel("kernel", kernel)
    precisions = [row["Precision"] for row in verdicts.rows("roofline", kernel) if row["Precision"]]
    uses = row.get("Uses TC") == "true" and row.get("TC Source") == "counter"
    return (
        uses and (pipe or 0) >= BUSY_TENSOR and any("tensor" in one.lower() for one in precisions),
        f"uses tensor cores (by {row.get('TC Source')}): pipe {shown(pipe)} % active, operations {', '.join(precisions) or 'none'}; "
        f"{verdict_words(verdicts, kernel)}",
    )


def finds(rule):
    def shows(verdicts, kernel):
        problem = verdicts.findings(kernel).get(rule)
        return (
            problem is not None,
            f"{rule}: {problem}" if problem else f"{rule} finds nothing; {verdict_words(verdicts, kernel)}",
        )

    return shows


def finds_not(rule):
    def shows(verdicts, kernel):
        problem = verdicts.findings(kernel).get(rule)
        measured = verdicts.kernel("bottleneck", kernel).get("Verdict")
        return (
            problem is None and bool(measured),
            f"{rule}: {problem}" if problem else f"{rule} finds nothing; {verdict_words(verdicts, kernel)}",
        )

    return shows


def limited_by_registers(verdicts, kernel):
    row = verdicts.kernel("occupancy", kernel)
    return (
        row.get("Limiter") == "registers" and (verdicts.number("occupancy", kernel, "Theoretical Occupancy (%)") or 100) < 50,
        occupancy_words(row),
    )


def not_limited_by_registers(verdicts, kernel):
    row = verdicts.kernel("occupancy", kernel)
    full = (verdicts.number("occupancy", kernel, "Theoretical Occupancy (%)") or 0) == 100
    return full, occupancy_words(row)


def occupancy_words(row):
    if not row:
        return "no occupancy"
    step = f"; next step: {row['Next Step']}" if row.get("Next Step") else ""
    return (
        f"theoretical occupancy {row['Theoretical Occupancy (%)']} %, limited by {row['Limiter']} "
        f"({row['Registers (register/thread)']} registers a thread){step}"
    )


def shown(value):
    return "not measured" if value is None else f"{value:.3g}"


SUBJECTS = (
    Subject(
        "copy",
        (),
        (
            Trait("copy_kernel", "bandwidth-bound copy", bandwidth_bound),
            Trait("fill_kernel", "bandwidth-bound writes", bandwidth_bound),
        ),
    ),
    Subject(
        "gemm_tiled",
        (),
        (Trait("gemm_tiled_kernel", "fp32 tiles in shared memory, no tensor cores", tiles_without_tensor_cores),),
    ),
    Subject("tensor_core", (), (Trait("tensor_core_kernel", "fp16 product on tensor cores", on_tensor_cores),)),
    Subject(
        "bank_conflict",
        (),
        (
            Trait("transpose_conflict_kernel", "32-way bank conflicts", finds("bank_conflicts")),
            Trait("transpose_padded_kernel", "the same without conflicts", finds_not("bank_conflicts")),
        ),
    ),
    # Ten waves: with one the grid, not registers, would keep a second block from a multiprocessor.
    Subject(
        "register_limited",
        ("--blocks", "1320"),
        (
            Trait("register_limited_kernel", "occupancy limited by registers", limited_by_registers),
            Trait("register_light_kernel", "the same, not limited", not_limited_by_registers),
        ),
    ),
    Subject(
        "divergent",
        (),
        (
            Trait("divergent_kernel", "lanes of a warp on four paths", finds("divergence")),
            Trait("uniform_kernel", "each warp on one path", finds_not("divergence")),
        ),
    ),
)

# Samples without a trait to diagnose: launched, allocated or ended in some way. Their occupancy is compared all the same.
OTHERS = (("inplace_add", ()), ("launches", ("--variant", "all")), ("crash_modes", ()))
