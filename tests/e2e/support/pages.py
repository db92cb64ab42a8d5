"""Databases of shipped captures, and pages of them, for the tests of `dlkprof view`."""

import sqlite3
import subprocess

from harness import BUILD, DLKPROF, SOURCE

MAIN = "cifar10_b512_iteration"  # has counters and many iterations
HOSTILE = "<script>alert(1)</script>"


def make_database(folder, capture):
    database = folder / f"{capture}_dldb.sqlite"
    subprocess.run([BUILD / "bin/capture_database", database, SOURCE / f"samples/captures/{capture}.dlkcap"], check=True)
    return database


def view(folder, *words):
    """What dlkprof view said; the page is in the folder."""
    command = [DLKPROF, "view", "--no-open", "--output_path", folder, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stderr


def make_hostile(database):
    """Names that are markup, in every place that a page shows."""
    connection = sqlite3.connect(database)
    with connection:
        connection.execute("UPDATE kernel SET name = ?, long_name = ?", (HOSTILE, HOSTILE))
        connection.execute("UPDATE op SET name = '/' || ? || id, type = ?", (HOSTILE, HOSTILE))
        connection.execute("UPDATE string SET value = ? || id WHERE id > 0", (HOSTILE,))
        connection.execute("UPDATE finding SET problem = ?, headline = ?", (HOSTILE, "<img src=x onerror=alert(2)>"))
        connection.execute("UPDATE process SET host = ?", (HOSTILE,))
        connection.execute("CREATE VIEW more AS SELECT 1")  # none of ours: it is not to be in the page
    connection.close()
