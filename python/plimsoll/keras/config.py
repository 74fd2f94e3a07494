"""keras.config: types and layouts that hold where nothing else is said."""

from .mixed_precision import global_policy as dtype_policy
from .mixed_precision import set_global_policy as set_dtype_policy

_values = {"floatx": "float32", "epsilon": 1e-7}


def floatx():
    return _values["floatx"]


def set_floatx(value):
    if value not in ("bfloat16", "float16", "float32", "float64"):
        raise ValueError(f"Unknown `floatx` value: {value}. Expected one of "
                         "{'bfloat16', 'float16', 'float32', 'float64'}")
    _values["floatx"] = value
    set_dtype_policy(value)


def epsilon():
    return _values["epsilon"]


def set_epsilon(value):
    _values["epsilon"] = float(value)


def image_data_format():
    return "channels_last"


def set_image_data_format(data_format):
    if data_format != "channels_last":
        raise ValueError(f"images are channels_last here, got {data_format!r}")


def backend():
    return "tensorflow"


def enable_unsafe_deserialization():
    """Nothing here is made by running code out of files."""


def enable_traceback_filtering():
    """Tracebacks are whole."""


def disable_traceback_filtering():
    """Tracebacks are whole."""


def is_traceback_filtering_enabled():
    return False


def enable_interactive_logging():
    """Progress is printed."""


def disable_interactive_logging():
    """Progress is printed where verbose says so."""


def is_interactive_logging_enabled():
    return True


def max_epochs():
    return None


def max_steps_per_epoch():
    return None
