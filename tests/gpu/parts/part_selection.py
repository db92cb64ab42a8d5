"""The same selector picks the same launches in ncu and in dlkprof."""

from harness import Skipped, check, is_asked_for

PART = "selection"
FINGERPRINT = "smsp__inst_executed.sum"  # every launch of select_probe executes a count of its own

NOTHING = ("-k", "nothing_matches_this")

# (what it is, its options): the same words for both tools.
SELECTORS = (
    ("every launch", ()),
    ("a name", ("--kernel-id", "::alpha_kernel:")),
    ("second invocation of a name", ("--kernel-id", "::alpha_kernel:2")),
    ("second invocation of anything", ("--kernel-id", ":::2")),
    ("invocations by pattern", ("--kernel-id", ":::.*5|3")),
    ("a pattern, base function", ("--kernel-id", "::regex:gemm:")),
    ("a negative pattern, third invocation", ("--kernel-id", "::regex:^(?!alpha):3")),
    ("context and stream", ("--kernel-id", "1:7::")),
    ("a pattern, base demangled", ("-k", "regex:gemm", "--kernel-name-base", "demangled")),
    ("a pattern, base mangled", ("-k", "regex:^_Z.*beta", "--kernel-name-base", "mangled")),
    ("skip and count of matches", ("-k", "regex:^(alpha|beta)_", "-s", "2", "-c", "3")),
    ("skip before match", ("-k", "regex:beta", "--launch-skip-before-match", "4", "-c", "3")),
    ("count per launch configuration", ("--filter-mode", "per-launch-config", "-k", "regex:alpha", "-c", "1")),
    ("skip and count per launch configuration", ("--filter-mode", "per-launch-config", "-s", "1", "-c", "1")),
    ("nothing matches", NOTHING),
)

# Of the launches of nvtx_probe. ncu takes ranges in only where it is told to (--nvtx). No nest of its ranges has a name twice: there
# ncu 2025.3 goes by the outer of the two alone, so that "inner]" misses a launch within inner/outer/inner, and "[inner/*/inner]"
# takes one within inner alone (seen on an H100), which its manual does not say.
NVTX_FILTERS = (
    ("pushed, anywhere", ("--nvtx-include", "inner/")),
    ("outermost", ("--nvtx-include", "[outer")),
    ("innermost", ("--nvtx-include", "inner]")),
    ("nested straight in", ("--nvtx-include", "outer/inner")),
    ("nested, slash at the end", ("--nvtx-include", "outer/middle/")),
    ("one between", ("--nvtx-include", "outer/+/inner")),
    ("any between", ("--nvtx-include", "outer/*/inner")),
    ("whole stack", ("--nvtx-include", "[outer/middle/inner]")),
    ("from bottom to top", ("--nvtx-include", "[first/*/inner]")),
    ("domain", ("--nvtx-include", "net@forward/")),
    ("domain, nested", ("--nvtx-include", "net@forward/layer")),
    ("domains by pattern", ("--nvtx-include", "regex:net@forward/")),
    ("started", ("--nvtx-include", "epoch")),
    ("started, both", ("--nvtx-include", "step,epoch")),
    ("started, of a domain", ("--nvtx-include", "net@epoch")),
    ("pattern", ("--nvtx-include", "regex:^o.ter/")),
    ("either of two", ("--nvtx-include", "epoch", "--nvtx-include", "worker/")),
    ("exclude", ("--nvtx-exclude", "outer/")),
    ("include and exclude", ("--nvtx-include", "outer/", "--nvtx-exclude", "inner]")),
    ("include, exclude started", ("--nvtx-include", "outer/", "--nvtx-exclude", "step")),
    ("special characters", ("--nvtx-include", "f(a\\, b)\\[0\\]/")),
    ("slash in a name", ("--nvtx-include", "x\\/y]")),
    ("skip and count", ("--nvtx-include", "outer/", "-s", "2", "-c", "3")),
    ("an invocation", ("--nvtx-include", "inner/", "--kernel-id", ":::2")),
)


def run(bench):
    for probe, selectors, of_ncu in (("select_probe", SELECTORS, ()), ("nvtx_probe", NVTX_FILTERS, ("--nvtx",))):
        if not is_asked_for(probe):
            continue
        program = bench.sample(probe)
        try:
            bench.ncu.offered([FINGERPRINT], program)
        except Skipped as reason:
            bench.board.skip(PART, "all selectors", reason)
            return
        for number, (name, selection) in enumerate(selectors):
            with bench.board.case(PART, f"{name}: {' '.join(selection)}") as row:
                row.detail = compare(bench, f"{probe}_{number}", selection, program, of_ncu)


def compare(bench, name, selection, program, of_ncu=()):
    expected = picked(bench.ncu.launches(name, [FINGERPRINT], [*of_ncu, *selection], program))
    options = ("--replay-mode", "kernel", "--samples", "all", "--metrics", FINGERPRINT, *selection)
    bench.dlkprof.profile(name, options, program).require_success()
    got = picked(bench.dlkprof.launches(name))
    check(got == expected, difference(expected, got))
    check(got or selection == NOTHING, "both picked no launch: the selector does not fit the probe")
    return f"{len(got)} launches, the same"


def picked(launches):
    """What tells each launch from all others, in order."""
    return [(launch.key, launch.number(FINGERPRINT)) for launch in launches]


def difference(expected, got):
    def words(fingerprints, others):
        shown = [f"{key[0]}{key[1]}" for key, count in fingerprints if (key, count) not in others]
        return f"{len(shown)} ({', '.join(shown[:3])}{', ...' if len(shown) > 3 else ''})" if shown else "none"

    return (
        f"ncu picked {len(expected)}, dlkprof {len(got)}; only ncu: {words(expected, got)}; "
        f"only dlkprof: {words(got, expected)}"
    )
