"""What dlkprof writes is a run's own: nothing of another run goes with it, and nothing of its work is lost where nobody reads it."""


from harness import ADD, DLKPROF, METRICS, PROGRAM, EndToEndTest


class OwnFilesTest(EndToEndTest):
    def run_as(self, base_name, *words, steps=("train:1",)):
        return self.dlkprof("--verbosity=minimal", f"--base_name={base_name}", *words, PROGRAM, *steps)

    def launches_of(self, base_name):
        done = self.dlkprof("report", ".", f"--base_name={base_name}", "--reports=summary", "--format=csv")
        self.assertEqual(0, done.code, done.stderr)
        return done.stdout

    def names(self, pattern="*.dlkcap"):
        return sorted(path.name for path in self.folder.glob(pattern))

    def test_captures_of_a_longer_name_are_of_another_run(self):
        self.run_as("batch_512", steps=["train:5"])
        self.run_as("batch_4", steps=["train:4"])
        self.assertEqual(0, self.run_as("batch").code, "nothing of that name is there")
        alone = self.launches_of("batch")
        self.assertEqual(0, self.run_as("batch", "--force").code)
        self.assertEqual(["batch.dlkcap", "batch_4.dlkcap", "batch_512.dlkcap"], self.names())
        self.assertEqual(alone.count("\n"), self.launches_of("batch").count("\n"))
        self.run_as("batch_4", "--force", steps=["train:2"])
        self.assertEqual(["batch.dlkcap", "batch_4.dlkcap", "batch_512.dlkcap"], self.names())

    def test_captures_of_children_are_of_the_run(self):
        for _ in range(2):
            done = self.dlkprof("--verbosity=minimal", "--force", "/bin/sh", "-c", f"{PROGRAM} train:1; {PROGRAM} train:1")
            self.assertEqual((0, 2), (done.code, len(self.names())), done.stderr)

    def test_a_capture_that_was_named_otherwise(self):
        self.run_as("first")
        (self.folder / "first.dlkcap").rename(self.folder / "second_7.dlkcap")
        self.assertIn("1", self.launches_of("second"))

    def test_force_leaves_nothing_of_an_earlier_run(self):
        reports = ["--reports=detail", "--formats=csv"]
        self.run_as("run", "--timeline=on", "--replay-mode=none", *reports)
        self.assertEqual(["run.dlkcap", "run_detail.csv", "run_dldb.sqlite"], self.names("run*"))
        self.assertEqual(0, self.run_as("run", "--force", "--timeline=off", f"--metrics={METRICS[0]}", "-k", ADD).code)
        self.assertEqual([], self.names("*.sqlite"), "of another run")
        done = self.dlkprof("--force", "--base_name=run", *reports, "./none")
        self.assertEqual((127, []), (done.code, self.names("run*")), done.stderr)

    def test_a_failed_sweep_leaves_nothing_of_an_earlier_one(self):
        sweep = ["sweep", "--replay-mode=none", "--verbosity=quiet", "-L", "n", "3,4", "--reports=detail", "--formats=csv",
                 "--compare_formats=csv"]  # fmt: skip
        self.assertEqual(0, self.dlkprof(*sweep, "--", PROGRAM, "train:{n}").code)
        self.assertNotEqual([], self.names("dlkprof*"))
        self.assertNotEqual(0, self.dlkprof(*sweep, "--force", "--", "./none", "{n}").code)
        self.assertEqual([], self.names("dlkprof*"))

    def test_no_folder_is_this_folder(self):
        self.assertEqual(0, self.run_as("run", "--output_path", "").code)
        self.assertEqual(["run.dlkcap"], self.names())
        self.assertEqual(2, self.run_as("run", "--output_path", "").code)

    def test_a_folder_in_the_way_is_found_before(self):
        (self.folder / "run_dldb.sqlite").mkdir()
        done = self.dlkprof("--force", "--base_name=run", "--timeline=on", PROGRAM, "print:started")
        self.assertEqual((2, "", 1), (done.code, done.stdout, len(done.said())), done.stderr)
        self.assertIn("is a folder", done.stderr)

    def test_names_that_are_no_text(self):
        self.run_as("run")
        for words in (["-k", "\udcff"], ["--base_name=\udcff"], ["--output_path=\udcfe"]):
            done = self.dlkprof("--force", "--base_name=run", *words, PROGRAM, "print:started")
            self.assertEqual((2, "", 1), (done.code, done.stdout, len(done.said())), done.stderr)
        self.assertEqual(["run.dlkcap"], self.names(), "what was there is left")

    def test_a_name_that_is_too_long(self):
        done = self.run_as(201 * "n", steps=["print:started"])
        self.assertEqual((2, "", 1), (done.code, done.stdout, len(done.said())), done.stderr)
        self.assertEqual(0, self.run_as(200 * "n", "--timeline=on").code)
        self.assertEqual([200 * "n" + "_dldb.sqlite"], self.names("*.sqlite"))

    def test_a_section_that_is_none(self):
        self.run_as("run", "--timeline=on", "--replay-mode=none")
        for file in ("run.dlkcap", "run_dldb.sqlite"):
            for words in ("--section=nope", "--set=nope"):
                done = self.dlkprof("report", file, words)
                self.assertEqual((2, "", 1), (done.code, done.stdout, len(done.said())), done.stderr)

    def test_numbers_without_an_end(self):
        for option in ("--delay", "--duration", "--max-overhead"):
            done = self.dlkprof(f"{option}=inf", PROGRAM, "print:started")
            self.assertEqual((2, "", 1), (done.code, done.stdout, len(done.said())), done.stderr)

    def test_a_database_runs_no_program(self):
        self.run_as("run", "--timeline=on", "--replay-mode=none")
        done = self.dlkprof("--database=run_dldb.sqlite", "-k", "regex:(", PROGRAM, "print:started")
        self.assertEqual((2, "", 1), (done.code, done.stdout, len(done.said())), done.stderr)


class UnheardTest(EndToEndTest):
    def shell(self, line):
        return self.run_command("/bin/sh", "-c", f'exec "$@" {line}', "sh", DLKPROF, "--verbosity=normal", "--timeline=on",
                                f"--metrics={METRICS[0]}", PROGRAM, "train:3", "exit:7")  # fmt: skip

    def check_whole(self):
        self.assertTrue((self.folder / "dlkprof_dldb.sqlite").exists())
        self.assertEqual(18, self.capture().summary["launches"])
        for path in self.folder.glob("dlkprof*"):
            path.unlink()

    def test_stderr_that_cannot_be_written(self):
        for line in ("2>/dev/full", "2>&-"):
            with self.subTest(line=line):
                self.assertEqual(7, self.shell(line).code)
                self.check_whole()

    def test_stderr_that_nobody_reads(self):
        process = self.start([DLKPROF, "--timeline=on", f"--metrics={METRICS[0]}", PROGRAM, "train:3", "sleep:700", "exit:7"])
        process.stderr.close()
        process.stdout.read()
        self.assertEqual(7, process.wait(timeout=60))
        process.stdout.close()
        self.check_whole()

    def test_stdout_that_is_closed(self):
        self.assertEqual(7, self.shell(">&-").code)
        self.check_whole()

    def test_a_reader_that_ends_ends_the_program_as_ever(self):
        """SIGPIPE is the program's own."""
        yes = 'trap "" CHLD; while echo y; do :; done 2>/dev/null'
        for words in (["/bin/sh", "-c", yes], [DLKPROF, "--verbosity=quiet", "/bin/sh", "-c", yes]):
            process = self.start(words)
            process.stdout.readline()
            process.stdout.close()
            self.assertIn(process.wait(timeout=60), (-13, 141))
            process.stderr.close()
