"""What single processes cannot settle of how far windows of cifar10.py are from ncu's application replay (see part_application).

Figures differ from process to process by as much as windows do from ncu: means of several processes of each are compared. ncu's
DRAM writes of a kernel seem to hang on what else it collects (up to 51 % apart, results/2026-11-29-h200/application.md): those of
windows are held against what sampling sees, which stops nothing, with ncu's beside them."""

from configuration_figures import in_samples
from iteration_table import DURATION, LONG_NS
from part_application import FAR_WRITES, LIMIT, NO_INSTRUCTION, with_ncu, with_windows
from part_iteration import alone
from process_table import ProcessTable, means

PART = "processes"

PROCESSES = 8  # of windows, and of ncu
SAMPLED_PROCESSES = 4  # of many more launches
WORDS = ("--print_every", "20", "--batch_size", "512")
PROGRAM = ("--iters", "100", *WORDS)
# Of 2,500 steps a kernel of 10 us that comes once in each had 50 samples, as sampling comes in bursts.
LONG_PROGRAM = ("--iters", "6000", *WORDS)
SAMPLES = ("--samples", "5")
LEAST_SAMPLES = 100  # by sampling, of a configuration
# As in part_application, of an iteration's launches with the same grid and block.
NCU_LAUNCHES = ("--filter-mode", "per-launch-config", "-s", "18", "-c", "9")
STALLS = ("smsp__average_warps_issue_stalled_drain_per_issue_active.ratio", NO_INSTRUCTION)
METRICS = (*STALLS, *FAR_WRITES)
WRITTEN = FAR_WRITES[0]  # the other is its rate
# What says which kernels are long, and which figures near zero.
WHOLES = (DURATION, "lts__t_bytes.sum", "lts__t_bytes.sum.per_second", "smsp__average_warp_latency_per_inst_issued.ratio")


def run(bench):
    if not bench.has_torch(PART, "cifar10.py"):
        return
    ours, pages = None, []
    with bench.board.case(
        PART, f"stalls of {PROCESSES} processes beside those of {PROCESSES} of ncu's application replay"
    ) as row:
        ours, reference = measure(bench)
        table = ProcessTable(ours, reference, STALLS, WHOLES)
        pages.append(table.markdown())
        row.detail = table.verdict()
    if not ours:
        return
    with bench.board.case(PART, "DRAM writes beside sampled ones, and ncu's") as row:
        windows, of_ncu = beside_sampled(ours, reference, sampled(bench))
        pages += ["DRAM writes of windows beside sampled ones:\n", windows.markdown()]
        pages += ["DRAM writes of ncu beside sampled ones:\n", of_ncu.markdown()]
        row.detail = f"{windows.verdict()}; ncu: {of_ncu.words()}"
    (bench.out / "processes.md").write_text("\n".join(pages))


def measure(bench):
    """Means of the processes of windows, and of those of ncu, which take turns."""
    program = alone(bench, "processes", PROGRAM)
    options = ("--metrics", ",".join((*METRICS, *WHOLES)), *SAMPLES)
    ours, reference = [], []
    for number in range(1, PROCESSES + 1):
        ours.append(with_windows(bench, f"processes_{number}", options, program))
        reference.append(with_ncu(bench, f"processes_{number}", METRICS, NCU_LAUNCHES))
    return means(ours, (*METRICS, *WHOLES)), means(reference, METRICS)


def sampled(bench):
    """Means of the processes that sampled."""
    found = []
    for number in range(1, SAMPLED_PROCESSES + 1):
        name = f"processes_sampled_{number}"
        program = bench.cifar10(*LONG_PROGRAM)
        bench.dlkprof.profile(name, ("--replay-mode", "sample"), program, timeout=LIMIT).require_success()
        found.append(in_samples(bench.dlkprof.captures / f"{name}_dldb.sqlite", LEAST_SAMPLES, LONG_NS))
    return means(found, (WRITTEN,))


def beside_sampled(ours, reference, of_samples):
    """DRAM writes of windows and of ncu, each beside sampled ones. ncu was asked for no durations: those are of windows."""
    long = {key: {**held, **{whole: ours[key][whole] for whole in WHOLES}} for key, held in reference.items() if key in ours}
    return tuple(ProcessTable(held, of_samples, (WRITTEN,), WHOLES) for held in (ours, long))
