"""Devices, their limits, threads."""

from .._core import LogicalDevice, LogicalDeviceConfiguration, PhysicalDevice
from .._core.config import (get_logical_device_configuration, get_soft_device_placement,
                            get_visible_devices, list_logical_devices, list_physical_devices,
                            set_logical_device_configuration, set_soft_device_placement,
                            set_visible_devices)
from . import experimental, optimizer, threading

_run_eagerly = False


def run_functions_eagerly(run_eagerly):
    """Whether functions call their Python function in every call."""
    global _run_eagerly
    _run_eagerly = bool(run_eagerly)
    from .. import _core
    _core.run_functions_eagerly(_run_eagerly)


def functions_run_eagerly():
    return _run_eagerly
