"""What dlkprof costs beyond PyTorch's emission: processes that take turns, and what is made of their times."""

import contextlib
import json
import subprocess
import sys
from pathlib import Path
from unittest import mock

import emission_cost
import part_emission
import performance_report
import side_by_side
from harness import FAIL, FIGURE, PASS, SKIP, CheckFailed, Skipped
from side_by_side import Times
from stand_ins import InFolder

# Trains for ever, and leaves the number of its steps where a capture would be.
CIFAR10 = """
import atexit, builtins, os, pathlib, sys
capture = os.environ.get("CUDA_INJECTION64_PATH")
builtins.steps = getattr(builtins, "steps", 0)
if capture:
    atexit.register(lambda: pathlib.Path(capture).write_text(str(builtins.steps)))
while True:
    builtins.steps += int(sys.argv[sys.argv.index("--print_every") + 1])
    print("iteration", builtins.steps)
"""

DLKPROF = """
import os, pathlib, subprocess, sys
words = dict(word.split("=", 1) for word in sys.argv[1:] if word.startswith("--") and "=" in word)
if "--database" in words:
    steps = int(pathlib.Path(words["--database"]).read_text())
    table = pathlib.Path(words["--output_path"]) / (words["--base_name"] + "_summary.csv")
    table.write_text(f"Table,Row Name,Value\\r\\nIterations,Total Iterations,{steps + %d}\\r\\n")
    sys.exit()
folder, name = (sys.argv[sys.argv.index(word) + 1] for word in ("--output_path", "--base_name"))
python = {"DLKPROF_PYTHON": "pytorch", "PYTHONPATH": os.environ["PYTHONPATH"]} if "--mode" in sys.argv else {}
sys.exit(subprocess.call(sys.argv[sys.argv.index("--") + 1:],
                         env={**os.environ, **python, "CUDA_INJECTION64_PATH": f"{folder}/{name}.dlkcap"}))
"""

TORCH = """
import contextlib, types
emit_nvtx = lambda record_shapes: contextlib.nullcontext()
autograd = types.SimpleNamespace(profiler=types.SimpleNamespace(emit_nvtx=emit_nvtx))
"""

OPTIONS = {"dlkprof": ("--mode", "pytorch", "--replay-mode", "none"), "timeline": ("--replay-mode", "none")}


def made_up_times(dlkprof=1.05, rounds=16):
    factors = zip(emission_cost.MEANINGS, (1, 2, 2.2, 1.8, 1.1, 2 * dlkprof))
    return Times(4, [{variant: [factor * (1 + 0.01 * (turn % 2)) for turn in range(rounds)] for variant, factor in factors}])


class VerdictTest(InFolder):
    def test_limit(self):
        words = emission_cost.verdict(made_up_times())
        self.assertIn("dlkprof / emit_nvtx 1.0500 (95 % interval 1.0500 to 1.0500, n 16", words)
        with self.assertRaisesRegex(CheckFailed, "limit 1.1"):
            emission_cost.verdict(made_up_times(1.11))
        with self.assertRaises(Skipped):
            emission_cost.verdict(made_up_times(rounds=3))

    def test_page(self):
        page = performance_report.markdown([("GPU", "H200")], [made_up_times()])
        for line in (
            "| GPU | H200 |",
            "| 4 | `timeline` | 1.1055 | 1.1000 | 1.1110 | 16 |",
            "| 4 | `dlkprof` / `emit_nvtx` | 1.0500 | 1.0500 to 1.0500 | 1.0500 | 1.0500 | 16 |",
            "- Batch 4: PyTorch's own emission +100.0 %, `--mode=pytorch` +110.0 %, which is +5.0 % beside it; listening to "
            "PyTorch's own +10.0 %; the timeline alone +10.0 %.",
        ):
            self.assertIn(line, page)
        self.assertIn("one turn each", performance_report.markdown([], [made_up_times(rounds=1)]))


class SetsTest(InFolder):
    @staticmethod
    def times(*ratios):
        factors = {"emit_nvtx": 1, "listening": 1.2}
        return Times(
            128,
            [
                {
                    f"{variant}_{number}": [2.0 * factors.get(variant, ratio), 4.0]
                    for variant in part_emission.VARIANTS
                    for number in range(part_emission.SETS_AT_ONCE)
                }
                for ratio in ratios
            ],
        )

    def test_processes_that_began_together_are_one_observation(self):
        words = part_emission.verdict(self.times(*6 * [1.1]))
        self.assertIn("dlkprof / emit_nvtx: median of 18 pairs of processes 1.0500 (95 % interval 1.0500 to 1.0500;", words)
        self.assertIn(
            "listening / emit_nvtx: median of 18 pairs of processes 1.1000",
            part_emission.words_of(self.times(*6 * [1.1]), "listening"),
        )
        with self.assertRaisesRegex(CheckFailed, "limit 1.1"):
            part_emission.verdict(self.times(*6 * [1.3]))
        with self.assertRaisesRegex(Skipped, "3 sets"):
            part_emission.verdict(self.times(1.1))
        self.assertEqual(part_emission.words_of(Times(128), "listening"), "out of time")


class TurnsTest(InFolder):
    def setUp(self):
        super().setUp()
        (self.folder / "pytorch").mkdir()
        (self.folder / "pytorch" / "cifar10.py").write_text(CIFAR10)
        (self.folder / "torch.py").write_text(TORCH)
        path = mock.patch.dict("os.environ", {"PYTHONPATH": str(self.folder)})
        samples = mock.patch.object(side_by_side, "SAMPLES", self.folder)
        rounds = mock.patch.multiple(emission_cost, SETS=2, ROUNDS=5)
        limit = mock.patch.object(emission_cost, "LIMIT", float("inf"))  # times of stand-ins tell nothing
        for patch in (path, samples, rounds, limit):
            patch.start()
            self.addCleanup(patch.stop)

    def measure(self, before_the_first=1):
        bench = self.bench(DLKPROF % before_the_first)
        return bench, emission_cost.run(bench, "timeline", OPTIONS)

    def test_all_variants_take_turns(self):
        bench, times = self.measure()
        self.assertEqual([one.batch_size for one in times], list(emission_cost.BATCH_SIZES))
        for one in times:
            self.assertEqual(
                {variant: len(one.of(variant)) for variant in emission_cost.MEANINGS},
                dict.fromkeys(emission_cost.MEANINGS, 2 * 5),
            )
        steps = 3 * (side_by_side.WARM_UP_TURNS + 5) * side_by_side.STEPS
        self.assertIn(f"{steps} of {steps} steps in the capture", self.board.rows[0].detail)
        self.assertEqual([row.status for row in self.board.rows], [PASS] + 3 * [PASS, FIGURE])
        self.assertEqual(list(bench.dlkprof.captures.glob("*.dlkcap")), [])

    def test_steps_that_were_not_recorded_fail(self):
        bench, _ = self.measure(before_the_first=0)
        self.assertEqual((self.board.rows[0].status, list(bench.dlkprof.captures.glob("*.dlkcap"))), (FAIL, []))

    def test_no_capture_fails(self):
        (self.folder / "pytorch" / "cifar10.py").write_text(CIFAR10.replace("if capture:", "if False:"))
        self.measure()
        self.assertIn("dlkprof was not attached", self.board.rows[0].detail)

    def test_a_program_that_fails(self):
        (self.folder / "pytorch" / "cifar10.py").write_text("raise ValueError('no GPU')")
        _, times = self.measure()
        self.assertEqual(times, [])
        self.assertIn(" ended: ", self.board.rows[0].detail)
        self.assertIn("ValueError: no GPU", self.board.rows[0].detail)
        self.assertEqual([row.status for row in self.board.rows], [FAIL, SKIP, SKIP, SKIP])

    def run_sets(self, **settings):
        bench = self.bench(DLKPROF % 1)
        with mock.patch.multiple(part_emission, **settings), mock.patch.object(bench, "has_torch", return_value=True):
            part_emission.run(bench)

    def test_sets(self):
        self.run_sets(ROUNDS=2, BUDGET_S=1, LEAST_SETS=3, LIMIT=float("inf"))
        self.assertEqual([row.status for row in self.board.rows], [PASS, PASS, FIGURE, FIGURE], self.board.rows)
        self.assertIn("captures of 0.0", self.board.rows[0].detail)

    def test_what_a_step_takes_by_library(self):
        lost = 0
        took = {
            "listening": {"libcupti.so.13": 20000.0, "libcudart.so.13": 1000.0, "libcuda.so.580": 300.0},
            "emit_nvtx": {"python3.12": 500.0},
            "dlkprof": {"libdlkprof_pytorch.so": 100.0},
        }

        class Sampler(contextlib.AbstractContextManager):
            def __init__(self, pid, threads):
                words = Path(f"/proc/{pid}/environ").read_bytes()
                self.lost = lost
                self.microseconds = took[
                    "dlkprof" if b"DLKPROF_PYTHON" in words else "listening" if b"CUDA_INJECTION64_PATH" in words else "emit_nvtx"
                ]

            def __exit__(self, *_):
                pass

        with mock.patch.object(part_emission, "Sampler", Sampler):
            self.run_sets(ROUNDS=1, BUDGET_S=1)
        words = self.board.rows[3].detail
        self.assertTrue(words.startswith("us, emit_nvtx, listening, dlkprof, medians of "), words)
        self.assertIn(
            " processes each (smallest to largest): libcupti 0.0 (0.0 to 0.0), 200.0 (200.0 to 200.0), "
            "0.0 (0.0 to 0.0); libdlkprof_inject 0.0 ",
            words,
        )
        self.assertIn(
            "libdlkprof_pytorch 0.0 (0.0 to 0.0), 0.0 (0.0 to 0.0), 1.0 (1.0 to 1.0); libcuda 0.0 (0.0 to 0.0), 3.0 ", words
        )
        self.assertIn(
            "python3 5.0 (5.0 to 5.0), 0.0 (0.0 to 0.0), 0.0 (0.0 to 0.0); "
            "all others 0.0 (0.0 to 0.0), 10.0 (10.0 to 10.0), 0.0 (0.0 to 0.0)",
            words,
        )
        lost = 1
        with mock.patch.object(part_emission, "Sampler", Sampler):
            self.run_sets(ROUNDS=1, BUDGET_S=1)
        self.assertRegex(self.board.rows[7].detail, "^not sampled: the kernel lost [0-9]+ samples$")

    def test_no_samples_are_said(self):
        with mock.patch.object(part_emission, "Sampler", side_effect=PermissionError(1, "perf_event_open: no")):
            self.run_sets(ROUNDS=1, BUDGET_S=1)
        self.assertEqual(self.board.rows[3].detail, "not sampled: [Errno 1] perf_event_open: no")

    def test_sets_without_captures_fail(self):
        (self.folder / "pytorch" / "cifar10.py").write_text(CIFAR10.replace("if capture:", "if False:"))
        self.run_sets(ROUNDS=1, BUDGET_S=1)
        self.assertIn("0 captures of 6 processes: dlkprof was not attached", self.board.rows[0].detail)

    def answers(self, program, *commands):
        """What turns.py answers, each command being a line of JSON."""
        done = subprocess.run(
            [sys.executable, side_by_side.PROBES / "turns.py", program],
            input="".join(json.dumps(command) + "\n" for command in commands),
            capture_output=True,
            text=True,
            check=True,
            cwd=self.folder,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_a_turn_of_several_lines(self):
        program = self.folder / "lines.py"
        program.write_text("for number in range(5):\n    print(number)\n    open('told', 'a').write(str(number))\n")
        first, turn, _ = self.answers(program, [], 3, "end")
        self.assertEqual((self.folder / "told").read_text(), "012")
        self.assertEqual(first["seconds"], first["first_seconds"])
        self.assertLess(turn["first_seconds"], turn["seconds"])

    def test_a_player_of_several_lines(self):
        loop = side_by_side.Loop("cifar10.py", 5, 1, lines=3)
        with side_by_side.Player(self.bench(DLKPROF % 1), side_by_side.Variant("alone", {}), loop) as player:
            player.start(4)
            player.answer(side_by_side.START_S)
            self.assertGreater(player.turn(), 0)
            player.end()
        self.assertEqual(player.steps, 5 + 15)

    def test_turns(self):
        program = self.folder / "elsewhere" / "program.py"
        program.parent.mkdir()
        (program.parent / "beside.py").write_text("")
        program.write_text(
            "import sys\nimport beside\nprint(1, end='')\nprint(sys.argv[1], file=sys.stderr)\nprint(2)\nprint(3)\n"
            "sys.exit(len(sys.argv))\n"
        )
        answers = self.answers(program, ["a"], 1, 1, ["b", "c"], "end", ["d"])
        turn = {"seconds", "first_seconds", *side_by_side.USED}
        end = {"code", "stderr", "free_chunks"}
        self.assertEqual([set(answer) for answer in answers], [turn, turn, end, turn, end, turn, end])
        self.assertTrue(all(answer[name] >= 0 for answer in answers if "seconds" in answer for name in turn))
        self.assertEqual(
            [(answer["code"], answer["stderr"]) for answer in answers if "code" in answer], [(2, "a\n"), (0, "b\n"), (0, "d\n")]
        )
