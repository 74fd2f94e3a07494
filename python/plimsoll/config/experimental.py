"""The names under which much of tf.config was first."""

from .._core import LogicalDeviceConfiguration as VirtualDeviceConfiguration
from .._core.config import (get_device_details, get_memory_growth, get_memory_info,
                            get_visible_devices, list_logical_devices, list_physical_devices,
                            reset_memory_stats, set_memory_growth, set_visible_devices)
from .._core.config import get_logical_device_configuration as get_virtual_device_configuration
from .._core.config import set_logical_device_configuration as set_virtual_device_configuration


def get_memory_usage(device):
    """Bytes in use now."""
    return get_memory_info(device)["current"]


def enable_op_determinism():
    """Runs are the same already, at a fixed number of threads."""


def set_synchronous_execution(enable):
    """Ops are done when they return."""


def get_synchronous_execution():
    return True


def enable_tensor_float_32_execution(enabled):
    """Products are computed in the type that they have."""


def tensor_float_32_execution_enabled():
    return False
