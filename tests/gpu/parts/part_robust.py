"""What happens when something is wrong: one clear message, the right exit code, and nothing measured is lost."""

import contextlib
import dataclasses
import os
import re
import subprocess
from pathlib import Path

from harness import Skipped, check

PART = "robust"
USAGE = (2,)
USAGE_OR_FAILURE = (1, 2)
MESSAGE = "dlkprof: "

# (what is wrong, the options, what the message must name). All are found before the program starts.
WRONG_OPTIONS = (
    ("pattern in --kernel-id", ("--kernel-id", "::regex:gemm(:"), r"gemm\("),
    ("pattern in -k", ("-k", "regex:["), r"\["),
    ("--kernel-id with too few fields", ("--kernel-id", "1:2"), r"kernel-id"),
    ("metric", ("--metrics", "no_such__metric.sum"), r"no_such__metric"),
    ("section", ("--section", "no_such_section"), r"no_such_section"),
    ("set", ("--set", "no_such_set"), r"no_such_set"),
    ("option", ("--no_such_option",), r"no.such.option"),
    ("number", ("-c", "three"), r"three"),
    ("replay mode", ("--replay-mode", "sometimes"), r"sometimes"),
)

# (how the program ends, its exit code, what the message must name; None: no message is asked for).
ENDS = (
    ("none", 0, None),
    ("_exit", 7, None),
    ("abort", 134, r"(?i)signal|SIGABRT|abort"),
    ("segv", 139, r"(?i)signal|SIGSEGV|segmentation"),
    ("kill", 137, r"(?i)signal|SIGKILL|killed"),
)
LAUNCHES_BEFORE_END = 3


def run(bench):
    wrong_options(bench)
    wrong_files(bench)
    wrong_programs(bench)
    wrong_folders(bench)
    program_ends(bench)
    interrupts(bench)


@dataclasses.dataclass
class Starter:
    """A program that leaves a trace when it starts."""

    trace: Path

    @property
    def command(self):
        return ["sh", "-c", f"touch '{self.trace}'; echo started"]

    def started(self):
        return self.trace.exists()


def messages(done):
    """What dlkprof said, but for the files that it wrote."""
    return [line for line in done.stderr.splitlines() if line.startswith(MESSAGE) and not line.startswith(MESSAGE + "wrote ")]


def check_refused(done, codes, pattern, starter=None):
    """Ended at once with one message that names what was wrong; returns the message."""
    said = messages(done)
    check(not done.timed_out, "did not end")
    check(done.code in codes, f"exit code {done.code}, expected {' or '.join(map(str, codes))}: {done.stderr.strip()[:120]}")
    check(len(said) == 1, f"{len(said)} messages, expected one: {done.stderr.strip()[:160]!r}")
    check(re.search(pattern, done.stderr), f"the message does not name the cause: {said[0]}")
    check(not done.stdout, f"stdout holds {done.stdout[:60]!r}")
    check(starter is None or not starter.started(), "the program was started all the same")
    return f"{done.code}: {said[0]}"


def starter(bench, name):
    return Starter(bench.out / f"started_{name}")


def wrong_options(bench):
    for number, (what, options, pattern) in enumerate(WRONG_OPTIONS):
        with bench.board.case(PART, f"wrong {what}: {' '.join(options)}") as row:
            program = starter(bench, f"option_{number}")
            done = bench.dlkprof.profile(f"robust_option_{number}", options, program.command)
            row.detail = check_refused(done, USAGE, pattern, program)
    with bench.board.case(PART, "no program") as row:
        row.detail = check_refused(bench.dlkprof.run("robust_no_program", ["--set", "basic"]), USAGE, r"(?i)program")
    with bench.board.case(PART, "unknown chip") as row:
        done = bench.dlkprof.run("robust_chip", ["metrics", "--chip", "XX999"])
        row.detail = check_refused(done, USAGE, "XX999")


def wrong_files(bench):
    with bench.board.case(PART, "report of a file that is not there") as row:
        done = bench.dlkprof.run("robust_no_file", ["report", "/no/such/file.dlkcap"])
        row.detail = check_refused(done, USAGE_OR_FAILURE, "/no/such/file.dlkcap")
    with bench.board.case(PART, "report of a file that is no capture") as row:
        done = bench.dlkprof.run("robust_no_capture", ["report", Path(__file__).resolve()])
        row.detail = check_refused(done, USAGE_OR_FAILURE, Path(__file__).name)
    with bench.board.case(PART, "output is there already, no --force") as row:
        program = starter(bench, "no_force")
        bench.dlkprof.capture("robust_no_force").write_text("somebody's file")
        done = bench.dlkprof.profile("robust_no_force", (), program.command, force=False)
        row.detail = check_refused(done, USAGE_OR_FAILURE, "--force", program)


def wrong_programs(bench):
    with bench.board.case(PART, "program is missing") as row:
        done = bench.dlkprof.profile("robust_missing", (), ["/no/such/program"])
        row.detail = check_refused(done, (127,), "/no/such/program")
    with bench.board.case(PART, "program is not executable") as row:
        plain = bench.out / "not_executable"
        plain.write_text("nothing to run\n")
        plain.chmod(0o644)
        done = bench.dlkprof.profile("robust_not_executable", (), [plain])
        row.detail = check_refused(done, (126,), "not_executable")


@contextlib.contextmanager
def small_disk(folder, options):
    """A file system of 1 MB in memory, mounted on `folder` for as long as the body runs."""
    if os.geteuid() != 0:
        raise Skipped("mounting needs root")
    folder.mkdir(parents=True, exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, text=True, timeout=20
    )
    if mounted.returncode != 0:
        raise Skipped(f"mount: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False, timeout=20)


def wrong_folders(bench):
    with bench.board.case(PART, "output folder is a file") as row:
        program = starter(bench, "folder")
        done = bench.dlkprof.profile("robust_folder", (), program.command, folder=Path(__file__).resolve())
        row.detail = check_refused(done, USAGE_OR_FAILURE, Path(__file__).name, program)
    with bench.board.case(PART, "output folder is read-only") as row:
        with small_disk(bench.out / "read_only", "size=1m,ro") as folder:
            program = starter(bench, "read_only")
            done = bench.dlkprof.profile("robust_read_only", (), program.command, folder=folder)
            row.detail = check_refused(done, USAGE_OR_FAILURE, "read_only", program)
    with bench.board.case(PART, "disk fills up while measuring") as row:
        with small_disk(bench.out / "full_disk", "size=1m") as folder:
            row.detail = full_disk(bench, folder)


def full_disk(bench, folder):
    """Room for some launches and not for all: those are kept, the program is not disturbed."""
    fill(folder, leave=12 * 1024)
    launches = 200
    program = bench.sample("launches", "--variant", "driver", "--count", str(launches))
    alone = bench.commands.run("robust_full_disk_alone", program).require_success()
    options = ("--replay-mode", "kernel", "--samples", "all", "--metrics", "gpu__time_duration.sum")
    done = bench.dlkprof.profile("robust_full_disk", options, program, folder=folder)
    check(done.code == 0 and done.stdout == alone.stdout, f"the program was disturbed: exit code {done.code}")
    # The database, written afterwards, has no room either, and says so for itself.
    said = [line for line in messages(done) if re.search(r"(?i)space|full|disk", line) and "database" not in line]
    check(len(said) == 1, f"{len(said)} messages about the capture's disk, expected one: {done.stderr.strip()[:160]!r}")
    kept = len(bench.dlkprof.launches("robust_full_disk", folder))
    check(0 < kept < launches, f"{kept} launches readable, expected some of {launches}")
    return f"{kept} of {launches} launches kept; {said[0]}"


def fill(folder, leave):
    """Leaves `leave` bytes free, by writing until nothing goes in and cutting that off again."""
    path = folder / "filler"
    with open(path, "wb", buffering=0) as filler, contextlib.suppress(OSError):
        while filler.write(bytes(4096)):
            pass
    os.truncate(path, path.stat().st_size - leave)


def program_ends(bench):
    for mode, code, pattern in ENDS:
        with bench.board.case(PART, f"program ends by {mode}") as row:
            program = bench.sample("crash_modes", "--mode", mode, "--after", str(LAUNCHES_BEFORE_END))
            alone = bench.commands.run(f"robust_{mode}_alone", program)
            check(alone.code == code, f"alone it ended with {alone.code}, expected {code}")
            done = bench.dlkprof.profile(f"robust_{mode}", measure_all(), program)
            check(done.stdout == alone.stdout, f"stdout differs: {done.stdout[:60]!r}")
            row.detail = check_end(bench, done, f"robust_{mode}", code, pattern, exact=True)


def interrupts(bench):
    for mode, what in (("loop", "while launches are measured"), ("wait", "between launches")):
        with bench.board.case(PART, f"Ctrl-C {what}") as row:
            program = bench.sample("crash_modes", "--mode", mode, "--after", str(LAUNCHES_BEFORE_END))
            done = bench.dlkprof.profile(f"robust_{mode}", measure_all(), program, timeout=30, interrupt_at=b"ready")
            row.detail = check_end(bench, done, f"robust_{mode}", 130, r"(?i)signal|SIGINT|interrupt", exact=mode == "wait")


def measure_all():
    return "--replay-mode", "kernel", "--samples", "all", "--metrics", "smsp__inst_executed.sum,gpu__time_duration.sum"


def check_end(bench, done, name, code, pattern, exact):
    """The program's own exit code, at most one message about its end, and every launch measured until then."""
    check(not done.timed_out, "did not end")
    check(done.code == code, f"exit code {done.code}, expected {code}: {done.stderr.strip()[-120:]}")
    kept = len(bench.dlkprof.launches(name))
    enough = kept == LAUNCHES_BEFORE_END if exact else kept >= LAUNCHES_BEFORE_END
    check(enough, f"{kept} launches readable afterwards, expected {LAUNCHES_BEFORE_END}{'' if exact else ' at least'}")
    if pattern is not None:
        said = [line for line in messages(done) if re.search(pattern, line)]
        check(len(said) == 1, f"{len(said)} messages about the end, expected one: {done.stderr.strip()[:160]!r}")
    return f"exit code {done.code}, {kept} launches kept"
