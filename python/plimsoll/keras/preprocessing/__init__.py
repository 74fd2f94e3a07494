"""keras.preprocessing: older names."""

from ..utils import image_dataset_from_directory, text_dataset_from_directory, timeseries_dataset_from_array

_MODULES = ("image", "sequence", "text")


def __getattr__(name):
    import importlib
    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module 'plimsoll.keras.preprocessing' has no attribute '{name}'")


def __dir__():
    return sorted({*_MODULES, "image_dataset_from_directory", "text_dataset_from_directory",
                   "timeseries_dataset_from_array"})


def not_built(module, names):
    """__getattr__ of a module with names that are not built."""

    def __getattr__(name):
        text = (f"keras.preprocessing.{module}.{name} is not built: use layers (TextVectorization, Rescaling, Resizing, "
                "RandomFlip and others)")
        if name not in names:
            text = f"module 'plimsoll.keras.preprocessing.{module}' has no attribute '{name}'"
        elif _is_import():
            raise ImportError(text)
        raise AttributeError(text)

    return __getattr__


def _is_import():
    """Whether `from module import name` asks, which would hide the text of an AttributeError."""
    import dis
    import sys
    frame = sys._getframe(2)
    code = frame.f_code.co_code
    return dis.opname[code[frame.f_lasti]] == "IMPORT_FROM"
