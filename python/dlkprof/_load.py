"""What dlkprof.load() gives: the views of a run's database, and its measured launches with the verbs of NVIDIA's ncu_report.

Imported by load() alone: a program that is being profiled never reads this file.
"""

import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import urllib.parse

_APPLICATION_ID = 0x444C4B50
_KINDS = {1: "kernel replay", 2: "iteration replay"}


class LoadError(Exception):
    """A run that cannot be read: what is wrong, and what to do about it."""


def load(path, base_name="dlkprof"):
    """A run: a database of dlkprof (.sqlite), a capture (.dlkcap), a folder with captures, or an SQLite file of Nsight Systems.

    All but databases are folded by the program `dlkprof` first, into a temporary database. `base_name` is what the names of
    captures in a folder begin with.
    """
    path = os.fsdecode(path)
    if not os.path.exists(path):
        raise LoadError(f"there is no file {path}")
    if _is_database(path):
        return Run(path)
    folder = tempfile.TemporaryDirectory(prefix="dlkprof-load-")
    return Run(_fold(path, folder.name, base_name), folder)


def _is_database(path):
    """Whether it is one of dlkprof's: by the header of the file (www.sqlite.org/fileformat.html, 1.3)."""
    if not os.path.isfile(path):  # reading a pipe would wait
        return False
    with open(path, "rb") as file:
        header = file.read(72)
    return header.startswith(b"SQLite format 3\0") and int.from_bytes(header[68:72], "big") == _APPLICATION_ID


def _program():
    """The dlkprof of this installation, else the one on PATH."""
    root = os.path.abspath(__file__)
    for _ in range(5):  # bin/dlkprof beside share/dlkprof/python/dlkprof/_load.py
        root = os.path.dirname(root)
    beside = os.path.join(root, "bin", "dlkprof")
    found = beside if os.access(beside, os.X_OK) else shutil.which("dlkprof")
    if found is None:
        raise LoadError("only databases can be read without the program dlkprof, which is not on PATH")
    return found


def _fold(path, folder, base_name):
    command = [_program(), f"--database={path}", f"--output_path={folder}", f"--base_name={base_name}", "--reports=summary"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise LoadError(done.stderr.strip())
    database = os.path.join(folder, base_name + "_dldb.sqlite")
    if not os.path.exists(database):
        raise LoadError(f"{path} holds no ops: there is nothing to load")
    return database


def _pandas():
    try:
        import pandas
    except ImportError:
        return None
    return pandas


class Rows(list):
    """Rows as dictionaries, for where pandas is not; rows["name"] is a column, as of a DataFrame."""

    def __init__(self, columns, rows):
        super().__init__(dict(zip(columns, row)) for row in rows)
        self.columns = list(columns)

    def __getitem__(self, which):
        return [row[which] for row in self] if isinstance(which, str) else super().__getitem__(which)


class Run:
    """A run. Views are attributes (`run.detail`, `run.op_metrics`), and run[0][i] is a measured launch."""

    def __init__(self, path, folder=None):
        self.path = path
        self._folder = folder  # goes with the run
        self._database = sqlite3.connect("file:" + urllib.parse.quote(os.path.abspath(path)) + "?mode=ro", uri=True)
        try:
            views = self._database.execute("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name").fetchall()
        except sqlite3.DatabaseError as error:
            self.close()
            raise LoadError(f"{path} is damaged: {error}") from None
        self.views = [name for (name,) in views]
        self._ranges = None

    def close(self):
        self._database.close()
        if self._folder is not None:
            self._folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"<dlkprof run {self.path}>"

    def __dir__(self):
        return [*super().__dir__(), *self.views]

    def __getattr__(self, name):
        if name in self.__dict__.get("views", ()):
            return self.view(name)
        raise AttributeError(f"there is no view {name}")

    def sql(self, query, parameters=()):
        """The rows of a query: a pandas.DataFrame where pandas is, else a list of dictionaries."""
        cursor = self._database.execute(query, parameters)
        columns = [column[0] for column in cursor.description or ()]
        pandas = _pandas()
        return Rows(columns, cursor) if pandas is None else pandas.DataFrame(cursor.fetchall(), columns=columns)

    def view(self, name):
        """A view of docs/reference/schema.md by its name."""
        if name not in self.views:
            raise LoadError(f"there is no view {name}; there are: {', '.join(self.views)}")
        return self.sql(f'SELECT * FROM "{name}"')

    to_pandas = view

    # The verbs of ncu_report's IContext: a range is a process.
    def _loaded_ranges(self):
        if self._ranges is None:
            processes = self._database.execute("SELECT id, pid FROM process ORDER BY id").fetchall()
            self._ranges = [Range(self._database, process, pid) for process, pid in processes]
        return self._ranges

    def num_ranges(self):
        return len(self._loaded_ranges())

    def range_by_idx(self, index):
        return self._loaded_ranges()[index]

    __len__ = num_ranges
    __getitem__ = range_by_idx

    def __iter__(self):
        return iter(self._loaded_ranges())

    def __bool__(self):
        return True


class Range:
    """The measured launches of a process, in the order of the program; ncu_report's IRange."""

    def __init__(self, database, process, pid):
        self.pid = pid
        rows = database.execute(
            "SELECT m.config, m.position, m.launch_index, m.occurrence, m.replay_mode, m.cache_control, k.name, k.long_name, "
            "k.mangled, c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y, c.block_z, c.device "
            "FROM measured_launch m JOIN config c ON c.id = m.config LEFT JOIN kernel k ON k.id = c.kernel "
            "WHERE c.process = ? ORDER BY m.launch_index",
            (process,),
        )
        self._actions = [Action(database, row) for row in rows]

    def num_actions(self):
        return len(self._actions)

    def action_by_idx(self, index):
        return self._actions[index]

    def actions_by_nvtx(self, includes, excludes=()):
        """Indices of launches that lie in all ranges of one of `includes`, and of none of `excludes`.

        An expression is the message of a range, or several from the outer one inwards with slashes between and behind
        ("train/forward/"); after "regex:" each is a pattern.
        """
        takes = [_range_filter(one) for one in includes]
        leaves = [_range_filter(one) for one in excludes]
        chosen = []
        for index, action in enumerate(self._actions):
            messages = action.nvtx_ranges()
            if any(one(messages) for one in takes) and not any(one(messages) for one in leaves):
                chosen.append(index)
        return chosen

    __len__ = num_actions
    __getitem__ = action_by_idx

    def __iter__(self):
        return iter(self._actions)


def _range_filter(expression):
    is_pattern = expression.startswith("regex:")
    parts = (expression[len("regex:") :] if is_pattern else expression).strip("/").split("/")

    def takes(messages):
        rest = iter(messages)
        if is_pattern:
            return all(any(re.search(part, message) for message in rest) for part in parts)
        return all(any(part == message for message in rest) for part in parts)

    return takes


class Action:
    """A launch that was measured; ncu_report's IAction."""

    def __init__(self, database, row):
        self._database = database
        (
            self._config,
            self._position,
            self.launch_index,
            self.occurrence,
            mode,
            cache,
            self._name,
            self._long_name,
            self._mangled,
            *sizes,
            self.device,
        ) = row
        self.grid, self.block = tuple(sizes[:3]), tuple(sizes[3:])
        self.collected_by = _KINDS.get(mode, "")
        self.cache_control = "all" if cache else "none"
        self._metrics = None

    NameBase_FUNCTION, NameBase_DEMANGLED, NameBase_MANGLED = "function", "demangled", "mangled"

    def name(self, base="function"):
        return {"function": self._name, "demangled": self._long_name, "mangled": self._mangled}[base] or ""

    def __repr__(self):
        return f"<launch {self.launch_index} of {self.name()}>"

    def _loaded(self):
        if self._metrics is None:
            rows = self._database.execute(
                "SELECT n.name, m.value, f.n, f.mean, f.min, f.max, f.stddev FROM measured m JOIN metric n ON n.id = m.metric "
                "LEFT JOIN measured_figure f ON f.config = m.config AND f.metric = m.metric AND f.part = 0 "
                "WHERE m.config = ? AND m.position = ? AND m.value IS NOT NULL",
                (self._config, self._position),
            )
            self._metrics = {row[0]: Metric(*row) for row in rows}
        return self._metrics

    def metric_names(self):
        return sorted(self._loaded())

    def metric_by_name(self, name):
        """None where it was not measured, as in ncu_report."""
        return self._loaded().get(name)

    def __getitem__(self, name):
        found = self._loaded().get(name)
        if found is None:
            raise KeyError(f"{name} was not measured")
        return found

    def __contains__(self, name):
        return name in self._loaded()

    def __iter__(self):
        return iter(self.metric_names())

    def nvtx_ranges(self):
        """Messages of the NVTX ranges around the launch, the outer one first."""
        rows = self._database.execute(
            "WITH RECURSIVE around(id, depth) AS ("
            "SELECT c.range, 0 FROM activity a JOIN call c ON c.id = a.call WHERE a.config = ? AND a.launch_index = ? "
            "UNION ALL SELECT r.parent, depth + 1 FROM range r JOIN around ON r.id = around.id WHERE r.parent < r.id) "
            "SELECT v.message FROM around JOIN ranges v ON v.range = around.id ORDER BY depth DESC",
            (self._config, self.launch_index),
        )
        return [message for (message,) in rows]


class Metric:
    """A counter of a launch; ncu_report's IMetric. Beside its value: how far those of the same configuration lie apart."""

    def __init__(self, name, value, n, mean, least, most, deviation):
        self._name, self._value = name, value
        self.n, self.mean, self.min, self.max, self.stddev = n, mean, least, most, deviation

    def name(self):
        return self._name

    def value(self, instance=None):
        self._only(instance)
        return self._value

    def as_double(self, instance=None):
        return float(self.value(instance))

    def as_uint64(self, instance=None):
        return int(self.value(instance))

    def num_instances(self):
        return 0

    def has_value(self, instance=None):
        return instance is None

    @staticmethod
    def _only(instance):
        if instance is not None:
            raise IndexError("dlkprof keeps one value of a launch, and no instances")

    def __float__(self):
        return self.as_double()

    def __repr__(self):
        return f"<{self._name} = {self._value!r}>"
