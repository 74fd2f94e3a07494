"""tf.data.Options: taken and kept; what they say of threads and order holds anyway or has no meaning here."""

import enum


class AutoShardPolicy(enum.IntEnum):
    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class AutotuneAlgorithm(enum.IntEnum):
    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class ExternalStatePolicy(enum.IntEnum):
    WARN = 0
    IGNORE = 1
    FAIL = 2


class _Settings:
    """Names and their values; names that are not known raise."""

    _names = ()

    def __init__(self):
        for name in self._names:
            object.__setattr__(self, name, None)

    def __setattr__(self, name, value):
        if name not in self._names:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    def __repr__(self):
        said = ", ".join(f"{k}={v!r}" for k, v in vars(self).items() if v is not None)
        return f"{type(self).__name__}({said})"

    __hash__ = None


class ThreadingOptions(_Settings):
    _names = ("max_intra_op_parallelism", "private_threadpool_size")


class AutotuneOptions(_Settings):
    _names = ("enabled", "cpu_budget", "ram_budget", "autotune_algorithm", "initial_parallelism", "min_parallelism")


class DistributeOptions(_Settings):
    _names = ("auto_shard_policy", "num_devices")


class OptimizationOptions(_Settings):
    _names = ("apply_default_optimizations", "filter_fusion", "filter_parallelization", "inject_prefetch",
              "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion", "map_parallelization",
              "noop_elimination", "parallel_batch", "seq_interleave_prefetch", "shuffle_and_repeat_fusion")


class Options(_Settings):
    """What a dataset may be told as a whole."""

    _names = ("deterministic", "framework_type", "warm_start", "dataset_name", "experimental_deterministic",
              "experimental_optimization", "experimental_slack", "experimental_symbolic_checkpoint",
              "experimental_threading", "experimental_external_state_policy", "experimental_distribute",
              "experimental_warm_start", "threading", "autotune")

    def __init__(self):
        super().__init__()
        object.__setattr__(self, "threading", ThreadingOptions())
        object.__setattr__(self, "experimental_threading", self.threading)
        object.__setattr__(self, "autotune", AutotuneOptions())
        object.__setattr__(self, "experimental_distribute", DistributeOptions())
        object.__setattr__(self, "experimental_optimization", OptimizationOptions())

    def merge(self, other):
        """What the other says counts."""
        made = Options()
        for options in (self, other):
            _tell(made, options)
        return made


def _tell(made, options):
    for name, value in vars(options).items():
        if isinstance(value, _Settings):
            _tell(getattr(made, name), value)
        elif value is not None:
            object.__setattr__(made, name, value)
