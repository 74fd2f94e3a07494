"""Initializers of the first version: called with a shape, a type and a partition."""

import math

from .. import _core
from ..dtypes import as_dtype, float32


class Initializer:
    """Gives the first value of a variable: initializer(shape, dtype=None)."""

    def __call__(self, shape, dtype=None, partition_info=None):
        raise NotImplementedError

    def get_config(self):
        return {k.lstrip("_"): v for k, v in vars(self).items()}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def _dims(shape):
    return [int(d) for d in shape]


class Zeros(Initializer):
    def __init__(self, dtype=float32):
        self.dtype = as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return _core.op("zeros")(_dims(shape), dtype or self.dtype)


class Ones(Initializer):
    def __init__(self, dtype=float32):
        self.dtype = as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return _core.op("ones")(_dims(shape), dtype or self.dtype)


class Constant(Initializer):
    def __init__(self, value=0, dtype=float32, verify_shape=False):
        self.value, self.dtype, self._verify_shape = value, as_dtype(dtype), verify_shape

    def __call__(self, shape, dtype=None, partition_info=None, verify_shape=None):
        if _core.is_building() and isinstance(self.value, (int, float)):
            # The graph keeps one element, and a session makes the others.
            return _core.op("fill")(_dims(shape), _core.op("constant")(self.value, dtype or self.dtype))
        return _core.op("constant")(self.value, dtype or self.dtype, _dims(shape))


class RandomUniform(Initializer):
    def __init__(self, minval=0.0, maxval=None, seed=None, dtype=float32):
        self.minval, self.maxval, self.seed, self.dtype = minval, maxval, seed, as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return _core.op("random.uniform")(_dims(shape), self.minval, self.maxval, dtype or self.dtype,
                                          self.seed)


class RandomNormal(Initializer):
    _draw = "random.normal"

    def __init__(self, mean=0.0, stddev=1.0, seed=None, dtype=float32):
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, seed, as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return _core.op(self._draw)(_dims(shape), self.mean, self.stddev, dtype or self.dtype, self.seed)


class TruncatedNormal(RandomNormal):
    _draw = "random.truncated_normal"


class UniformUnitScaling(Initializer):
    def __init__(self, factor=1.0, seed=None, dtype=float32):
        self.factor, self.seed, self.dtype = factor, seed, as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        size = max(1.0, float(math.prod(_dims(shape)[:-1])))
        most = math.sqrt(3 / size) * self.factor
        return _core.op("random.uniform")(_dims(shape), -most, most, dtype or self.dtype, self.seed)


def _fans(shape):
    if not shape:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


class VarianceScaling(Initializer):
    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None,
                 dtype=float32):
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be a positive float. Received: {scale}")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"Argument `mode` should be one of ('fan_in', 'fan_out', 'fan_avg'). "
                             f"Received: {mode}")
        self.scale, self.mode, self.distribution = scale, mode, distribution.lower()
        if self.distribution not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError("Argument `distribution` should be one of ('normal', 'uniform', "
                             f"'truncated_normal', 'untruncated_normal'). Received: {distribution}")
        self.seed, self.dtype = seed, as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        shape, dtype = _dims(shape), dtype or self.dtype
        fan_in, fan_out = _fans(shape)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        scale = self.scale / max(1.0, fan)
        if self.distribution == "uniform":
            most = math.sqrt(3.0 * scale)
            return _core.op("random.uniform")(shape, -most, most, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return _core.op("random.normal")(shape, 0.0, math.sqrt(scale), dtype, self.seed)
        # The deviation of a normal distribution that is cut off at two of its own.
        return _core.op("random.truncated_normal")(shape, 0.0, math.sqrt(scale) / 0.87962566103423978,
                                                   dtype, self.seed)


def _scaling(name, scale, mode, distribution):
    def __init__(self, seed=None, dtype=float32):
        VarianceScaling.__init__(self, scale, mode, distribution, seed, dtype)

    return type(name, (VarianceScaling,), {"__init__": __init__, "__module__": __name__,
                                           "get_config": lambda self: {"seed": self.seed,
                                                                       "dtype": self.dtype.name}})


GlorotUniform = _scaling("GlorotUniform", 1.0, "fan_avg", "uniform")
GlorotNormal = _scaling("GlorotNormal", 1.0, "fan_avg", "truncated_normal")
LecunUniform = _scaling("LecunUniform", 1.0, "fan_in", "uniform")
LecunNormal = _scaling("LecunNormal", 1.0, "fan_in", "truncated_normal")
HeUniform = _scaling("HeUniform", 2.0, "fan_in", "uniform")
HeNormal = _scaling("HeNormal", 2.0, "fan_in", "truncated_normal")


class Orthogonal(Initializer):
    def __init__(self, gain=1.0, seed=None, dtype=float32):
        self.gain, self.seed, self.dtype = gain, seed, as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        shape, dtype = _dims(shape), dtype or self.dtype
        if len(shape) < 2:
            raise ValueError("The tensor to initialize, specified by argument `shape` must be at least "
                             f"two-dimensional. Received shape={shape}")
        rows, columns = math.prod(shape[:-1]), shape[-1]
        drawn = _core.op("random.normal")([max(rows, columns), min(rows, columns)], 0.0, 1.0, dtype,
                                          self.seed)
        q, r = _core.op("linalg.qr")(drawn)
        q = q * _core.op("sign")(_core.op("linalg.diag_part")(r))
        if rows < columns:
            q = _core.op("transpose")(q)
        return self.gain * _core.op("reshape")(q, shape)


class Identity(Initializer):
    def __init__(self, gain=1.0, dtype=float32):
        self.gain, self.dtype = gain, as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        shape = _dims(shape)
        if len(shape) != 2:
            raise ValueError("The tensor to initialize, specified by argument `shape` must be at least "
                             f"two-dimensional. Received shape={shape}")
        return self.gain * _core.op("eye")(*shape, dtype=dtype or self.dtype)
