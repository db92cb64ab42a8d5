"""torch/_inductor/compile_fx.py: the order of artifacts, and what is in work when they are logged.

What is compiled is a Program: its graph of Dynamo's, its graph after the passes, and which nodes of the one and the other each
launch is made of.
"""

import json
import logging

from . import config
from .virtualized import NullHandler, V

_trace_log = logging.getLogger("torch.__trace")
_trace_log.setLevel(logging.DEBUG)
_trace_log.propagate = False


class Node:
    def __init__(self, name, **meta):
        self.name = name
        self.meta = meta


class Graph:
    def __init__(self, nodes):
        self.nodes = list(nodes)


class GraphModule:
    def __init__(self, nodes):
        self.graph = Graph(nodes)


class Program(GraphModule):
    """launches: [("kernel:handle", stacks, names of nodes)]; `is_cached`: as in a warm cache, where no graph is in work."""

    def __init__(self, before, after, launches, key, post_to_pre=None, is_cached=False):
        super().__init__(before)
        self.after = GraphModule(after)  # a GraphLowering has its graph as `graph`, too
        self.launches = launches
        self.key = key
        self.post_to_pre = post_to_pre or {}
        self.is_cached = is_cached


def trace_structured(name, value):
    if _trace_log.handlers:
        payload = value if value is None or isinstance(value, str) else json.dumps(value)
        _trace_log.debug(
            "", extra={"metadata": {"artifact": {"name": name, "encoding": "json"}, "frame_id": 0}, "payload": payload}
        )


def compile_fx(model_, example_inputs_, inner_compile=None):
    """As torch.compile calls it: the program's graph module, and its inputs."""
    trace_structured("fx_graph_runnable", "no json")
    provenance = config.trace.provenance_tracking_level if hasattr(config.trace, "provenance_tracking_level") else 0
    V.graph = NullHandler() if model_.is_cached else model_.after
    try:
        if provenance:
            made_from = {handle: names for handle, _, names in model_.launches}
            trace_structured(
                "inductor_provenance_tracking_node_mappings",
                {"preToPost": {}, "postToPre": model_.post_to_pre, "cppCodeToPost": made_from, "postToCppCode": {}},
            )
            trace_structured(
                "inductor_provenance_tracking_kernel_stack_traces", {handle: stacks for handle, stacks, _ in model_.launches}
            )
        elif model_.is_cached:
            trace_structured("inductor_provenance_tracking_node_mappings", None)
            trace_structured("inductor_provenance_tracking_kernel_stack_traces", None)
    finally:
        V.graph = NullHandler()
    if model_.key is not None:
        trace_structured("fx_graph_cache_hit" if model_.is_cached else "fx_graph_cache_miss", {"key": model_.key})
    return f"compiled {model_.key}"
