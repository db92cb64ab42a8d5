"""Module, ops and Python stack of a launch, from the nodes of graphs that it was made from (torch.fx.Node.meta)."""

import collections
import re

_FRAME = re.compile(r'File "([^"\n]*)", line (\d+), in ([^\n]*)')
_STEP = re.compile(r"\[['\"]?([^'\"\]]+)['\"]?\]|\.?([^.\[\]]+)")
_CONTAINERS = ("_modules", "_orig_mod")
_CALLED = ("self", "fn", "mod", "module")  # what Dynamo calls the module that was compiled
_INPUT_OF_CALLED = re.compile("l_(?:" + "|".join(_CALLED) + ")_modules_", re.IGNORECASE)
_MOST_TEXT = 4000  # of what is told of one launch
_MOST_NODES = 200_000  # of graphs of Dynamo's, remembered


class Origins:
    """What graphs of Dynamo's said, for what comes from caches: nothing but names of nodes and stacks is left there."""

    def __init__(self):
        self._pre = {}  # name of a node of the graph compiled last -> (modules, stack)
        self._by_stack = {}  # stack -> modules of all nodes that have it
        self._calls_module = False  # whether what was compiled last is a method of a module

    def see(self, module):
        pre = {}
        # Weights are inputs, named by where they are from: "l_self_modules_blocks_modules_0_parameters_weight_".
        inputs = [node.name for node in module.graph.nodes if getattr(node, "op", "") == "placeholder"]
        self._calls_module = any(map(_INPUT_OF_CALLED.match, inputs))
        for node in module.graph.nodes:
            stack = stack_of(node)
            modules = modules_of(node, self._calls_module)
            pre[node.name] = modules, stack
            if stack and modules is not None and (stack in self._by_stack or len(self._by_stack) < _MOST_NODES):
                self._by_stack.setdefault(stack, {})[modules] = True
        self._pre = pre

    def launch(self, handle, traces, names, nodes, post_to_pre):
        """[kernel, root, module, ops, stack] of "kernel:handle"; `traces` are its stacks as Inductor writes them."""
        found = [nodes[name] for name in names if name in nodes]
        origins = [(modules_of(node, self._calls_module), stack_of(node)) for node in found]
        before = [self._pre[name] for post in names for name in post_to_pre.get(post) or [] if name in self._pre]
        written = [text for text in traces if isinstance(text, str)]
        modules, stack = (
            _commonest(origins) or _commonest(before) or self._of_stacks(written)
            or (None, next((text for _, text in origins + before if text), written[0] if written else ""))
        )  # fmt: skip
        stacks = dict.fromkeys(filter(None, [stack, *written, *(text for _, text in origins)]))
        root, path = modules or ("", "")
        shown = " | ".join(filter(None, map(frames, stacks)))
        kernel = handle.rpartition(":")[0] or handle
        return [kernel[:_MOST_TEXT], root[:_MOST_TEXT], path[:_MOST_TEXT], _ops(found)[:_MOST_TEXT], shown[:_MOST_TEXT]]

    def _of_stacks(self, stacks):
        """Code that runs in every layer has one stack: the layers are not told apart then, and `*` stands for their numbers."""
        for stack in stacks:
            modules = list(self._by_stack.get(stack, ()))
            roots = {root for root, _ in modules}
            if len(roots) == 1:
                return (roots.pop(), _pattern([path for _, path in modules])), stack
        return None


def _commonest(origins):
    """The modules that most nodes lie in, with the stack of the last such node; None where none is known."""
    counts = collections.Counter(modules for modules, _ in origins if modules is not None)
    if not counts:
        return None
    most = max(counts.values())
    return next((modules, stack) for modules, stack in reversed(origins) if counts[modules] == most)


def modules_of(node, calls_module=False):
    """(class of the outermost module, path below it) of a node; None where it is in no module.

    The class has `*` before it where it is the module that was compiled, and is `*` alone where no node names that one: where its
    forward() was compiled, a method of a module, as `calls_module` says. The path is of names as in dlkprof's own ranges: "/"
    between modules that call one another, "." within the name of one.
    """
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")  # the forward node's, of a backward one
    if not stack:
        return None
    steps = [(_path(str(path)), kind) for path, kind in stack.values()]
    (root, is_called), kind = steps[0]
    owner, _, inner = root.partition(".")
    is_inner = calls_module and owner in _CALLED and inner != ""
    names, around = [inner] if is_inner else [], root
    for (path, _), _ in steps[1:]:
        inside = path.startswith(around + ".")
        names.append(path[len(around) + 1 :] if inside else path)
        around = path
    name = getattr(kind, "__name__", None) or str(kind).rpartition(".")[2]
    return "*" if is_inner else "*" * is_called + name, "/".join(names)


def _path(source):
    """("self.layers.0", False) of "L['self']._modules['layers'][0]": and whether it is the module that was compiled."""
    steps = [index or name for index, name in _STEP.findall(source)]
    is_source = len(steps) > 1 and steps[0] in ("L", "G")
    steps = [step for step in steps[is_source:] if step not in _CONTAINERS]
    return ".".join(steps), is_source and source.startswith("L") and len(steps) == 1 and steps[0] in _CALLED


def stack_of(node):
    return node.meta.get("stack_trace") or ""


def frames(stack):
    """The frames of a stack on one line, the innermost first: "net.py:7 in forward < net.py:30 in forward"."""
    found = [f"{file}:{line} in {function}" for file, line, function in _FRAME.findall(stack)]
    return " < ".join(" ".join(frame.split()) for frame in reversed(found))


def _ops(nodes):
    ops = (str(node.meta.get("original_aten") or "") for node in nodes)
    return ", ".join(dict.fromkeys(".".join(op.split(".")[:2]) for op in ops if op))


def _pattern(paths):
    """`layers.*` of `layers.0` and `layers.1`; what else differs ends it."""
    parts = [re.split(r"([./])", path) for path in paths]
    common = []
    for steps in zip(*parts):
        if len(set(steps)) == 1:
            common.append(steps[0])
        elif all(step.isdigit() for step in steps):
            common.append("*")
        else:
            break
    if any(len(steps) != len(common) for steps in parts):
        while common and common[-1] in ("/", "."):
            common.pop()
    return "".join(common)
