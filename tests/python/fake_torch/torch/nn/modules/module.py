from collections import OrderedDict

from ... import _C

_global_forward_pre_hooks = OrderedDict()
_global_forward_hooks = OrderedDict()
_with_kwargs = set()
_always_called = set()


class Handle:
    def __init__(self, hooks, hook):
        self._hooks, self._key = hooks, id(hook)
        hooks[self._key] = hook

    def remove(self):
        del self._hooks[self._key]


def register_module_forward_pre_hook(hook):
    return Handle(_global_forward_pre_hooks, hook)


if _C.at_least(2, 1):

    def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
        _with_kwargs.update([id(hook)] if with_kwargs else [])
        _always_called.update([id(hook)] if always_call else [])
        return Handle(_global_forward_hooks, hook)

else:

    def register_module_forward_hook(hook):
        return Handle(_global_forward_hooks, hook)


class Module:
    def __init__(self):
        object.__setattr__(self, "_modules", {})

    def __setattr__(self, name, value):
        if isinstance(value, Module):
            self._modules[name] = value
        object.__setattr__(self, name, value)

    def named_modules(self, memo=None, prefix=""):
        memo = set() if memo is None else memo
        if self in memo:
            return
        memo.add(self)
        yield prefix, self
        for name, part in self._modules.items():
            yield from part.named_modules(memo, prefix + ("." if prefix else "") + name)

    def __call__(self, *args, **kwargs):
        for hook in list(_global_forward_pre_hooks.values()):
            if hook(self, args) is not None:
                raise AssertionError("a hook changed the arguments")
        try:
            result = self.forward(*args, **kwargs)
        except Exception:
            for key, hook in list(_global_forward_hooks.items()):
                if key in _always_called:
                    hook(self, args, None)
            raise
        for key, hook in list(_global_forward_hooks.items()):
            given = (args, kwargs, result) if key in _with_kwargs else (args, result)
            if hook(self, *given) is not None:
                raise AssertionError("a hook changed the result")
        return result
