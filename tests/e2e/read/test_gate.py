"""compare --gate: planted regressions are held back, repetitions pass, and a line says why."""

import itertools
import json
import sqlite3

from harness import BUILD, SOURCE, EndToEndTest

BASE = "cifar10_b512"
# Recordings of one program, at different times and in different replay modes, with other loads of the CPU.
RECORDINGS = (BASE, "cifar10_b512_iteration", "cifar10_b512_sampled", "cifar10_b512_pc_sampling", "cifar10_b512_kept")
BYTES, INSTRUCTIONS = "dram__bytes.sum", "smsp__inst_executed.sum"


class GateTest(EndToEndTest):
    def database(self, name, capture=BASE):
        path = self.folder / f"{name}_dldb.sqlite"
        folder = "tests/data/captures" if capture.endswith("_kept") else "samples/captures"
        done = self.run_command(BUILD / "bin/capture_database", path, SOURCE / folder / f"{capture}.dlkcap")
        self.assertEqual(0, done.code, done.stderr)
        return path

    def change(self, path, sql, *values):
        connection = sqlite3.connect(path)
        with connection:
            self.assertGreater(connection.execute(sql, values).rowcount, 0)
        connection.close()

    def scale(self, path, metric, factor, kernels="%"):
        self.change(path, "UPDATE measured SET value = value * ? WHERE metric = (SELECT id FROM metric WHERE name = ?) AND config IN "
                          "(SELECT c.id FROM config c JOIN kernel k ON k.id = c.kernel WHERE k.name LIKE ?)", factor, metric, kernels)  # fmt: skip

    def gate(self, base, other, *rules):
        path = self.folder / "rules.json"
        path.write_text(json.dumps({"schema": "dlkprof/gate/1", "rules": list(rules)}))
        done = self.dlkprof("compare", base, other, f"--gate={path}", "--format=json")
        self.assertIn(done.code, (0, 3), done.stderr)
        self.assertEqual("compare", json.loads(done.stdout)["report"])
        return done.code, [
            line.removeprefix("dlkprof: gate ") for line in done.stderr.splitlines() if "gate " in line and "rules" not in line
        ]

    def test_a_repeated_run_passes(self):
        base = self.database("base")
        rules = [{"time": "iteration"}, {"time": "gpu"}, {"counter": BYTES}, {"counter": INSTRUCTIONS}]
        rules += [dict(rule, ops="regex:.*") for rule in rules[1:]]
        code, lines = self.gate(base, self.database("again"), *rules)
        self.assertEqual((0, len(rules)), (code, len(lines)), lines)
        self.assertTrue(all(line.startswith("kept: ") for line in lines), lines)
        # The same program, recorded at another time in another replay mode: what does not depend on the clock stays.
        other = self.database("other", "cifar10_b512_iteration")
        code, lines = self.gate(base, other, {"counter": INSTRUCTIONS, "max_increase_pct": 0.1})
        self.assertEqual(0, code, lines)

    def test_lost_gpu_times_are_no_times_of_zero(self):
        """Of a capture that was cut before CUPTI's buffers were written, as where a program is killed."""
        whole = SOURCE / f"samples/captures/{BASE}.dlkcap"
        cut = self.folder / "cut.dlkcap"
        cut.write_bytes(whole.read_bytes()[:-100])
        code, lines = self.gate(whole, cut, {"time": "gpu"})
        self.assertEqual(3, code)
        self.assertIn("cannot be checked", lines[0])
        screen = self.dlkprof("report", cut).stdout
        self.assertTrue(screen.startswith("How busy the GPU is cannot be said"), screen)
        self.assertNotIn("idles", screen)

    def test_five_per_cent_more_bytes_are_held_back(self):
        base, worse = self.database("base"), self.database("worse")
        self.scale(worse, BYTES, 1.05)
        code, lines = self.gate(base, worse, {"name": "traffic", "counter": BYTES, "max_increase_pct": 4}, {"counter": INSTRUCTIONS},
                                {"time": "iteration"})  # fmt: skip
        self.assertEqual(3, code)
        self.assertRegex(
            lines[0], r"^broken: traffic: dram__bytes.sum of the run grew by 5 % \(.* per iteration.*\); the rule allows 4 %$"
        )
        self.assertTrue(lines[1].startswith("kept: ") and lines[2].startswith("kept: "), lines)
        code, lines = self.gate(base, worse, {"counter": BYTES, "max_increase_pct": 5.01})
        self.assertEqual(0, code, lines)
        code, lines = self.gate(worse, base, {"counter": BYTES})  # fewer are no fault
        self.assertEqual(0, code, lines)

    def test_ops_are_looked_at_one_by_one(self):
        base, worse = self.database("base"), self.database("worse")
        self.scale(worse, BYTES, 1.05, "%gemm%")
        code, lines = self.gate(base, worse, {"counter": BYTES, "ops": "regex:conv", "max_increase_pct": 4})
        self.assertEqual(3, code)
        self.assertRegex(lines[0], r"^broken: dram__bytes.sum of \S*conv\S*( [fb]prop)? grew by ")
        code, lines = self.gate(base, worse, {"counter": BYTES, "ops": "regex:no_such_op"})
        self.assertEqual((3, 1), (code, len(lines)))
        self.assertIn("no op of both runs", lines[0])

    def stretch_iterations(self, path, factor):
        self.change(path, "UPDATE iteration SET start_ns = f + (start_ns - f) * ?1, stop_ns = f + (stop_ns - f) * ?1 "
                          "FROM (SELECT start_ns AS f FROM iterations WHERE aggregated ORDER BY 1 LIMIT 1)", factor)  # fmt: skip
        self.change(path, "UPDATE iteration SET start_ns = CAST(start_ns AS INTEGER), stop_ns = CAST(stop_ns AS INTEGER)")

    def stretch_kernels(self, path, factor):
        self.change(
            path,
            "UPDATE activity SET end_ns = CAST(start_ns + (end_ns - start_ns) * ? AS INTEGER) WHERE start_ns IS NOT NULL",
            factor,
        )

    def test_every_recording_of_a_program_passes_against_every_other(self):
        paths = {capture: self.database(capture, capture) for capture in RECORDINGS}
        for limit in (0, 5):
            rules = [{"time": "iteration", "max_increase_pct": limit}, {"time": "gpu", "max_increase_pct": limit},
                     {"time": "gpu", "ops": "regex:.*", "max_increase_pct": limit}]  # fmt: skip
            for base, other in itertools.permutations(RECORDINGS, 2):
                with self.subTest(base=base, other=other, limit=limit):
                    code, lines = self.gate(paths[base], paths[other], *rules)
                    self.assertEqual((0, len(rules)), (code, len(lines)), lines)
                    if (base, other) == (BASE, "cifar10_b512_pc_sampling"):  # the slowest of them, as it was sampled
                        self.assertRegex(
                            lines[0],
                            r"^kept: the iteration time grew by 30.6 % .*; the CPU took .* % longer for the same launch calls$",
                        )

    def test_a_fifth_more_time_is_held_back(self):
        base = self.database("base")
        for capture in (BASE, "cifar10_b512_kept"):
            with self.subTest(capture=capture):
                slower = self.database("slower", capture)
                self.stretch_iterations(slower, 1.2)
                code, lines = self.gate(base, slower, {"time": "iteration", "max_increase_pct": 5})
                self.assertEqual(3, code, lines)
                self.assertRegex(lines[0], r"^broken: the iteration time grew by .*p = ")
        for capture in RECORDINGS:
            with self.subTest(capture=capture):
                slower = self.database("slower", capture)
                self.stretch_kernels(slower, 1.2)
                code, lines = self.gate(
                    base,
                    slower,
                    {"time": "gpu", "max_increase_pct": 5},
                    {"time": "gpu", "ops": "regex:conv", "max_increase_pct": 5},
                )
                self.assertEqual(3, code, lines)
                self.assertRegex(lines[0], r"^broken: the GPU time grew by (19|2[01]).* %.*p = ")
                self.assertRegex(lines[1], r"^broken: the GPU time of .*conv.* grew by ")

    def test_slower_iterations_are_held_back(self):
        base, slower = self.database("base"), self.database("slower")
        self.stretch_iterations(slower, 1.2)
        code, lines = self.gate(base, slower, {"time": "iteration", "max_increase_pct": 5})
        self.assertEqual(3, code, lines)
        self.assertRegex(lines[0], r"^broken: the iteration time grew by 20 % .*p = ")
        code, lines = self.gate(base, slower, {"time": "iteration", "max_increase_pct": 21})
        self.assertEqual(0, code, lines)

    def test_a_slower_cpu_tells_nothing_where_the_gpu_holds_calls_up(self):
        base, slower = self.database("base"), self.database("slower")
        self.stretch_iterations(slower, 1.2)
        self.change(slower, "UPDATE call SET end_ns = start_ns + (end_ns - start_ns) * 13 / 10")
        rule = {"time": "iteration", "max_increase_pct": 5}
        code, lines = self.gate(base, slower, rule)
        self.assertEqual(0, code, lines)
        # With GPUs at work nearly all the time, what a launch waits for is the GPU.
        for path in (base, slower):
            self.change(path, "UPDATE activity SET end_ns = coalesce((SELECT min(n.start_ns) FROM activity n WHERE n.start_ns > "
                              "activity.start_ns), end_ns) WHERE start_ns IS NOT NULL")  # fmt: skip
        code, lines = self.gate(base, slower, rule)
        self.assertEqual(3, code, lines)

    def test_too_few_iterations_do_not_pass(self):
        base = self.database("base")
        path = self.folder / "rules.json"
        for rule in ({"time": "iteration"}, {"time": "gpu"}, {"time": "gpu", "ops": "regex:conv"}):
            for unknown, code in (("break", 3), ("pass", 0)):
                path.write_text(json.dumps({"schema": "dlkprof/gate/1", "rules": [dict(rule, if_unknown=unknown)]}))
                done = self.dlkprof("compare", base, base, "--iter_start=3", "--iter_stop=9", f"--gate={path}")
                self.assertEqual(code, done.code, done.stderr)
                self.assertIn("too few iterations to test, 7 and 7; each run needs 8", done.stderr)

    def test_small_growth_of_a_counter_may_be_let_through(self):
        base, worse = self.database("base"), self.database("worse")
        self.scale(worse, BYTES, 1.05)
        rule = {"counter": BYTES, "ops": "regex:.*", "max_increase_pct": 1}
        self.assertEqual(3, self.gate(base, worse, rule)[0])
        self.assertEqual(3, self.gate(base, worse, dict(rule, min_increase=1e6))[0])
        self.assertEqual(0, self.gate(base, worse, dict(rule, min_increase=1e9))[0])

    def test_what_was_not_measured_does_not_pass(self):
        base, sampled = self.database("base"), self.database("sampled", "cifar10_b512_sampled")
        code, lines = self.gate(base, sampled, {"counter": BYTES})
        self.assertEqual(3, code)
        self.assertIn("collect it with --metrics dram__bytes.sum", lines[0])
        code, lines = self.gate(base, sampled, {"counter": BYTES, "if_unknown": "pass"})
        self.assertEqual(0, code)
        self.assertTrue(lines[0].startswith("not checked: "), lines)

    def test_rules_that_cannot_be_are_refused(self):
        base = self.database("base")
        path = self.folder / "rules.json"
        good = {"schema": "dlkprof/gate/1", "rules": [{"time": "gpu"}]}
        for document, said in (
            ("", "no JSON"), ("[1]", "no JSON"), ("{}", "schema"), (dict(good, schema="dlkprof/gate/9"), "schema"),
            (dict(good, rules=[]), "no \"rules\""), (dict(good, rules=[1]), "rule 1"), (dict(good, rules=[{}]), "either"),
            (dict(good, rules=[{"time": "gpu"}, {"time": "gpu", "counter": BYTES}]), "rule 2"),
            (dict(good, rules=[{"counter": "sm__cycles_active.sum"}]), "depends on the clock"),
            (dict(good, rules=[{"counter": "dram__bytes.sum.per_second"}]), "depends on the clock"),
            (dict(good, rules=[{"time": "gpu", "max_increase_pct": "5"}]), "no number"),
            (dict(good, rules=[{"time": "gpu", "max_increase_pct": -1}]), "no number"),
            (dict(good, rules=[{"counter": BYTES, "min_increase": -1}]), "no number"),
            (dict(good, rules=[{"time": "gpu", "min_increase": 1}]), "only counters"),
            (dict(good, rules=[{"time": "gpu", "limit": 1}]), "limit"),
            (dict(good, rules=[{"time": "gpu", "ops": "regex:("}]), "ops"),
            (dict(good, rules=[{"time": "gpu", "ops": ""}]), "without a name"),
            (dict(good, rules=[{"time": "iteration", "ops": "mm"}]), "iteration time of ops"),
        ):  # fmt: skip
            path.write_text(document if isinstance(document, str) else json.dumps(document))
            done = self.dlkprof("compare", base, base, f"--gate={path}")
            self.assertEqual((2, ""), (done.code, done.stdout), document)
            self.assertIn(said, done.stderr)
        self.assertEqual(1, self.dlkprof("compare", base, base, "--gate=nothing.json").code)
        done = self.dlkprof("compare", base, base, "--gate", "")
        self.assertEqual((2, ""), (done.code, done.stdout))
        self.assertIn("--gate names no file", done.stderr)

    def test_what_cannot_be_a_count_does_not_pass(self):
        base, odd = self.database("base"), self.database("odd")
        for value in (-1.0, 1.7e308):
            self.change(odd, "UPDATE measured SET value = ?", value)
            for one, other in ((base, odd), (odd, base)):
                code, lines = self.gate(one, other, {"counter": BYTES})
                self.assertEqual(3, code, lines)
                self.assertIn("is no count", lines[0])
