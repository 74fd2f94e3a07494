"""keras.preprocessing: older names."""

_MODULES = ("sequence", "image", "text")


def __getattr__(name):
    import importlib
    if name == "sequence":
        return importlib.import_module(".sequence", __name__)
    if name in _MODULES:
        raise AttributeError(f"keras.preprocessing.{name} is not built: use layers (TextVectorization, Rescaling, "
                             "Resizing, RandomFlip and others)")
    raise AttributeError(f"module 'plimsoll.keras.preprocessing' has no attribute '{name}'")
