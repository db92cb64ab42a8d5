"""diagnosis.md: dlkprof's verdicts beside those of ncu's rules, as a section of docs/user/accuracy.md."""

import accuracy_report
from harness import markdown_table

RULES_SHOWN = 4  # of ncu's, the largest estimates first; how many more there are is said


def markdown(facts, table, occupancy, product, commands):
    """`table`: rows of diagnosis_rows; `occupancy`: rows of (program, kernels, outcome); `product`: words, or None."""
    return (
        "\n\n".join(
            [
                "## Diagnoses beside ncu's rules",
                "Written by the part `diagnosis` of `tests/gpu/run.sh`. Each kernel of `samples/cuda` that has a trait is diagnosed as "
                "what it was written to be. The evidence is that of dlkprof's reports; of ncu's rules those are listed that name a "
                "bottleneck (OPT and WRN) for the same kernel, with ncu's own estimate of what mending it would save.",
                markdown_table(("what", "value"), facts),
                markdown_table(("sample", "kernel", "written to be", "dlkprof says", "named", "ncu's rules say"), table),
                "### Theoretical occupancy and its limiter",
                "Every launch configuration of every sample: theoretical occupancy and the limits by registers, warps and blocks equal in "
                "the digits that ncu prints, and the limiter that dlkprof names the least of ncu's limits. That by shared memory ncu states "
                "for the part of L1 that the driver made shared memory for the launch, dlkprof for the largest that it can make: they "
                "differ where neither limits anything.",
                markdown_table(("sample", "configurations", "outcome"), occupancy),
                "### A large bf16 product",
                product or "Not measured.",
                "### Command lines of the diagnoses",
                "The last program's; the others differ in program alone.",
                "\n\n".join(f"    {accuracy_report.shown(command)}" for command in commands),
            ]
        )
        + "\n"
    )


def diagnosis_row(program, trait, named, words, rules):
    """`rules`: ncu's for this kernel; None where ncu was not run."""
    return (program, f"`{trait.kernel}`", trait.written_to_be, words, "yes" if named else "**no**", rules_in_words(rules))


def rules_in_words(rules):
    if rules is None:
        return "not run"
    if not rules:
        return "none"
    words = "; ".join(rule.in_words() for rule in rules[:RULES_SHOWN])
    more = len(rules) - RULES_SHOWN
    return f"{words}; {more} more" if more > 0 else words
