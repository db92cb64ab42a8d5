"""Acts when the program imports a module; never imports one of its own accord."""

import sys
from _thread import get_ident


def after_import(name, action, before=lambda: None):
    """Calls action(module) once, right after the program has imported the module `name` without an exception, or now if it has.

    before() is called right before each try of the program's to import it, so not at all if it has.
    """
    module = sys.modules.get(name)
    if module is not None:
        action(module)
    else:
        sys.meta_path.insert(0, _Watcher(name, action, before))


def offer_package(name, folder):
    """`import name` finds the package in `folder` if it would find nothing else."""
    sys.meta_path.append(_Offer(name, folder))


class _Watcher:
    """A finder that finds what the others find, and sees to it that an action comes before and one after loading it.

    The loader's own exec_module is covered by an attribute of that one loader object, which is gone before the module
    is run: the module sees the loader that it would have had. The watcher leaves sys.meta_path when the action is due.
    """

    def __init__(self, name, action, before):
        self._name = name
        self._action = action
        self._before = before
        self._asking = set()  # threads; another tool's finder may ask all finders, us included, while we ask it

    def find_spec(self, fullname, path=None, target=None):
        thread = get_ident()
        if fullname != self._name or thread in self._asking:
            return None
        self._asking.add(thread)
        try:
            spec = self._ask_others(fullname, path, target)
        finally:
            self._asking.discard(thread)
        if spec is not None:
            self._watch(spec.loader)
        return spec

    def _ask_others(self, fullname, path, target):
        for finder in list(sys.meta_path):
            find_spec = None if finder is self else getattr(finder, "find_spec", None)
            spec = find_spec(fullname, path, target) if find_spec is not None else None
            if spec is not None:
                return spec
        return None

    def _watch(self, loader):
        execute = getattr(loader, "exec_module", None)
        if execute is None:
            return

        def exec_module(module):
            if vars(loader).get("exec_module") is exec_module:  # not so where two watchers cover one loader
                del loader.exec_module
            self._before()
            execute(module)
            self._act(module)

        try:
            loader.exec_module = exec_module
        except (AttributeError, TypeError):
            pass  # a loader that takes no attributes: the import goes on unwatched

    def _act(self, module):
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            self._action(module)


class _Offer:
    """A finder for one package, asked when all others have found nothing."""

    def __init__(self, name, folder):
        self._name = name
        self._folder = folder

    def find_spec(self, fullname, path=None, target=None):
        if fullname != self._name:
            return None
        from importlib.util import spec_from_file_location  # seldom needed, and not free

        return spec_from_file_location(fullname, self._folder + "/__init__.py", submodule_search_locations=[self._folder])
