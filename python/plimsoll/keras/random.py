"""keras.random."""

from .. import _core


class SeedGenerator:
    """A seed for layers and initializers."""

    def __init__(self, seed=None, name=None, **kwargs):
        self.seed = self._seed_value = seed

    def get_config(self):
        return {"seed": self.seed}


def _op(name, shape, seed, **kwargs):
    return _core.op(f"random.{name}")(shape, seed=getattr(seed, "_seed_value", seed), **kwargs)


def normal(shape, mean=0.0, stddev=1.0, dtype="float32", seed=None):
    return _op("normal", shape, seed, mean=mean, stddev=stddev, dtype=dtype or "float32")


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype="float32", seed=None):
    return _op("truncated_normal", shape, seed, mean=mean, stddev=stddev, dtype=dtype or "float32")


def uniform(shape, minval=0.0, maxval=1.0, dtype="float32", seed=None):
    return _op("uniform", shape, seed, minval=minval, maxval=maxval, dtype=dtype or "float32")


def randint(shape, minval, maxval, dtype="int32", seed=None):
    return _op("uniform", shape, seed, minval=minval, maxval=maxval, dtype=dtype)


def shuffle(x, axis=0, seed=None):
    return _core.op("random.shuffle")(x, seed=getattr(seed, "_seed_value", seed))
