"""Memory: budgets, plans, the report. Not in TensorFlow."""

from ._core import MemoryPlan, MemoryReport
from ._core.memory import budget, get_budget, report, set_budget, stats, trim


def plan(function, *args, **kwargs):
    """What a call of a tf.function would take, known before it runs. Arguments may be TensorSpecs."""
    if not hasattr(function, "memory_plan"):
        raise TypeError(f"tf.memory.plan needs a tf.function, got {function!r}")
    return function.memory_plan(*args, **kwargs)
