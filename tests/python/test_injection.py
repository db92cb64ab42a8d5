"""python/inject/sitecustomize.py and the import hooks: the program's own imports, output and ending stay its own."""


import ast

from harness import FAKE_TORCH, INJECT, PYTHON, PythonTest

USES_CUDA = """
    import torch
    torch.ones(2).cuda()
    print("done")
"""
ENABLED = "enable NVTX shapes=True"


class AskingTest(PythonTest):
    def test_emission_starts_with_the_first_use_of_cuda(self):
        done = self.run_script(USES_CUDA)
        self.assert_clean(done)
        self.assertEqual(done.stdout, "done\n")
        self.assertEqual(done.log[:2], [ENABLED, "push aten::to"])
        self.assertNotIn("synchronize", done.log)

    def test_nothing_happens_without_the_variable(self):
        source = (
            USES_CUDA
            + """
    import sys
    print(sorted(sys.modules), [repr(finder).split(" at ")[0] for finder in sys.meta_path], sys.path)
"""
        )
        done = self.run_script(source, asked=None)
        plain = self.run_script(source, asked=None, PYTHONPATH=str(FAKE_TORCH))
        self.assert_clean(done)
        self.assertEqual(done.log, [])
        self.assertNotIn("dlkprof", done.stdout.replace(str(FAKE_TORCH), ""))
        self.assertEqual(done.stdout.replace("'sitecustomize', ", ""), plain.stdout.replace("'sitecustomize', ", ""))

    def test_nothing_happens_in_another_rank(self):
        def emits(rank, ranks):
            return bool(self.run_script(USES_CUDA, DLKPROF_OPTIONS=f'{{"ranks": "{ranks}"}}', **rank).log)

        self.assertEqual(
            [True, True, False, False, True],
            [
                emits({"RANK": "9"}, "0,8-15"),
                emits({"RANK": "0"}, "0,8-15"),
                emits({"RANK": "7"}, "0,8-15"),
                emits({"SLURM_PROCID": "1", "SLURM_STEP_ID": "0"}, "0"),
                emits({"SLURM_PROCID": "1"}, "0"),
            ],
        )
        self.assertTrue(emits({"RANK": "1"}, ""))
        for others in ("1/node", "16/job", "0,1/node"):
            self.assertTrue(emits({"RANK": "1", "LOCAL_RANK": "0"}, others), others)

    def test_nothing_happens_for_another_framework(self):
        self.assertEqual(self.run_script(USES_CUDA, asked="jax").log, [])

    def test_nothing_happens_in_isolated_mode_nor_without_site(self):
        script = self.write(
            "train.py",
            """
            import sys
            print([name for name in sys.modules if "dlkprof" in name], "inject" in repr(sys.modules.get("sitecustomize")))
        """,
        )
        for option in ("-I", "-S", "-E"):
            done = self.run_python(option, script)
            self.assert_clean(done)
            self.assertEqual(done.stdout, "[] False\n", option)

    def test_torch_is_not_imported_by_us(self):
        done = self.run_python("-c", "import sys; print(sorted(n for n in sys.modules if 'torch' in n or n == 'dlkprof'))")
        self.assert_clean(done)
        self.assertEqual(done.stdout, "[]\n")

    def test_a_process_that_does_not_use_cuda_emits_nothing(self):
        done = self.run_script("import torch\ntorch.nn.Linear()(torch.ones(2, 3))\n")
        self.assert_clean(done)
        self.assertEqual(done.log, [])

    def test_a_build_without_cuda_is_left_alone(self):
        done = self.run_script("import torch\nprint(len(torch.nn.modules.module._global_forward_hooks))", FAKE_TORCH_FAULT="cpu")
        self.assert_clean(done)
        self.assertEqual(done.stdout, "0\n")


class StartsTest(PythonTest):
    """Ways in which a Python comes to be."""

    def test_command_and_module(self):
        self.write("tool/__main__.py", USES_CUDA)
        for arguments in (["-c", "import torch; torch.ones(2).cuda()"], ["-m", "tool"]):
            done = self.run_python(*arguments)
            self.assert_clean(done)
            self.assertIn(ENABLED, done.log, arguments)

    def test_virtual_environment(self):
        made = self.run_python("-m", "venv", "--without-pip", "venv", asked=None)
        self.assert_clean(made)
        script = self.write("train.py", USES_CUDA)
        done = self.run_python(script, python=self.folder / "venv/bin/python")
        self.assert_clean(done)
        self.assertIn(ENABLED, done.log)

    def test_launcher_of_workers(self):
        """As torchrun does: it imports torch, and starts workers with its environment and theirs."""
        self.write(
            "launcher.py",
            """
            import os, subprocess, sys, torch
            for rank in "01":
                environment = dict(os.environ, RANK=rank, WORLD_SIZE="2")
                subprocess.run([sys.executable, "worker.py"], env=environment, check=True)
        """,
        )
        self.write("worker.py", "import torch\nx = torch.ones(4, 2).cuda()\ntorch.nn.Linear()(x)\n")
        done = self.run_python("launcher.py")
        self.assert_clean(done)
        self.assertEqual(done.log.count(ENABLED), 2)
        ranks = sorted(what for what in done.log if "rank" in what)
        self.assertEqual(ranks, ["mark dlkprof:fact: pytorch rank 0", "mark dlkprof:fact: pytorch rank 1"])

    def test_multiprocessing(self):
        for method, emitting in (("spawn", 1), ("forkserver", 1), ("fork", 1)):
            done = self.run_script(
                f"""
                import multiprocessing

                def work():
                    import torch
                    torch.ones(2).cuda()

                if __name__ == "__main__":
                    process = multiprocessing.get_context("{method}").Process(target=work)
                    process.start()
                    process.join()
                    print(process.exitcode)
            """
            )
            self.assert_clean(done)
            self.assertEqual(done.stdout, "0\n")
            self.assertEqual(done.log.count(ENABLED), emitting, method)

    def test_old_pythons_see_a_file_they_can_read(self):
        """The environment reaches every Python that the program starts."""
        source = (INJECT / "sitecustomize.py").read_text()
        self.assertTrue(source.isascii())
        tree = ast.parse(source, feature_version=(3, 4))
        newer = (ast.JoinedStr, ast.AnnAssign, ast.Nonlocal, ast.NamedExpr, ast.YieldFrom)
        self.assertEqual([node for node in ast.walk(tree) if isinstance(node, newer)], [])


class SitecustomizeTest(PythonTest):
    """Another sitecustomize, found after ours, runs as if ours were not there."""

    def run_with_other(self, source, script, **options):
        self.write("other/sitecustomize.py", source)
        return self.run_script(script, path=[self.folder / "other"], **options)

    def test_it_runs_and_takes_our_place(self):
        for asked in ("pytorch", None):
            script = "import sitecustomize\nprint(sitecustomize.name)"
            done = self.run_with_other("print('other')\nname = 'other'", script, asked=asked)
            self.assert_clean(done)
            self.assertEqual(done.stdout, "other\nother\n")

    def test_its_own_failure_is_reported_by_python_as_ever(self):
        for source in ("raise ValueError('broken')", "import nowhere"):
            done = self.run_with_other(source, USES_CUDA)
            self.write("train.py", "print('done')")
            plain = self.run_python("train.py", asked=None, PYTHONPATH=str(self.folder / "other"))
            self.assertIn("sitecustomize", plain.stderr)
            self.assertEqual((done.code, done.stdout, done.stderr), (0, "done\n", plain.stderr))
            self.assertEqual(plain.stdout, "done\n")

    def test_one_that_ends_the_process_does(self):
        self.assertEqual(
            self.run_with_other("import sys; sys.exit(7)", "print('done')").code,
            self.run_with_other("import sys; sys.exit(7)", "print('done')", asked=None).code,
        )

    def test_without_another_there_is_no_trace(self):
        done = self.run_script("import sys\nprint([entry for entry in sys.path if 'inject' in entry])\nimport sitecustomize")
        self.assert_clean(done)
        self.assertEqual(done.stdout, "[]\n")

    def test_two_of_ours(self):
        """dlkprof inside dlkprof, of two installations."""
        copy = self.folder / "second/python"
        self.write("second/python/inject/sitecustomize.py", (INJECT / "sitecustomize.py").read_text())
        for path in (PYTHON / "dlkprof").glob("*.py"):
            self.write(f"second/python/dlkprof/{path.name}", path.read_text())
        done = self.run_script(USES_CUDA, path=[copy / "inject"])
        self.assert_clean(done)
        self.assertEqual(done.log.count(ENABLED), 1)


class ImportTest(PythonTest):
    def test_a_torch_that_cannot_be_imported_fails_as_ever(self):
        source = """
            try:
                import torch
            except ImportError as error:
                print(error)
            import torch
        """
        script = self.write("train.py", source)
        done, plain = (self.run_python(script, asked=asked, FAKE_TORCH_FAULT="import") for asked in ("pytorch", None))
        self.assertEqual((done.code, done.stdout), (1, "libcudart.so.13: cannot open shared object file\n"))
        self.assertEqual(done.stderr.splitlines()[-1], plain.stderr.splitlines()[-1])
        self.assertNotIn("dlkprof:", done.stderr)

    def test_a_torch_that_can_be_imported_the_second_time(self):
        done = self.run_script(
            """
            import os
            os.environ["FAKE_TORCH_FAULT"] = "import"
            try:
                import torch
            except ImportError:
                os.environ["FAKE_TORCH_FAULT"] = ""
            import torch
            torch.ones(2).cuda()
        """
        )
        self.assert_clean(done)
        self.assertEqual(done.log.count(ENABLED), 1)

    def test_no_torch_at_all(self):
        source = "import importlib.util\nprint(importlib.util.find_spec('torch'))\nimport torch"
        done = self.run_script(source, PYTHONPATH=str(INJECT))
        self.assertEqual((done.code, done.stdout), (1, "None\n"))
        self.assertTrue(done.stderr.splitlines()[-1].endswith("No module named 'torch'"), done.stderr)

    def test_looking_for_torch_and_importing_it_again(self):
        done = self.run_script(
            """
            import importlib, importlib.util, inspect, sys
            importlib.util.find_spec("torch")
            import torch
            import torch
            print(sorted(vars(torch.__spec__.loader)), type(torch.__loader__).__name__, len(inspect.getsource(torch)) > 0)
            print([finder for finder in sys.meta_path if "torch" == getattr(finder, "_name", "")])
            torch.ones(2).cuda()
        """
        )
        self.assert_clean(done)
        self.assertEqual(done.stdout, "['name', 'path'] SourceFileLoader True\n[]\n")
        self.assertEqual(done.log.count(ENABLED), 1)

    def test_a_folder_called_torch_is_no_pytorch(self):
        (self.folder / "torch").mkdir()
        done = self.run_script("import torch\nprint(torch.__path__ is not None)", PYTHONPATH=str(INJECT))
        self.assert_clean(done)
        self.assertEqual(done.stdout, "True\n")

    def test_another_tool_that_asks_all_finders(self):
        done = self.run_script(
            """
            import importlib.util, sys

            class Tool:
                asking = False

                def find_spec(self, name, path=None, target=None):
                    if name != "torch" or self.asking:
                        return None
                    self.asking = True
                    return importlib.util.find_spec(name)

            sys.meta_path.insert(0, Tool())
            sys.meta_path.insert(2, Tool())
            import torch
            torch.ones(2).cuda()
        """
        )
        self.assert_clean(done)
        self.assertEqual(done.log.count(ENABLED), 1)

    def test_the_package_is_there_unless_the_program_has_one_of_that_name(self):
        self.assert_clean(self.run_script("import dlkprof\ndlkprof.init()"))
        self.write("dlkprof.py", "name = 'own'")
        done = self.run_script("import dlkprof\nprint(dlkprof.name)\nimport torch\ntorch.ones(2).cuda()")
        self.assertEqual((done.code, done.stdout), (0, "own\n"))
        self.assertEqual(len(done.stderr.splitlines()), 1)
        quiet = self.run_script("import dlkprof\nprint(dlkprof.name)\nimport torch", asked="pytorch,quiet")
        self.assertEqual((quiet.code, quiet.stderr), (0, ""))


class EndingTest(PythonTest):
    """Output and exit code are the program's own."""

    def assert_same(self, source, **environment):
        script = self.write("train.py", source)
        done, plain = (self.run_python(script, asked=asked, **environment) for asked in ("pytorch", None))
        self.assertEqual((done.code, done.stdout, done.stderr), (plain.code, plain.stdout, plain.stderr))
        return done

    def test_exit_codes(self):
        for end, code in (("sys.exit(3)", 3), ("os._exit(4)", 4), ("sys.exit('why')", 1), ("os.kill(os.getpid(), 9)", -9)):
            done = self.assert_same(f"import os, sys, torch\ntorch.ones(2).cuda()\n{end}")
            self.assertEqual(done.code, code)

    def test_an_exception_of_the_program(self):
        done = self.assert_same("import torch\ntorch.ones(2).cuda()\nraise KeyError('lost')")
        self.assertEqual(done.code, 1)
        self.assertIn("KeyError: 'lost'", done.stderr)

    def test_a_closed_stderr(self):
        source = "import os\nos.close(2)\nimport torch\ntorch.ones(2).cuda()\nprint('done')"
        done = self.run_script(source, FAKE_TORCH_FAULT="profiler")
        self.assertEqual(done.stdout, "done\n")

    def test_a_complaint_where_stderr_is_full(self):
        """Whatever there is to say before Python has started, it starts."""
        script = self.write("train.py", "print('done')")
        full = "import os, sys; os.dup2(os.open('/dev/full', os.O_WRONLY), 2); os.execv(sys.executable, [sys.executable, sys.argv[1]])"
        done = self.run_python("-S", "-c", full, script, DLKPROF_OPTIONS="{")
        self.assertEqual((done.code, done.stdout), (0, "done\n"))

    def test_the_programs_own_modules_are_told_from_ours(self):
        """Names of ours that a program may have are free: `inject`, `_names`, `harness`."""
        done = self.run_script(
            """
            import importlib.util
            print([name for name in ("inject", "_names", "_facts") if importlib.util.find_spec(name)])
        """
        )
        self.assertEqual(done.stdout, "[]\n")
