"""What a database gives is what the captures give that it was made from, byte for byte."""

import re

from harness import SOURCE, EndToEndTest

CAPTURES = sorted(path.stem for path in (SOURCE / "samples/captures").glob("*.dlkcap"))


def report_names():
    """As docs/user/reports.md lists them, which another test compares with the code."""
    table = (SOURCE / "docs/user/reports.md").read_text(encoding="utf-8").split("| report | a row is |")[1].split("\n\n")[0]
    return re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)


class ShippedDatabasesTest(EndToEndTest):
    """Of all captures that ship with dlkprof and all reports."""

    def make(self, name):
        capture = SOURCE / f"samples/captures/{name}.dlkcap"
        done = self.dlkprof(f"--database={capture}", "--reports=kernel", f"--base_name={name}", f"--output_path={self.folder}")
        self.assertEqual(0, done.code, done.stderr)
        database = self.folder / f"{name}_dldb.sqlite"
        self.assertIn(f"wrote {database}", done.stderr)
        return capture, database

    def files(self, source, folder):
        names = report_names()
        self.report(source, f"--reports={','.join(names)}", "--formats=csv,json,svg", "--base_name=x",
                    f"--output_path={folder}")  # fmt: skip
        written = {path.name: path.read_bytes() for path in folder.iterdir()}
        self.assertGreater(len(written), 2 * len(names), "each as csv and as json, and a picture")
        return written

    def test_reports_come_alike_from_a_capture_and_from_its_database(self):
        for name in CAPTURES:
            capture, database = self.make(name)
            of_capture, of_database = (self.files(source, self.folder / f"{name}_{i}")
                                       for i, source in enumerate((capture, database)))  # fmt: skip
            self.assertEqual(of_capture.keys(), of_database.keys())
            for file, content in of_capture.items():
                self.assertTrue(content == of_database[file], f"{name}: {file} differs")
            reports = f"--reports={','.join(report_names())}"
            texts = [self.report(source, reports) for source in (capture, database)]
            self.assertEqual(texts[0].stdout.splitlines(), texts[1].stdout.splitlines(), name)
            self.assertEqual(texts[0].stderr, texts[1].stderr, name)

    def test_folding_again_with_the_same_settings_adds_nothing(self):
        _, database = self.make("cifar10_b4")
        size = database.stat().st_size
        for _ in range(2):
            done = self.dlkprof(f"--database={database}", "--reports=kernel", "--force")
            self.assertEqual(0, done.code, done.stderr)
            self.assertIn("shows this already, as aggregation 1", done.stderr)
        self.assertEqual(size, database.stat().st_size)
        done = self.dlkprof(f"--database={database}", "--reports=kernel", "--force", "--iter_start=0")
        self.assertIn("shows aggregation 2 now", done.stderr)

    def test_a_database_in_the_way_is_not_replaced_unasked(self):
        capture, database = self.make("cifar10_b4")
        database.write_text("mine", encoding="utf-8")
        again = (f"--database={capture}", "--reports=tensor", "--base_name=cifar10_b4", f"--output_path={self.folder}")
        self.assertEqual(2, self.dlkprof(*again).code)
        self.assertEqual("mine", database.read_text(encoding="utf-8"))
        self.assertEqual(0, self.dlkprof(*again, "--force").code)
        self.assertTrue(database.read_bytes().startswith(b"SQLite format 3"))
