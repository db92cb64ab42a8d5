"""What NVTX messages say of ops: PyTorch's, python/dlkprof's and XLA's; others name an op by themselves."""

import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Marker:
    framework: str
    name: str
    type: str
    in_path: bool = True  # what lies inside has this name in its path
    is_backward: bool = False  # of autograd: what lies inside belongs to the forward op with the same sequence number
    sequence: "int | None" = None
    program: "int | None" = None  # XLA's


PYTORCH = re.compile(
    r"(?P<name>.*?)(?P<fields>(, seq = (?P<sequence>\d*))?(, op_id = \d*)?(, sizes = .*?)?(, input_op_ids = .*)?)", re.S
)
PYTORCH_ALONE = ("aten::", "autograd::engine::", "torch::autograd::", "c10d::", "Optimizer.", "enumerate(DataLoader)#")
AUTOGRAD_NODE = re.compile(r"(?!aten::)(torch::autograd::.*|.*Backwards?\d*)", re.S)
XLA = re.compile(r"(?P<what>\w+):#(?P<attributes>.*?)#?", re.S)
XLA_ATTRIBUTE = re.compile(r"(\w+)=(.*?)(?=,(?:prefix|name|hlo_op|unique_hlo_op_id|hlo_module|program_id|module)=|$)", re.S)


def parse(domain, message, sequence=None):
    """`sequence`: PyTorch's, where it is kept apart from the message, as docs/reference/schema.md says."""
    own = message.removeprefix("dlkprof:")
    if domain == "dlkprof" or (domain == "" and own != message):
        return _dlkprof(own)
    if domain == "TSL":
        return _xla(message)
    fields = PYTORCH.fullmatch(message)
    if domain == "" and (fields["fields"] or message.startswith(PYTORCH_ALONE)):
        return _pytorch(fields["name"], int(fields["sequence"]) if fields["sequence"] else sequence)
    return Marker("", message, message)


def _dlkprof(text):
    what, _, name = text.partition(": ")
    if what == "phase":
        return Marker("dlkprof", name, name, in_path=False)
    if what == "module":
        return Marker("dlkprof", name.replace(".", "/"), "module")
    if what == "function":
        return Marker("dlkprof", name, "function")
    if what == "fact":
        return Marker("dlkprof", "fact", "fact", in_path=False)
    return Marker("dlkprof", text, text)  # step, dataloader


def _pytorch(name, sequence):
    if name.startswith("autograd::engine::evaluate_function: "):
        return Marker("pytorch", name, "autograd::engine::evaluate_function", in_path=False)
    if name.startswith("enumerate(DataLoader)#"):
        return Marker("pytorch", name, "dataloader", sequence=sequence)
    if name.startswith("Optimizer."):
        return Marker("pytorch", name, name.partition("#")[0], sequence=sequence)
    is_backward = sequence is not None and AUTOGRAD_NODE.fullmatch(name) is not None
    return Marker("pytorch", name, name, is_backward=is_backward, sequence=sequence)


def _xla(message):
    match = XLA.fullmatch(message)
    what = match["what"] if match else message
    attributes = dict(XLA_ATTRIBUTE.findall(match["attributes"])) if match else {}
    if what == "XlaModule" and "hlo_module" in attributes:
        program = attributes.get("program_id", "")
        return Marker("xla", attributes["hlo_module"], what, program=int(program) if program.isdigit() else None)
    if what == "Thunk" and attributes:
        op = attributes.get("hlo_op", "")
        name = "/".join(filter(None, [attributes.get("name"), op]))
        return Marker("xla", name, re.sub(r"(\.(\d+|clone|remat))+$", "", op))
    return Marker("xla", what, what, in_path=not what.startswith(("Xla", "Compile")))


def key_node_rank(marker):
    """Whether it ends an iteration of its framework's programs: the lower the better, None for no."""
    if marker.framework == "dlkprof":
        return 0 if marker.type == "step" else None
    if marker.framework == "pytorch":
        return {"Optimizer.zero_grad": 1, "Optimizer.step": 2}.get(marker.type)
    if marker.framework == "xla" and marker.program is not None:
        if any(word in marker.name for word in ("step", "train", "update")):
            return 8
        return 10 if marker.name.startswith("jit__") else 9
    if marker.framework == "" and marker.name in ("step", "iteration", "train_step", "training_step", "global_step"):
        return 7
    return None
