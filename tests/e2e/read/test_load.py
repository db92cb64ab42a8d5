"""dlkprof.load(): views, and measured launches with ncu_report's verbs; with pandas and without. The example of docs/user/python.md runs."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys

from harness import BUILD, SOURCE, EndToEndTest, python_with
from nsys_file import make_nsys_file

PAGE = SOURCE / "docs/user/python.md"
PACKAGE = BUILD / "share/dlkprof/python"
WITHOUT = "import sys; sys.modules['pandas'] = None\n"


class LoadTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.database = self.folder / "cifar10_b512_dldb.sqlite"
        done = self.run_command(BUILD / "bin/capture_database", self.database, SOURCE / "samples/captures/cifar10_b512.dlkcap")
        self.assertEqual(0, done.code, done.stderr)

    def python(self, program, path=None, python=sys.executable):
        environment = self.environment(PYTHONPATH=PACKAGE)
        done = subprocess.run([python, "-B", "-c", f"PATH = {str(path or self.database)!r}\n{program}"], cwd=self.folder,
                              env=environment, capture_output=True, text=True, timeout=60)  # fmt: skip
        self.assertEqual("", done.stderr)
        self.assertEqual(0, done.returncode)
        return done.stdout

    def value(self, program, **more):
        """What the program leaves in `answer`."""
        return json.loads(self.python(f"import dlkprof, json\n{program}\nprint(json.dumps(answer))", **more))

    def test_the_example_runs(self):
        blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8").split("## Reading runs")[1], flags=re.DOTALL)
        self.assertEqual(2, len(blocks))
        for before, python in ((WITHOUT, sys.executable), ("", python_with("pandas"))):
            first, second = (self.python(before + block, python=python) for block in blocks)
            self.assertRegex(first, r"the first op takes \d+% of the GPU time")
            self.assertRegex(second, r"\(\d+, \d+, \d+\) \d+ ns kernel replay")

    def test_views_are_frames_where_pandas_is(self):
        ask = ("run = dlkprof.load(PATH)\nimport pandas\nanswer = [isinstance(run.detail, pandas.DataFrame), list(run.detail['op_id']), "
               "int(run.detail['gpu_total_ns'].sum()), len(run.sql('SELECT 1 AS one WHERE 0'))]")  # fmt: skip
        is_frame, ids, total, none = self.value(ask, python=python_with("pandas"))
        self.assertTrue(is_frame)
        self.assertEqual(0, none)
        connection = sqlite3.connect(self.database)
        self.addCleanup(connection.close)
        self.assertEqual([row[0] for row in connection.execute("SELECT op_id FROM detail")], ids)
        self.assertEqual(connection.execute("SELECT sum(gpu_total_ns) FROM detail").fetchone()[0], total)

    def test_views_are_dictionaries_where_it_is_not(self):
        rows, column, views, empty = self.value(
            WITHOUT + "run = dlkprof.load(PATH)\nanswer = [run.iterations, run.iterations['duration_ns'], run.views, "
                      "run.sql('SELECT 1 AS one WHERE 0').columns]")  # fmt: skip
        connection = sqlite3.connect(self.database)
        connection.row_factory = sqlite3.Row
        self.addCleanup(connection.close)
        self.assertEqual([dict(row) for row in connection.execute("SELECT * FROM iterations")], rows)
        self.assertEqual([row["duration_ns"] for row in rows], column)
        self.assertEqual(
            sorted(row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'view'")), views
        )
        self.assertEqual(["one"], empty)

    def test_launches_have_the_verbs_of_ncu_report(self):
        launches = self.value(
            WITHOUT
            + """
run = dlkprof.load(PATH)
answer = [{"name": a.name(), "demangled": a.name(a.NameBase_DEMANGLED), "index": a.launch_index, "by": a.collected_by,
           "values": {m: a.metric_by_name(m).as_double() for m in a.metric_names()}, "none": a.metric_by_name("nothing"),
           "n": {m: a[m].n for m in a}, "ranges": a.nvtx_ranges()} for a in run[0]]
assert run.num_ranges() == len(run) == 1 and run.range_by_idx(0).num_actions() == len(answer)
assert run[0].action_by_idx(0).name() == answer[0]["name"]
"""
        )
        rows = self.report_json(self.database, "--reports=metrics")
        self.assertEqual(
            [(row["ID"], row["Kernel Name"]) for row in rows], [(one["index"], one["demangled"]) for one in launches]
        )
        for row, one in zip(rows, launches):
            self.assertEqual({name: row[name] for name in one["values"]}, one["values"])
            self.assertIn("sm__throughput.avg.pct_of_peak_sustained_elapsed", one["values"])
            self.assertEqual({name: row[f"{name} (n)"] for name in one["n"]}, one["n"])
            self.assertIsNone(one["none"])
            self.assertEqual("kernel replay", one["by"])
        chosen = self.value(
            WITHOUT + "answer = dlkprof.load(PATH)[0].actions_by_nvtx(['regex:cudnn_convolution'], ['regex:nothing'])"
        )
        self.assertEqual(
            [i for i, one in enumerate(launches) if any("cudnn_convolution" in text for text in one["ranges"])], chosen
        )
        self.assertTrue(chosen)
        outer = launches[chosen[0]]["ranges"]
        nested = self.value(WITHOUT + f"answer = dlkprof.load(PATH)[0].actions_by_nvtx([{outer[0] + '/'!r}], [])")
        self.assertLessEqual({chosen[0]}, set(nested))

    def test_captures_and_files_of_nsys_are_folded_first(self):
        capture = SOURCE / "samples/captures/cifar10_b512.dlkcap"
        nsys = self.folder / "profile.sqlite"
        make_nsys_file(self.database, nsys)
        ask = WITHOUT + "run = dlkprof.load(PATH)\nanswer = [run.detail['op_id'], run.detail['calls'], len(run[0])]\nrun.close()"
        wanted = self.value(ask)
        self.assertEqual(wanted, self.value(ask, path=capture))
        self.assertEqual([*wanted[:2], 0], self.value(ask, path=nsys))
        before = sorted(path.name for path in self.folder.iterdir())
        self.assertEqual(["cifar10_b512_dldb.sqlite", "profile.sqlite"], before)

    def test_captures_of_a_folder_are_found_by_their_name(self):
        ask = WITHOUT + "run = dlkprof.load(PATH{})\nanswer = run.detail['op_id']\nrun.close()"
        wanted = self.value(ask.format(""))
        for name, argument in (("dlkprof", ""), ("other", ", base_name='other'")):
            folder = self.folder / name
            folder.mkdir()
            shutil.copy(SOURCE / "samples/captures/cifar10_b512.dlkcap", folder / f"{name}.dlkcap")
            self.assertEqual(wanted, self.value(ask.format(argument), path=folder))

    def test_what_holds_no_ops_is_told_without_other_messages(self):
        ask = "from dlkprof._load import LoadError\ntry:\n    dlkprof.load(PATH)\nexcept LoadError as error:\n    answer = str(error)"
        cut = self.folder / "cut.dlkcap"
        cut.write_bytes((SOURCE / "samples/captures/cifar10_b4.dlkcap").read_bytes()[:5000])
        self.assertEqual(f"{cut} holds no ops: there is nothing to load", self.value(ask, path=cut))
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.assertIn("not a regular file", self.value(ask, path=pipe))

    def test_what_cannot_be_read_is_told(self):
        for path, said in (("/no/such/file", "there is no file"), (SOURCE / "README.md", "README.md")):
            message = self.value("from dlkprof._load import LoadError\ntry:\n    dlkprof.load(PATH)\nexcept LoadError as error:\n"
                                 "    answer = str(error)", path=path)  # fmt: skip
            self.assertIn(said, message)
        message = self.value("run = dlkprof.load(PATH)\ntry:\n    run.sql('DELETE FROM op')\nexcept Exception as error:\n"
                             "    answer = str(error)")  # fmt: skip
        self.assertIn("readonly", message)
        message = self.value("from dlkprof._load import LoadError\ntry:\n    dlkprof.load(PATH).view('nothing')\nexcept LoadError as error:\n"
                             "    answer = str(error)")  # fmt: skip
        self.assertIn("there is no view nothing", message)

    def test_a_program_that_is_profiled_imports_nothing_of_it(self):
        loaded = self.value("import sys\nanswer = [name for name in ('sqlite3', 'dlkprof._load') if name in sys.modules]")
        self.assertEqual([], loaded)
