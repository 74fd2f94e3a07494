"""Names of the first version that are there to say that they are not built."""


class not_built:
    """In the place of what is missing: programs may import it, and hear when they call it."""

    def __init__(self, name, instead="docs/compat_v1.md lists what is"):
        self._name, self._instead = name, instead

    def __call__(self, *args, **kwargs):
        from ..errors import UnimplementedError
        raise UnimplementedError(None, None, f"{self._name} is not built; {self._instead}")

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return not_built(f"{self._name}.{name}", self._instead)

    def __repr__(self):
        return f"<{self._name}, which is not built>"
