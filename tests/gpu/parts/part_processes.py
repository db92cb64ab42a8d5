"""What single processes cannot settle of how far windows of cifar10.py are from ncu's application replay (see part_application).

Stalls differ from process to process by as much as windows do from ncu: means of several processes of each are compared. ncu's
DRAM writes of a kernel seem to hang on what else it collects (up to 51 % apart, results/2026-11-29-h200/application.md): those of
windows are held against what sampling sees, which stops nothing, with ncu's beside them."""

from configuration_figures import Configuration, in_samples
from harness import check, markdown_table
from iteration_table import DURATION, LONG_NS, Table, near, words_of
from part_application import FAR_WRITES, LIMIT, NO_INSTRUCTION, with_ncu, with_windows
from part_iteration import alone
from process_table import ProcessTable, means, name_cells, values_of

PART = "processes"

PROCESSES = 8  # of each way
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
        table = WritesTable(ours, reference, sampled(bench))
        pages.append(table.markdown())
        row.detail = table.verdict()
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
    options = ("--replay-mode", "sample")
    bench.dlkprof.profile("processes_sampled", options, bench.cifar10(*LONG_PROGRAM), timeout=LIMIT).require_success()
    return in_samples(bench.dlkprof.captures / "processes_sampled_dldb.sqlite", LEAST_SAMPLES, LONG_NS)


class WritesTable:
    """How far means of windows, and those of ncu, are from sampled figures: configuration -> metric -> mean."""

    def __init__(self, ours, reference, of_samples):
        keys = sorted(key for key in ours.keys() & reference.keys() & of_samples.keys() if WRITTEN in of_samples[key])
        self.sampled = {key: {**values_of(ours[key]), WRITTEN: of_samples[key][WRITTEN]} for key in keys}
        self.windows, self.ncu = ({key: values_of(means_[key]) for key in keys} for means_ in (ours, reference))
        self.tables = [self._table(figures) for figures in (self.windows, self.ncu)]

    def _table(self, figures):
        return Table([(Configuration(key, figures[key]), Configuration(key, self.sampled[key])) for key in figures], (WRITTEN,))

    def verdict(self):
        check(all(table.rows for table in self.tables), "nothing of 10 us and more was measured in all ways")
        of_windows, of_ncu = (table.rows[WRITTEN] for table in self.tables)
        words = (
            f"{WRITTEN} from sampled in the median and at the 90th percentile: windows {words_of(of_windows)}, "
            f"ncu {words_of(of_ncu)} (n = {len(of_windows)})"
        )
        check(near(of_windows), words)
        return words

    def markdown(self):
        rows = [
            (*name_cells(key), *(f"{figures[key][WRITTEN]:.5g}" for figures in (self.sampled, self.windows, self.ncu)))
            for key in self.sampled
        ]
        return markdown_table(("kernel", "grid and block", "sampled", "windows", "ncu"), rows) + "\n"
