"""What a module is called: its attribute path from the module that the program called."""

import weakref

_MOST_READS = 16  # of one root; a program may make modules anew in every call, which no reading will find


class Names:
    """The trees of modules seen so far. Keeps no module alive."""

    def __init__(self):
        self._trees = {}  # id of the root -> its tree

    def inside(self, tree, enclosing_path, module):
        """(tree, path, name) of a module called by another, which is at `enclosing_path` of `tree`."""
        names = tree.names
        reference, path, name = names.get((enclosing_path, id(module)), (None, None, None))
        if reference is not None and reference() is module:
            return tree, path, name
        path = tree.find(module)
        if not path:
            return self.outermost(module)
        name = _relative(path, enclosing_path)
        names[enclosing_path, id(module)] = weakref.ref(module), path, name
        return tree, path, name

    def outermost(self, module):
        """(tree, path, name) of a module called by the program or by autograd."""
        for tree in list(self._trees.values()):
            path = tree.path_of(module)
            if path:  # a part of a known root, as when a checkpoint is computed again
                return tree, path, f"{tree.name}.{path}"
        tree = self._tree_of(module)
        return tree, "", tree.name

    def _tree_of(self, root):
        tree = self._trees.get(id(root))
        if tree is None or tree.root() is not root:
            tree = self._trees[id(root)] = Tree(root, self._trees)
        return tree


class Tree:
    """The modules under one root, each by its first attribute path."""

    def __init__(self, root, trees):
        self.name = _class_name(root)
        self.root = weakref.ref(root, lambda _, key=id(root): trees.pop(key, None))
        self._reads_left = _MOST_READS
        self._paths = {}  # id -> (weak reference, path); ids are used again, so the reference decides
        self.names = {}  # what Names.inside() found by this reading: (path of the caller, id) -> (weak reference, path, name)
        self._read()

    def path_of(self, module):
        """The path, "" of the root itself; None of a module that was not there when the tree was read."""
        reference, path = self._paths.get(id(module), (None, None))
        return path if reference is not None and reference() is module else None

    def find(self, module):
        """path_of, reading the tree again where that may help: modules are added and replaced."""
        path = self.path_of(module)
        if path is None and self._reads_left:
            self._read()
            path = self.path_of(module)
        return path

    def _read(self):
        self._reads_left -= 1
        root = self.root()
        if root is not None:
            self._paths = {id(module): (weakref.ref(module), path) for path, module in root.named_modules()}
            self.names = {}  # last, so that what another thread finds meanwhile goes to those of before


def _class_name(root):
    """As the source says it, also of what TorchScript or torch.compile made of it."""
    kind = type(root)
    if kind.__module__.startswith("torch._dynamo"):
        kind = type(getattr(root, "_orig_mod", root))
    return getattr(root, "original_name", kind.__name__) if kind.__module__.startswith("torch.jit") else kind.__name__


def _relative(path, enclosing):
    """The part of `path` below `enclosing`; all of it where it is not below."""
    if path == enclosing:  # a module that calls itself
        return path.rpartition(".")[2]
    if enclosing and path.startswith(enclosing + "."):
        return path[len(enclosing) + 1 :]
    return path
