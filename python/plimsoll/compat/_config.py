"""ConfigProto and its parts: what a session is to set, before the runtime starts."""

import logging


class _Message:
    """Named fields with defaults, as messages of protocol buffers have them."""

    _fields = {}

    def __init__(self, **values):
        for name, default in self._fields.items():
            object.__setattr__(self, name, default() if callable(default) else default)
        for name, value in values.items():
            if name not in self._fields:
                raise ValueError(f"Protocol message {type(self).__name__} has no \"{name}\" field.")
            if isinstance(self._fields[name], type) and isinstance(value, dict):
                getattr(self, name).update(value)
            elif isinstance(getattr(self, name), _Message):
                getattr(self, name).CopyFrom(value)
            else:
                setattr(self, name, value)

    def __setattr__(self, name, value):
        if name not in self._fields:
            raise AttributeError(f"Assignment not allowed (no field \"{name}\" in protocol message "
                                 f"object {type(self).__name__}).")
        default = self._fields[name]
        if callable(default):
            raise AttributeError(f"Assignment not allowed to message, map, or repeated field \"{name}\" "
                                 f"in protocol message object {type(self).__name__}.")
        expected = (int, float) if isinstance(default, float) else (
            (bool, int) if isinstance(default, bool) else type(default))
        if not isinstance(value, expected):
            raise TypeError(f"{name}: {value!r} has type {type(value)}, but expected one of: "
                            f"{type(default).__name__}")
        object.__setattr__(self, name, type(default)(value))

    def CopyFrom(self, other):
        for name in self._fields:
            value = getattr(other, name)
            if isinstance(value, _Message):
                getattr(self, name).CopyFrom(value)
            elif isinstance(value, (dict, list)):
                object.__setattr__(self, name, type(value)(value))
            else:
                setattr(self, name, value)

    MergeFrom = CopyFrom

    def HasField(self, name):
        value = getattr(self, name)
        return value != type(value)() if isinstance(value, _Message) else bool(value)

    def __eq__(self, other):
        return type(self) is type(other) and all(getattr(self, n) == getattr(other, n)
                                                 for n in self._fields)

    __hash__ = None

    def __repr__(self):
        lines = []
        for name in self._fields:
            value = getattr(self, name)
            if isinstance(value, _Message):
                inner = repr(value)
                if inner:
                    lines.append(name + " {\n  " + inner.rstrip().replace("\n", "\n  ") + "\n}")
            elif value:
                shown = str(value).lower() if isinstance(value, bool) else (
                    f'"{value}"' if isinstance(value, str) else value)
                lines.append(f"{name}: {shown}")
        return "\n".join(lines) + ("\n" if lines else "")


class _Open(_Message):
    """Options that change nothing here: any field may be set."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def __setattr__(self, name, value):
        self.__dict__[name] = value

    def CopyFrom(self, other):
        self.__dict__.update(vars(other))

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        made = self.__dict__[name] = _Open()
        return made

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)


class GPUOptions(_Message):
    """The part of a GPU's memory that this process may have, and how it is taken."""

    _fields = {"per_process_gpu_memory_fraction": 0.0, "allow_growth": False, "allocator_type": "",
               "deferred_deletion_bytes": 0, "visible_device_list": "",
               "polling_active_delay_usecs": 0, "polling_inactive_delay_msecs": 0,
               "force_gpu_compatible": False, "experimental": _Open}


class OptimizerOptions(_Open):
    L0, L1 = -1, 0
    OFF, ON_1, ON_2, DEFAULT = -1, 1, 2, 0


class GraphOptions(_Message):
    """Accepted; graphs are optimised in one way."""

    _fields = {"enable_recv_scheduling": False, "build_cost_model": 0, "infer_shapes": False,
               "place_pruned_graph": False, "enable_bfloat16_sendrecv": False,
               "optimizer_options": OptimizerOptions, "rewrite_options": _Open}


class RunOptions(_Message):
    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = 0, 1, 2, 3
    _fields = {"trace_level": 0, "timeout_in_ms": 0, "inter_op_thread_pool": 0,
               "output_partition_graphs": False, "report_tensor_allocations_upon_oom": False}


class RunMetadata(_Open):
    """Stays empty: tf.memory.report and plans say what runs take."""


class ConfigProto(_Message):
    """What a session wants of devices and threads."""

    _fields = {"device_count": dict, "intra_op_parallelism_threads": 0,
               "inter_op_parallelism_threads": 0, "use_per_session_threads": False,
               "placement_period": 0, "device_filters": list, "gpu_options": GPUOptions,
               "allow_soft_placement": False, "log_device_placement": False,
               "graph_options": GraphOptions, "operation_timeout_in_ms": 0,
               "isolate_session_state": False, "share_cluster_devices_in_session": False,
               "experimental": _Open}

    def hides_gpus(self):
        return self.device_count.get("GPU") == 0

    def apply(self):
        """Sets it all; says in the log what comes too late."""
        from ..config import threading
        if self.intra_op_parallelism_threads > 0:
            _set("intra_op_parallelism_threads", threading.set_intra_op_parallelism_threads,
                 self.intra_op_parallelism_threads)
        if self.inter_op_parallelism_threads > 0:
            _set("inter_op_parallelism_threads", threading.set_inter_op_parallelism_threads,
                 self.inter_op_parallelism_threads)
        if self.log_device_placement:
            from .. import _core
            _core.set_log_device_placement(True)
        self._apply_to_gpus()

    def _apply_to_gpus(self):
        from .. import config
        gpus = config.list_physical_devices("GPU")
        if not gpus:
            return
        options = self.gpu_options
        if "GPU" in self.device_count or options.visible_device_list:
            shown = gpus
            if options.visible_device_list:
                shown = [gpus[int(i)] for i in options.visible_device_list.split(",")]
            shown = shown[:self.device_count.get("GPU", len(shown))]
            _set("device_count or visible_device_list", config.set_visible_devices, shown, "GPU",
                 is_quiet=self.hides_gpus())
        for gpu in config.get_visible_devices("GPU"):
            if options.allow_growth:
                _set("allow_growth", config.experimental.set_memory_growth, gpu, True)
            if options.per_process_gpu_memory_fraction > 0:
                _limit(gpu, options.per_process_gpu_memory_fraction)


def _limit(gpu, fraction):
    """A part of the device's memory: before the runtime starts, or at once."""
    from .. import _core, config
    total = config.experimental.get_device_details(gpu)["memory_bytes"]
    limit = int(total * fraction) >> 20
    try:
        config.set_logical_device_configuration(
            gpu, [config.LogicalDeviceConfiguration(memory_limit=limit)])
    except RuntimeError:
        short = gpu.name.rpartition("physical_device:")[2]
        from ..errors import FailedPreconditionError
        try:
            _core.memory.set_limit(short, limit << 20,
                                   f"per_process_gpu_memory_fraction {fraction:g} of {short}")
        except FailedPreconditionError as error:
            logging.getLogger("plimsoll").warning("ConfigProto: per_process_gpu_memory_fraction=%g of %s "
                                                  "comes too late: %s", fraction, short, error)


def _set(what, setter, *args, is_quiet=False):
    try:
        setter(*args)
    except RuntimeError as error:
        if is_quiet:  # the session sees to it
            return
        logging.getLogger("plimsoll").warning("ConfigProto: %s changes nothing, for the runtime has "
                                              "started: %s", what, error)


class _DeviceAttributes:
    def __init__(self, name, device_type, memory_limit_bytes):
        self.name = name
        self.device_type = device_type
        self.memory_limit_bytes = memory_limit_bytes
        self.incarnation = 0

    memory_limit = property(lambda self: self.memory_limit_bytes)

    def __repr__(self):
        return (f"_DeviceAttributes({self.name}, {self.device_type}, {self.memory_limit_bytes}, "
                f"{self.incarnation})")


def devices():
    """Logical devices with their full names and limits."""
    from .. import config, memory
    made = []
    for device in config.list_logical_devices():
        short = device.name.replace("/device:", "")
        made.append(_DeviceAttributes(f"/job:localhost/replica:0/task:0{device.name}", device.device_type,
                                      memory.stats(short)["limit"]))
    return made
