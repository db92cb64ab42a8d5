"""State that PyTorch keeps in C++; and the log."""

import os
import threading

FAULTS = os.environ.get("FAKE_TORCH_FAULT", "").split(",")
VERSION = tuple(int(part) for part in os.environ.get("FAKE_TORCH_VERSION", "2.11.0").split("."))

autocast_dtype = None
anomaly = False
compiling = False
tracing = None
questions = []  # what asked a tensor, while a mode of the program's was on


def at_least(*version):
    return VERSION >= version


class State:
    profiler = None  # its state's name


class Thread:
    """Of each thread its State, which outlives what Python keeps of a thread, as thread_local variables of C++ do."""

    _of = {}  # by number: the thread, and its state

    def _state(self):
        number = threading.get_ident()
        alive = threading._active.get(number)  # none of one that ends
        thread, state = self._of.get(number, (None, None))
        if state is None or alive not in (thread, None):
            state = State()
            self._of[number] = alive, state
        return state

    def __getattr__(self, name):
        return getattr(self._state(), name)

    def __setattr__(self, name, value):
        setattr(self._state(), name, value)


thread = Thread()


class _autograd:
    @staticmethod
    def _profiler_type():
        return f"ActiveProfilerType.{thread.profiler}"


def log(text):
    path = os.environ.get("FAKE_TORCH_LOG")
    if path:
        with open(path, "a") as file:
            file.write(f"{os.getpid()} {threading.get_ident()} {text}\n")


def _get_tracing_state():
    return tracing


class DisableTorchFunction:
    active = False

    def __enter__(self):
        DisableTorchFunction.active = True

    def __exit__(self, *_):
        DisableTorchFunction.active = False


if at_least(2, 0):

    def _current_graph_task_id():
        return getattr(thread, "graph_task", -1)
