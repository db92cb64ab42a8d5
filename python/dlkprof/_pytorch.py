"""Joins the parts for PyTorch: what is emitted, when, and that nothing of it reaches the program.

Everything is put in place right after `import torch`, and is idle until the process first uses CUDA: a data-loader
worker or a launcher that only imports torch pays for hooks that return at once.
"""

import atexit
import functools
import inspect
import os
import sys
import warnings

from ._call_sites import CallSites
from ._compiled import Compiled
from ._complaint import complain
from ._emission import Emission
from ._facts import Facts
from ._names import Names
from ._scopes import ThreadScopes
from ._tuning import Tuning

_instance = None


def install(torch, record_shapes=True, modules=True, stacks=False):
    """Once a process; without a CUDA build of PyTorch there is nothing to do."""
    global _instance
    if _instance is None and getattr(getattr(torch, "version", None), "cuda", None):
        _instance = _PyTorch(torch, record_shapes, modules, stacks)
        _instance.install()


def nvtx():
    """torch.cuda.nvtx while the process uses CUDA and all is well, else None."""
    return _instance.nvtx if _instance is not None and (_instance.is_live or _instance.has_let_go) else None


def is_compiling():
    return _instance is not None and _instance.is_compiling()


def _never():
    return False


def _stand_in_for_builtin(builtin, cover):
    """TorchScript knows some functions by identity; it shall take the one that covers them for the same."""
    table = sys.modules.get("torch.jit._builtins")
    for function, operator in list(getattr(table, "_builtin_ops", ())):
        if function is builtin:
            table._builtin_ops.append((cover, operator))
            if getattr(table, "_builtin_table", None) is not None:
                table._builtin_table[id(cover)] = operator


class _PyTorch:
    """Lives as long as the process. Its hooks are called on any thread."""

    def __init__(self, torch, record_shapes, modules, stacks):
        self._torch = torch
        self._with_modules = modules
        self.nvtx = torch.cuda.nvtx
        self.is_live = False  # the process uses CUDA, and nothing has failed
        self.has_let_go = False  # nobody hears ranges any more, but for what marks a step
        self._hooks = []
        self._has_started = False
        self._has_failed = False
        self.is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", _never)
        register = torch.nn.modules.module.register_module_forward_hook
        self._after_options = {
            name: True for name in ("with_kwargs", "always_call") if name in inspect.signature(register).parameters
        }
        self._emission = Emission(torch, record_shapes)
        always_left = "always_call" in self._after_options
        site = CallSites(torch).suffix if stacks else None
        self._thread = ThreadScopes(torch.cuda.nvtx, Names(), always_left, self._guard(self._let_go), site)
        self._facts = Facts(torch, torch.cuda.nvtx.mark)
        self._untold = []  # facts about compiled code, of before the process used CUDA
        self._compiled = Compiled(self._tell_compiled)
        self._task_id = getattr(torch._C, "_current_graph_task_id", lambda: -1)  # not -1 on autograd's threads

    def install(self):
        self._emission.make_way(self._torch, self._guard, self._guard(self._see_profiler))
        self._cover_autograd()
        if self._with_modules and not self._tracing_is_blind():
            self._register_module_hooks()
        self._compiled.install()
        Tuning(lambda: self.is_live and not self._has_failed, self.nvtx).install()
        os.register_at_fork(after_in_child=self._guard(self._forget))
        atexit.register(self._guard(self._finish))
        self._torch.cuda._lazy_call(self._guard(self._go_live))

    def _tracing_is_blind(self):
        """PyTorch 2.0 compiles, but its hooks cannot tell that they are being traced."""
        return hasattr(self._torch, "compile") and self.is_compiling is _never

    # --- Hooks ---

    def _register_module_hooks(self):
        """The hooks proper are plain functions that ask first whether torch.compile is tracing them: then they are
        nothing, and the graph that is made has no trace of them. They run for each module, where their code and what they look at
        are in no cache any more: so there is _guard in neither, and few calls for a module inside another."""
        module = self._torch.nn.modules.module
        is_compiling, is_autocast_enabled = self.is_compiling, self._torch.is_autocast_enabled
        thread, facts = self._thread, self._facts

        def before(module, arguments):
            if is_compiling() or not self.is_live:
                return
            try:
                if not facts.amp_seen and is_autocast_enabled():
                    facts.see_amp()
                if not thread.scopes.enter_inner(module):
                    self._enter_outer(thread.scopes, module)
            except Exception as error:
                self._give_up(error)

        def after(module, arguments, *rest):
            if is_compiling() or not self.is_live:
                return
            try:
                if not thread.scopes.leave_inner(module):
                    self._leave_outer(thread.scopes, module, arguments, rest)
            except Exception as error:
                self._give_up(error)

        # What torch.compile made warns that such hooks run for it as well: nothing to a program that has none of its own, and the end
        # of one that takes warnings for errors.
        warnings.filterwarnings("ignore", r"Using `torch\.compile\(module\)` when there are global hooks", UserWarning)
        self._hooks = [module.register_module_forward_pre_hook(before),
                       module.register_module_forward_hook(after, **self._after_options)]  # fmt: skip

    def _enter_outer(self, scopes, module):
        if scopes.is_outermost():
            self._emission.ensure()
            self._start_facts()
            self._facts.sample()
        scopes.enter_module(module, is_forward=self._task_id() == -1)

    def _leave_outer(self, scopes, module, arguments, rest):
        scopes.leave(module)
        if scopes.is_outermost() and self._task_id() == -1:
            self._facts.see_arguments(arguments, rest[0] if len(rest) == 2 else {})

    def _cover_autograd(self):
        """Tensor.backward calls torch.autograd.backward by that name, so that covering one covers both."""
        autograd = self._torch.autograd
        backward = autograd.backward
        autograd.backward = self._in_backward(backward)
        _stand_in_for_builtin(backward, autograd.backward)
        for name in ("gradcheck", "gradgradcheck"):
            told = self._told_when_called(getattr(autograd, name), name)
            setattr(autograd, name, told)

    def _in_backward(self, backward):
        enter, leave = self._guard(self._enter_backward), self._guard(self._leave_backward)

        @functools.wraps(backward)
        def in_backward(*args, **kwargs):
            if self.is_compiling():
                return backward(*args, **kwargs)
            call = object()
            enter(call)
            try:
                return backward(*args, **kwargs)
            finally:
                leave(call)

        return in_backward

    def _enter_backward(self, call):
        if self.is_live:
            self._emission.ensure()
            self._facts.sample()
            self._thread.scopes.enter_phase(call, "backward")

    def _leave_backward(self, call):
        self._thread.scopes.leave(call)

    def _told_when_called(self, function, fact):
        tell = self._guard(self._facts.set)

        @functools.wraps(function)
        def told(*args, **kwargs):
            tell(fact, True)
            return function(*args, **kwargs)

        return told

    # --- From first to last ---

    def _go_live(self):
        """When CUDA is initialized, on the thread that does so, which holds PyTorch's lock for it."""
        self._emission.ensure()
        self.is_live = True

    def _start_facts(self):
        if not self._has_started:
            self._has_started = True
            self._facts.start()

    def _tell_compiled(self, name, value):
        self._untold.append(f"dlkprof:fact: pytorch {name} {value}")
        if self.is_live:
            untold, self._untold = self._untold, []
            for mark in untold:
                self.nvtx.mark(mark)

    def _see_profiler(self):
        kind = getattr(getattr(self._torch._C, "_autograd", None), "_profiler_type", lambda: None)()
        emits_ranges = str(kind).endswith(("NVTX", "ITT"))
        self._facts.set("emit_nvtx" if emits_ranges else "autograd_profile", True)

    def _forget(self):
        """In a forked child. CUDA does not work there if the parent used it; if not, the child goes live by itself.

        The open ranges are the parent's: nothing is pushed or popped here from now on.
        """
        if self.is_live:
            self.is_live = False
            self._emission.stop()

    def _let_go(self):
        """The profiler has all that it wants: from here on the program runs at its own speed.

        What marks its steps is still heard, so that their time without a profiler is known. Threads that are amid their
        own emission keep it until they end.
        """
        self.has_let_go = True
        self.is_live = False
        for hook in self._hooks:
            hook.remove()
        self._emission.stop()
        optimizer = sys.modules.get("torch.optim.optimizer")
        register = getattr(optimizer, "register_optimizer_step_post_hook", None)  # since PyTorch 2.0
        if register is not None:
            register(self._guard(self._mark_step))

    def _mark_step(self, optimizer, *_):
        if not self.is_compiling():
            self.nvtx.range_push(f"Optimizer.step#{type(optimizer).__name__}.step")  # as PyTorch's own emission names it
            self.nvtx.range_pop()

    def _finish(self):
        if self.is_live or self.has_let_go:
            self._start_facts()
            self._facts.finish()
            self._compiled.finish()
            self._thread.scopes.close_all()
            self._emission.stop()
            self.is_live = False

    # --- Failing ---

    def _guard(self, action):
        """`action`, which switches everything off for good instead of raising."""

        @functools.wraps(action)
        def guarded(*args):
            if self._has_failed:
                return
            try:
                action(*args)
            except Exception as error:
                self._give_up(error)

        return guarded

    def _give_up(self, error):
        self._has_failed = True
        self.is_live = False
        complain("PyTorch's ranges and facts are missing from here on", error)
        try:
            self._thread.scopes.close_all()
            self._emission.stop()
        except Exception:  # what failed may be the same as before; there is nothing left to switch off
            pass
