#!/usr/bin/env python3
"""Whether what reads captures builds and works without the CUDA Toolkit: reader_build.py <build folder> <source folder>.

Builds with -DDLKPROF_PROFILER=OFF where no toolkit can be found, beside the build folder, and compares with the `dlkprof` of that,
which has the profiler. The page is left out, as building it is the same. Where ccache has what preset ci compiled (setup.sh sets
CCACHE_BASEDIR for that), it takes seconds, else some minutes.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

TOOLKIT = re.compile(r"\bcuda\b|cupti", re.IGNORECASE)
# What is asked of either program about each shipped capture.
QUESTIONS = [
    ["report"],
    *(
        ["report", f"--reports={name}", "--format=csv"]
        for name in ("summary", "detail", "metrics", "occupancy", "stall", "source")
    ),
    ["export", "--format=ncu-csv", "--output=-"],
]


def find_path_faults(commands, cache):
    """Where a toolkit is looked for or compiled with: the texts of compile_commands.json and CMakeCache.txt."""
    for flag in sorted(set(re.findall(r"-(?:I|isystem) ?(\S+)", commands))):
        if TOOLKIT.search(flag):
            yield f"{flag} is where headers are looked for"
    for line in cache.splitlines():
        if not line.startswith(("#", "//")) and re.search("CUDA|CUPTI", line):
            yield f"CMake looked for a toolkit: {line}"


def run(program, *arguments):
    environment = {"PATH": "/usr/bin:/bin", "CUDA_HOME": "/nonexistent"}
    done = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def find_reading_faults(reader, whole, captures):
    """`reader` and `whole`: the programs without and with the profiler."""
    for verb, *options in QUESTIONS:
        codes = []
        for capture in captures:
            ours, theirs = (run(program, verb, capture, *options) for program in (reader, whole))
            codes.append(ours[0])
            if ours != theirs or (ours[0] != 0 and not options):
                yield f"{verb} {capture.name} {' '.join(options)} ended with {ours[0]} and {theirs[0]}, and printed {ours[1][:200] or ours[2]}"
        if len(captures) > 1 and 0 not in codes:
            yield f"{verb} {' '.join(options)} succeeded for no capture"


def find_refusal_faults(reader):
    """Whether it says once what it cannot do, and what to do about it."""
    for arguments, code in (
        ([sys.executable, "-c", "print(1)"], 1),
        (["sweep", "-L", "n", "1,2", "--", sys.executable, "-c", "print({n})"], 1),
        (["metrics", "--query=sm__"], 1),
        (["doctor"], 1),
    ):
        got, out, err = run(reader, *arguments)
        said = out + err
        if got != code or said.count("built without the CUDA Toolkit") < 1 or said.count("DLKPROF_PROFILER=OFF") != 1:
            yield f"{' '.join(map(str, arguments))} ended with {got} and said: {said}"
    got, out, _ = run(reader, "metrics", "--list-sets")
    if got != 0 or "basic" not in out:
        yield "metrics --list-sets does not list basic"


def find_kept_faults(reader, build):
    """Whether counters that were kept are left alone, and that is told."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            "PATH": "/usr/bin:/bin",
            "LD_LIBRARY_PATH": str(build / "fakes"),
            "CUDA_HOME": str(build / "fakes/toolkit"),
            "FAKE_JOURNAL": f"{folder}/journal",
        }
        subprocess.run(
            [
                build / "bin/dlkprof",
                "--replay-mode=kernel",
                "--keep-counters",
                "--metrics=sm__warps_active.avg.pct_of_peak_sustained_active",
                "--verbosity=quiet",
                build / "fakes/fake_program",
                "train:1",
            ],
            cwd=folder,
            env=environment,
            capture_output=True,
            timeout=120,
            check=True,
        )
        capture = pathlib.Path(folder) / "dlkprof.dlkcap"
        yield from find_reading_faults(reader, build / "bin/dlkprof", [capture])
        got, _, err = run(reader, "report", capture, "--metrics=sm__warps_active.avg.per_cycle_active")
        if got != 1 or "built without the CUDA Toolkit" not in err:
            yield f"a metric of counters that were kept ended with {got} and said: {err}"


def main(build, source):
    captures = sorted((source / "samples/captures").glob("*.dlkcap"))
    made = build.parent / "reader"
    options = ["-DDLKPROF_PROFILER=OFF", "-DDLKPROF_TESTS=OFF", "-DDLKPROF_BENCH=OFF", "-DDLKPROF_PAGE=OFF"]
    environment = {**os.environ, "CUDA_HOME": "/nonexistent", "CUDA_PATH": "/nonexistent"}
    for command in (["cmake", "--preset", "ci", "-B", made, *options], ["cmake", "--build", made, "--target", "dlkprof"]):
        done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(done.stdout[-4000:], done.stderr[-4000:], f"{' '.join(map(str, command))} failed", sep="\n")
            return 1
    faults = list(find_path_faults((made / "compile_commands.json").read_text(), (made / "CMakeCache.txt").read_text()))
    faults += find_reading_faults(made / "bin/dlkprof", build / "bin/dlkprof", captures)
    faults += find_refusal_faults(made / "bin/dlkprof")
    faults += find_kept_faults(made / "bin/dlkprof", build)
    print("\n".join(faults) if faults else "What reads captures needs no CUDA Toolkit.")
    return 1 if faults else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.splitlines()[0])
    sys.exit(main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:])))
