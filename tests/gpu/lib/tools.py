"""The two profilers as commands, and the programs they are tried on."""

import csv
import dataclasses
import functools
import io
import re
import shutil
import sys
from pathlib import Path

from harness import CheckFailed, Commands, Scoreboard, Skipped, check
from launch_tables import parse_launches
from ncu_rules import parse_rules

GPU_TESTS = Path(__file__).resolve().parent.parent
PROBES = GPU_TESTS / "probes"  # programs that tests start
PROGRAMS = GPU_TESTS / "programs"  # programs as their users write them, which nobody tuned for a profiler
SAMPLES = GPU_TESTS.parent.parent / "samples"


def median_step_ms(done):
    """What the training samples say of their steps on stderr; CheckFailed where they do not."""
    found = re.search(r"median_step_ms (\S+)", done.stderr)
    if not found:
        raise CheckFailed("the program told no step time")
    return float(found.group(1))


def mean_step_ms(done, batch_size):
    """Likewise of all timed steps together, bursts of measuring included."""
    found = re.search(r"samples_per_second (\S+)", done.stderr)
    if not found:
        raise CheckFailed("the program told no speed")
    return 1e3 * batch_size / float(found.group(1))


class Dlkprof:
    """An installed dlkprof: bin/dlkprof, lib/libdlkprof_inject.so, share/dlkprof."""

    def __init__(self, install, captures, commands):
        self.program = Path(install).resolve() / "bin" / "dlkprof"
        self.captures = Path(captures).resolve()
        self.captures.mkdir(parents=True, exist_ok=True)
        self._commands = commands

    def run(self, name, arguments, **how):
        return self._commands.run(name, [self.program, *arguments], **how)

    def profile(self, name, options, program, force=True, folder=None, **how):
        """Profiles `program`, a list of words, under base name `name`."""
        output = ["--output_path", folder or self.captures, "--base_name", name, *(["--force"] if force else [])]
        return self.run(f"{name}.dlkprof", [*options, *output, "--", *program], **how)

    def capture(self, name, folder=None):
        return Path(folder or self.captures) / f"{name}.dlkcap"

    def launches(self, name, folder=None):
        """The measured launches in the capture of that base name, through the verb `report`."""
        done = self.run(f"{name}.report", ["report", self.capture(name, folder), "--reports", "metrics", "--format", "csv"])
        return parse_launches(done.require_success().stdout.decode(errors="replace"))

    def report(self, capture, report):
        """The rows of a report on a capture."""
        done = self.run(f"{capture.stem}.{report}", ["report", capture, "--reports", report, "--format", "csv"])
        return list(csv.DictReader(io.StringIO(done.require_success().stdout.decode(errors="replace"))))

    def sampled_kernels(self, capture):
        """Names of the kernels that have samples."""
        return {row["Kernel Name"] for row in self.report(capture, "sampling") if row["Level"] == "kernel"}

    def written_launches(self, name):
        """The same from the file that a profile wrote under `--reports=metrics --formats=csv`."""
        path = self.captures / f"{name}_metrics.csv"
        check(path.exists(), f"{path.name} was not written")
        return parse_launches(path.read_text(errors="replace"))


class Ncu:
    """Nsight Compute's command line. Clocks are never touched; caches are left alone unless it is asked for as it comes, which is
    with caches flushed before each pass."""

    NAMES = ["--print-units", "base", "--print-kernel-base", "mangled"]
    OPTIONS = ["--clock-control", "none", "--csv", "--page", "raw", *NAMES]

    def __init__(self, commands):
        self._commands = commands
        self.program = shutil.which("ncu")

    def command(self, metrics, selection, caches="none"):
        return [self.program, *self.OPTIONS, "--cache-control", caches, "--metrics", ",".join(metrics), *selection]

    def run(self, name, metrics, selection, program, caches="none", **how):
        if self.program is None:
            raise Skipped("ncu is not on PATH")
        return self._commands.run(f"{name}.ncu", [*self.command(metrics, selection, caches), *program], **how)

    def launches(self, name, metrics, selection, program, **how):
        done = self.run(name, metrics, selection, program, **how)
        text = done.stdout.decode(errors="replace")
        if "No kernels were profiled" in text + done.stderr:
            return []
        done.require_success()
        return parse_launches(text)

    def diagnosed(self, name, sections, program, folder, **how):
        """(launches, rule results, the command): one run with these sections and their rules, read from its report twice.

        The first launch of each configuration, as dlkprof measures it."""
        if self.program is None:
            raise Skipped("ncu is not on PATH")
        report = Path(folder) / f"{name}.ncu-rep"
        argv = [
            self.program,
            *sections,
            "--clock-control",
            "none",
            "--cache-control",
            "none",
            "--filter-mode",
            "per-launch-config",
            "-c",
            "1",
            "-f",
            "-o",
            report,
            *program,
        ]
        done = self._commands.run(f"{name}.ncu", argv, **how)
        if b"==ERROR==" in done.stdout:
            raise Skipped("ncu measures nothing here")
        done.require_success()
        pages = {
            page: self._commands.run(
                f"{name}.ncu_{page}", [self.program, "--import", report, "--csv", "--page", page, *self.NAMES]
            )
            .require_success()
            .stdout.decode(errors="replace")
            for page in ("raw", "details")
        }
        return parse_launches(pages["raw"]), parse_rules(pages["details"]), argv

    def offered(self, metrics, program):
        """Those of `metrics` that this ncu and GPU offer; Skipped, with its words, where it measures nothing at all."""
        wanted = list(metrics)
        while wanted:
            done = self.run("ncu_offered", wanted, ["-c", "1"], program)
            words = done.stdout.decode(errors="replace") + done.stderr
            launches = parse_launches(done.stdout.decode(errors="replace"))
            if launches:
                return [metric for metric in wanted if launches[0].number(metric) is not None]
            unknown = [metric for metric in wanted if re.search(rf"(?i)find metric.*{re.escape(metric)}", words)]
            if not unknown:
                complaints = [line for line in words.splitlines() if line.startswith("==ERROR==")]
                raise Skipped(f"ncu measures nothing here: {(complaints or words.splitlines()[-1:] or ['no output'])[0]}")
            wanted = [metric for metric in wanted if metric not in unknown]
        return []


@dataclasses.dataclass
class Bench:
    """What every part works with."""

    board: Scoreboard
    commands: Commands
    dlkprof: Dlkprof
    ncu: Ncu
    out: Path
    programs: Path
    facts: list = dataclasses.field(default_factory=list)  # environment.describe, once it was asked

    def sample(self, name, *arguments):
        return [self.programs / name, *arguments]

    def cifar10(self, *arguments):
        return [sys.executable, SAMPLES / "pytorch" / "cifar10.py", *arguments]

    def transformer(self, *arguments):
        return [sys.executable, SAMPLES / "pytorch" / "transformer.py", *arguments]

    def mlp(self, *arguments):
        return [sys.executable, SAMPLES / "jax" / "mlp.py", *arguments]

    def alone_and_profiled(self, name, options, program, timeout):
        """The program by itself, then under dlkprof, which both end well."""
        alone = self.commands.run(f"{name}.alone", program, timeout=timeout).require_success()
        return alone, self.dlkprof.profile(name, options, program, timeout=timeout).require_success()

    @functools.cached_property
    def _torch(self):
        """(version, None), or (None, why there is none): asked once, since importing it takes seconds."""
        question = "import torch; print(torch.__version__, torch.cuda.is_available())"
        done = self.commands.run("torch", [sys.executable, "-c", question])
        words = done.stdout.decode(errors="replace").split()
        if done.code != 0:
            return None, f"{Path(sys.executable).name} has no PyTorch"
        if words[-1] != "True":
            return None, f"PyTorch {words[0]} sees no CUDA device"
        return words[0], None

    def require_torch(self):
        """PyTorch's version; Skipped where it cannot use a GPU here."""
        version, reason = self._torch
        if version is None:
            raise Skipped(reason)
        return version

    def has_torch(self, part, what):
        """Whether it can; where not, `what` of that part is skipped."""
        try:
            self.require_torch()
            return True
        except Skipped as reason:
            self.board.skip(part, what, reason)
            return False

    def build_samples(self):
        """Compiles the samples and the probes of this folder; CheckFailed where one does not compile."""
        sources = [*sorted((SAMPLES / "cuda").glob("*.cu")), *sorted(PROBES.glob("*.cu"))]
        build = ["sh", SAMPLES / "cuda" / "build.sh", "native", self.programs, *sources]
        done = self.commands.run("build", build, timeout=120)
        if done.code != 0:
            raise CheckFailed(f"samples do not build: {' / '.join(done.stderr.strip().splitlines()[:2])}")
