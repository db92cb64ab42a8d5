"""The ranges that dlkprof itself pushes on a thread: module calls and phases."""

import threading


_NOT_TRACKED = -2  # NVTX_NO_PUSH_POP_TRACKING (nvToolsExt.h): what range_push() gives where no tool keeps it


class ThreadScopes(threading.local):
    """`scopes`: the Scopes of the thread that asks."""

    def __init__(self, nvtx, names, always_left, on_unheard, site=None):
        self.scopes = Scopes(nvtx, names, always_left, on_unheard, site)


class Scopes:
    """The open ranges of one thread, each pushed once and popped once whatever the program does.

    NVTX pops the innermost range, whichever it is. So what is popped is decided by this stack and not by the number of
    calls: leaving an owner closes all that was left open inside it, and leaving an owner that is not open does nothing.
    """

    def __init__(self, nvtx, names, always_left, on_unheard, site=None):
        self._push = nvtx.range_push
        self._pop = nvtx.range_pop
        self._names = names
        self._always_left = always_left  # modules are left when they raise, too
        self._on_unheard = on_unheard  # called where nobody hears a range any more
        self._site = site  # gives what follows the name of a module, where it is called; None: nothing does
        self._was_heard = False
        self._stack = []  # (owner, ranges pushed for it, tree, path); tree and path of modules only

    def is_outermost(self):
        """No module is open, or none since backward() was called."""
        return not self._stack or self._stack[-1][2] is None

    def enter_inner(self, module):
        """What enter_module() does, if nothing is to be done but open the range of a module inside another; whether it was."""
        stack = self._stack
        if not stack or not self._always_left or stack[0][0] is module:
            return False
        _, _, tree, path = stack[-1]
        if tree is None:
            return False
        tree, path, name = self._names.inside(tree, path, module)
        self._push("dlkprof:module: " + name if self._site is None else "dlkprof:module: " + name + self._site())
        stack.append((module, 1, tree, path))
        return True

    def leave_inner(self, module):
        """What leave() does, if nothing is to be done but close the range of a module inside another; whether it was."""
        stack = self._stack
        if len(stack) < 2 or stack[-1][0] is not module or stack[-2][2] is None:
            return False
        stack.pop()
        self._pop()
        return True

    def enter_module(self, module, is_forward):
        """Opens the range of a module; around it, where nothing is open yet, that of the forward phase."""
        self._close_failed(module)
        stack = self._stack
        if stack and stack[-1][2] is not None:
            _, _, enclosing_tree, enclosing_path = stack[-1]
            tree, path, name = self._names.inside(enclosing_tree, enclosing_path, module)
        else:
            tree, path, name = self._names.outermost(module)
        pushed = 1
        if is_forward and not stack:
            self._push_outermost("dlkprof:phase: forward")
            pushed = 2
        self._push("dlkprof:module: " + name + ("" if self._site is None else self._site()))
        stack.append((module, pushed, tree, path))

    def enter_phase(self, owner, phase):
        self._push_outermost("dlkprof:phase: " + phase)
        self._stack.append((owner, 1, None, None))

    def _push_outermost(self, message):
        level = self._push(message)
        if self._was_heard and level == _NOT_TRACKED:
            self._on_unheard()
        self._was_heard = level != _NOT_TRACKED

    def leave(self, owner):
        for depth in range(len(self._stack) - 1, -1, -1):
            if self._stack[depth][0] is owner:
                self._close(depth)
                return

    def close_all(self):
        self._close(0)

    def _close(self, depth):
        while len(self._stack) > depth:
            _, pushed, _, _ = self._stack.pop()
            for _ in range(pushed):
                self._pop()

    def _close_failed(self, module):
        """A module that is called while it is open was left by an exception that no hook saw.

        Before PyTorch 2.1 that is any exception; since then it is one like KeyboardInterrupt, and modules that call
        themselves are told from it by taking only the outermost for failed.
        """
        for depth, scope in enumerate(self._stack[:1] if self._always_left else self._stack):
            if scope[0] is module:
                self._close(depth)
                return
