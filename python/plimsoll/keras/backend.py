"""keras.backend: what older programs ask of it."""

from .. import _core
from .config import (backend, epsilon, floatx, image_data_format, set_epsilon, set_floatx,
                     set_image_data_format)


def clear_session(free_memory=True):
    """Forgets the numbers in names, and gives back idle memory."""
    import gc
    gc.collect()
    _core.keras_clear_session()


def is_keras_tensor(x):
    return isinstance(x, _core.KerasTensor)


def get_value(x):
    return x.numpy()


def set_value(x, value):
    x.assign(value)


def standardize_dtype(dtype):
    from ._base import dtype_name
    return dtype_name(dtype) or floatx()


def learning_phase():
    return 0


def get_uid(prefix=""):
    _uids[prefix] = _uids.get(prefix, 0) + 1
    return _uids[prefix]


_uids = {}


def __getattr__(name):
    """K.mean, K.sum and others of older versions are ops."""
    older = {"mean": "reduce_mean", "sum": "reduce_sum", "max": "reduce_max", "min": "reduce_min",
             "prod": "reduce_prod", "any": "reduce_any", "all": "reduce_all", "dot": "matmul",
             "cast": "cast", "clip": "clip_by_value", "batch_flatten": "reshape", "int_shape": None,
             "log": "math.log"}
    if name == "int_shape":
        return lambda x: tuple(x.shape)
    found = None if name.startswith("__") else _core.op(older.get(name, name) or "")
    if found is None:
        raise AttributeError(f"module 'plimsoll.keras.backend' has no attribute '{name}'")
    return found
