"""Random operations of a graph, and their seeds."""

from .. import _core
from . import _infer

_SEED_AT = {"uniform": 4, "normal": 4, "truncated_normal": 4, "shuffle": 1, "categorical": 3, "gamma": 4,
            "poisson": 3, "bernoulli": 3, "dropout": 3}
_NAMES = {"uniform": ("shape", "minval", "maxval", "dtype", "seed"),
          "normal": ("shape", "mean", "stddev", "dtype", "seed"),
          "truncated_normal": ("shape", "mean", "stddev", "dtype", "seed"),
          "dropout": ("x", "rate", "noise_shape", "seed")}


def with_seeds(graph, function, args, kwargs, name):
    """A call that draws: after set_random_seed, what has no seed gets the number of its operation."""
    label = function.__name__
    if label in _NAMES:
        bound = {**dict(zip(_NAMES[label], args)), **kwargs}
        made = _of_tensors(label, bound, name)
        if made is not None:
            return made
    kwargs = dict(kwargs)
    if graph.seed is not None and len(args) <= _SEED_AT[label] and kwargs.get("seed") is None:
        kwargs["seed"] = len(graph._operations)
    op = graph.add(function, args, kwargs, name)
    op.notes["draws"] = True
    return op.result


def _of_tensors(label, bound, name):
    """Parameters that are tensors themselves: the plain numbers, scaled and moved."""
    from .. import cast, random, zeros
    from .._functions import is_tensor
    seed = bound.get("seed")
    dtype = bound.get("dtype", "float32")

    def is_symbolic(word):
        return bool(_infer.leaves_of(bound.get(word), [])) or is_tensor(bound.get(word))

    if label in ("normal", "truncated_normal") and (is_symbolic("mean") or is_symbolic("stddev")):
        drawn = getattr(random, label)(bound["shape"], dtype=dtype, seed=seed)
        return drawn * bound.get("stddev", 1.0) + bound.get("mean", 0.0)
    if label == "uniform" and (is_symbolic("minval") or is_symbolic("maxval")):
        low, high = bound.get("minval", 0), bound.get("maxval")
        drawn = random.uniform(bound["shape"], dtype=dtype, seed=seed)
        return drawn * ((1.0 if high is None else high) - low) + low
    if label == "dropout" and is_symbolic("rate"):
        x, rate = bound["x"], bound["rate"]
        shape = bound.get("noise_shape")
        drawn = random.uniform(_core.op("shape")(x) if shape is None else shape, dtype=x.dtype, seed=seed)
        rate = cast(rate, x.dtype)
        made = _core.op("where")(drawn >= rate, x / (1.0 - rate), zeros([], x.dtype))
        made.set_shape(x.shape)
        return made
    return None
