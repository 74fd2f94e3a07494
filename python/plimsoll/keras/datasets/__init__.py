"""keras.datasets, out of files that are there already: ~/.keras/datasets."""

_MODULES = ("boston_housing", "california_housing", "cifar10", "cifar100", "fashion_mnist", "imdb", "mnist",
            "reuters")


def __getattr__(name):
    import importlib
    if name not in _MODULES:
        raise AttributeError(f"module 'plimsoll.keras.datasets' has no attribute '{name}'")
    return importlib.import_module("." + name, __name__)


def __dir__():
    return list(_MODULES)
