"""tf.Module: an object that has variables."""


class Module:
    """Finds the variables in its attributes, and in modules, lists and dictionaries among them."""

    def __init__(self, name=None):
        self._name = name or type(self).__name__.lower()

    @property
    def name(self):
        return getattr(self, "_name", type(self).__name__.lower())

    @property
    def name_scope(self):
        from ._control_flow import name_scope
        return name_scope(self.name)

    @classmethod
    def with_name_scope(cls, method):
        def wrapped(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)
        wrapped.__name__ = method.__name__
        return wrapped

    def _walk(self, wanted):
        found, seen, todo = [], set(), [self]
        while todo:
            item = todo.pop(0)
            if id(item) in seen:
                continue
            seen.add(id(item))
            if item is not self and wanted(item):
                found.append(item)
            if isinstance(item, Module):
                todo += [value for key, value in sorted(vars(item).items())
                         if not key.startswith("_tf_function_")]
            elif isinstance(item, (list, tuple)):
                todo += item
            elif isinstance(item, dict):
                todo += item.values()
        return tuple(found)

    @property
    def variables(self):
        from ._core import Variable
        return self._walk(lambda item: isinstance(item, Variable))

    @property
    def trainable_variables(self):
        return tuple(v for v in self.variables if v.trainable)

    @property
    def non_trainable_variables(self):
        return tuple(v for v in self.variables if not v.trainable)

    @property
    def submodules(self):
        return self._walk(lambda item: isinstance(item, Module))
