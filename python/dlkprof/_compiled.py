"""What Inductor's kernels were made from: module, ops and Python stack, told as facts `compiled.<key>.<part>`.

Inductor tells it itself, to the logger `torch.__trace` (torch/_inductor/compile_fx.py, codecache.py), of what it compiles and
of what it takes from its caches. A handler of ours listens there; it writes no file. Features are looked for, versions are not:
what is missing makes fewer facts, and what fails ends all of this, for a program that knows nothing of it.
"""

import json
import logging
import sys
import threading

from ._import_hooks import after_import
from ._origins import Origins

_TRACE = "torch.__trace"
_MAPPINGS = "inductor_provenance_tracking_node_mappings"
_STACKS = "inductor_provenance_tracking_kernel_stack_traces"
_CACHE = ("fx_graph_cache_miss", "fx_graph_cache_hit", "fx_graph_cache_bypass")
_MOST_BYTES = 60_000  # of a fact; the library takes 64 KiB
_MOST_FACTS = 2000  # it takes 4096 of all kinds


class Compiled:
    """Listens from install() on. tell(name, value) is called on the thread that compiles."""

    def __init__(self, tell):
        self._tell = tell
        self._origins = Origins()
        self._thread = _Pending()
        self._keys = set()
        self._facts_left = _MOST_FACTS
        self._without_key = 0
        self._failed = False

    def install(self):
        handler = _Handler(self._guarded(self._hear))
        logging.getLogger(_TRACE).addHandler(handler)
        after_import("torch._inductor.config", self._guarded(_ask_for_provenance))
        after_import("torch.compiler.config", self._guarded(_keep_cache_apart))
        after_import("torch._inductor.compile_fx", self._guarded(self._cover_compile_fx))

    def finish(self):
        """What was compiled without a cache, and told last."""
        self._guarded(self._tell_pending)()

    def _guarded(self, action):
        def guarded(*args):
            if self._failed:
                return
            try:
                action(*args)
            except Exception as error:
                self._failed = True
                self._tell_failure(error)

        return guarded

    def _tell_failure(self, error):
        try:
            self._tell("compiled_failure", " ".join(f"{type(error).__name__}: {error}".split())[:500])
        except Exception:  # an exception whose str() fails, or nobody to tell
            pass

    def _cover_compile_fx(self, compile_fx):
        """The graph that Dynamo made says of each node which modules are around it: what comes from caches says it no more."""
        covered = getattr(compile_fx, "compile_fx", None)
        if covered is None:
            return
        see, done = self._guarded(self._origins.see), self._guarded(self._tell_pending)

        def compile_fx_and_tell(model_, *args, **kwargs):
            see(model_)
            try:
                return covered(model_, *args, **kwargs)
            finally:
                done()

        compile_fx_and_tell.__dict__.update(getattr(covered, "__dict__", {}))
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(compile_fx_and_tell, name, getattr(covered, name, None))
        compile_fx_and_tell.__wrapped__ = covered
        compile_fx.compile_fx = compile_fx_and_tell

    # --- What is heard ---

    def _hear(self, record):
        artifact = getattr(record, "metadata", {}).get("artifact")
        name = artifact.get("name") if isinstance(artifact, dict) else None
        payload = getattr(record, "payload", None)
        if name == _MAPPINGS:
            self._tell_pending()
            self._thread.mappings = _object(payload)
            self._thread.nodes = _nodes_being_compiled()
        elif name == _STACKS:
            self._thread.stacks = _object(payload)
        elif name in _CACHE:
            key = _object(payload).get("key")
            self._tell_pending(key if isinstance(key, str) else None)

    def _tell_pending(self, key=None):
        """Of the graph whose artifacts came last on this thread; without a cache, its range has no key."""
        stacks, mappings, nodes = self._thread.stacks, self._thread.mappings, self._thread.nodes
        self._thread.stacks = self._thread.mappings = self._thread.nodes = None
        if not stacks:
            return
        if key is None:
            self._without_key += 1
            key = f"-{self._without_key}"
        if key in self._keys or any(character.isspace() for character in key):
            return
        self._keys.add(key)
        made_from = (mappings or {}).get("cppCodeToPost") or {}
        post_to_pre = (mappings or {}).get("postToPre") or {}
        launches = [self._origins.launch(handle, traces, made_from.get(handle) or [], nodes or {}, post_to_pre)
                    for handle, traces in stacks.items()]  # fmt: skip
        for part, text in enumerate(_parts(launches)):
            if self._facts_left == 0:
                return
            self._facts_left -= 1
            self._tell(f"compiled.{key}.{part}", text)


class _Pending(threading.local):
    mappings = stacks = nodes = None


class _Handler(logging.Handler):
    def __init__(self, hear):
        super().__init__()
        self._hear = hear

    def emit(self, record):
        self._hear(record)


def _ask_for_provenance(config):
    """As INDUCTOR_PROVENANCE=1 does, where the program has not asked for more."""
    trace = getattr(config, "trace", None)
    if getattr(trace, "provenance_tracking_level", None) == 0:
        trace.provenance_tracking_level = 1


def _keep_cache_apart(config):
    """What was cached without provenance has none to give, and Inductor's keys do not tell: they get a tag, unless the program has one.

    So the first profile compiles anew, and what it compiles is not taken for a run without dlkprof.
    """
    if getattr(config, "cache_key_tag", None) == "":
        config.cache_key_tag = "dlkprof"


def _object(payload):
    """The payload of an artifact; {} of none, as of a graph that was cached without provenance."""
    value = json.loads(payload) if isinstance(payload, str) and payload else None
    return value if isinstance(value, dict) else {}


def _nodes_being_compiled():
    """name -> node of the graph that Inductor has in work on this thread; {} where it comes from a cache."""
    virtualized = sys.modules.get("torch._inductor.virtualized")
    graph = getattr(getattr(getattr(virtualized, "V", None), "graph", None), "graph", None)
    nodes = getattr(graph, "nodes", None)
    return {} if nodes is None else {node.name: node for node in nodes}


def _parts(launches):
    """Facts: each an object of its own, with the stacks that its launches name."""
    rows, stacks, size = [], {}, 0
    for *row, stack in launches:
        text = json.dumps(row)
        more = len(text) + 10 + (0 if stack in stacks else len(json.dumps(stack)) + 2)
        if rows and size + more > _MOST_BYTES:
            yield json.dumps({"launches": rows, "stacks": list(stacks)})
            rows, stacks, size = [], {}, 0
            more = len(text) + 10 + len(json.dumps(stack)) + 2
        rows.append([*row, stacks.setdefault(stack, len(stacks))] if stack else row)
        size += more
    if rows:
        yield json.dumps({"launches": rows, "stacks": list(stacks)})
