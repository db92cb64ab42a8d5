"""Python runs this at its start, because dlkprof put this folder on PYTHONPATH.

DLKPROF_PYTHON says what is asked for, as words between commas: `pytorch` for PyTorch's ranges and facts,
`fast-range-texts` for their texts made by dlkprof, `stacks` for where modules are called, `quiet` for no message. Without it nothing
happens here but what would have happened without this file. Every Python that the program starts reads this, whatever its version, so the syntax is one that
Python 2.7 takes too.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGE = os.path.join(os.path.dirname(_HERE), "dlkprof")


def _words():
    return [word.strip() for word in os.environ.get("DLKPROF_PYTHON", "").split(",") if word.strip()]


def _say(error, what="nothing is told about Python's frameworks"):
    if "quiet" in _words() or sys.stderr is None:
        return
    try:  # past sys.stderr, which would keep what a full disk did not take, and fail again when Python ends
        os.write(2, ("dlkprof: %s: %s: %s\n" % (what, type(error).__name__, error)).encode("utf-8", "replace"))
    except Exception:  # a closed or full stderr is no reason for Python not to start
        pass


def _load(name):
    """A module of the package by its file: the package itself is imported only when there is something for it to do."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("_dlkprof" + name, os.path.join(_PACKAGE, name + ".py"))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _prepare_pytorch():
    try:
        _load("_range_texts").take_over()
    except Exception as error:
        _say(error, "PyTorch's ranges take more time than they need to")


def _use_pytorch(_torch):
    try:
        import dlkprof

        dlkprof.init(stacks="stacks" in _words())
    except Exception as error:
        _say(error)


def _is_of_another_rank():
    """As src/capture/ranks.cpp says it: --ranks leaves this process out, and nobody would hear its ranges.

    Of so many per node or job the library alone knows: where it leaves the process out, the first range is not heard, and
    there is no second.
    """
    import json

    ranks = json.loads(os.environ.get("DLKPROF_OPTIONS") or "{}").get("ranks")
    variables = ["RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"]
    if "SLURM_STEP_ID" in os.environ:
        variables.append("SLURM_PROCID")
    found = [int(os.environ[name]) for name in variables if os.environ.get(name, "").isdigit()]
    if not ranks or not found or "/" in ranks:
        return False
    parts = [part.partition("-") for part in ranks.split(",")]
    return not any(int(first) <= found[0] <= int(last or first) for first, _, last in parts)


def _start():
    words = _words()
    if not words or sys.version_info < (3, 8):
        return
    try:
        hooks = _load("_import_hooks")
        hooks.offer_package("dlkprof", _PACKAGE)  # for a program that says `import dlkprof` itself
        if "pytorch" in words and not _is_of_another_rank():
            prepare = [_prepare_pytorch] if "fast-range-texts" in words else []
            hooks.after_import("torch", _use_pytorch, *prepare)
    except Exception as error:
        _say(error)


def _hand_on():
    """Runs the sitecustomize that Python would have found without us, and leaves it in our place.

    What it raises is Python's to report, as ever.
    """
    sys.path[:] = [entry for entry in sys.path if not entry or os.path.abspath(entry) != _HERE]
    own = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        missing = getattr(error, "name", None) or str(error).split()[-1]
        if missing != "sitecustomize":
            raise
        if own is not None:
            sys.modules["sitecustomize"] = own


_start()
_hand_on()
