"""Optimizers, checkpoints, steps and schedules."""

from ... import _core
from .._graph import get_default_graph as _get_default_graph
from .._optimizers import (AdadeltaOptimizer, AdagradOptimizer, AdamOptimizer, FtrlOptimizer,
                           GradientDescentOptimizer, MomentumOptimizer, Optimizer, RMSPropOptimizer)
from .._variable import GraphVariable as _GraphVariable


def get_global_step(graph=None):
    """The variable that counts steps, None if there is none."""
    graph = graph or _get_default_graph()
    found = graph.get_collection("global_step")
    if len(found) > 1:
        raise TypeError(f"Only one global step is allowed, got {found}")
    if found:
        return found[0]
    return next((v for v in graph.get_collection("variables") if v.name == "global_step:0"), None)


def create_global_step(graph=None):
    from .. import _scope
    graph = graph or _get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    from .._initializers import Zeros
    with graph.as_default(), graph.name_scope(None):
        return _scope.get_variable("global_step", [], "int64", Zeros(), trainable=False,
                                   collections=["variables", "global_step"])


def get_or_create_global_step(graph=None):
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def global_step(sess, global_step_tensor):
    """Its value now."""
    return int(sess.run(global_step_tensor))


def assert_global_step(global_step_tensor):
    if not (isinstance(global_step_tensor, _GraphVariable) or hasattr(global_step_tensor, "dtype")):
        raise TypeError(f"global_step must be a Variable or Tensor, got {global_step_tensor!r}")
    if not global_step_tensor.dtype.is_integer:
        raise TypeError(f"Existing \"global_step\" does not have integer type: {global_step_tensor.dtype}")


def _floats(step, *values):
    cast, convert = _core.op("cast"), _core.op("convert_to_tensor")
    first = convert(values[0])
    step = cast(step, first.dtype)
    return [step, first, *[cast(convert(v), first.dtype) for v in values[1:]]]


def exponential_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """learning_rate * decay_rate ^ (global_step / decay_steps)."""
    if global_step is None:
        raise ValueError("global_step is required for exponential_decay.")
    step, rate, steps, decay = _floats(global_step, learning_rate, decay_steps, decay_rate)
    part = step / steps
    return rate * _core.op("pow")(decay, _core.op("math.floor")(part) if staircase else part)


def natural_exp_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    step, rate, steps, decay = _floats(global_step, learning_rate, decay_steps, decay_rate)
    part = step / steps
    return rate * _core.op("exp")(-decay * (_core.op("math.floor")(part) if staircase else part))


def inverse_time_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    step, rate, steps, decay = _floats(global_step, learning_rate, decay_steps, decay_rate)
    part = step / steps
    return rate / (1.0 + decay * (_core.op("math.floor")(part) if staircase else part))


def polynomial_decay(learning_rate, global_step, decay_steps, end_learning_rate=0.0001, power=1.0,
                     cycle=False, name=None):
    step, rate, steps, end = _floats(global_step, learning_rate, decay_steps, end_learning_rate)
    if cycle:
        times = _core.op("maximum")(_core.op("math.ceil")(step / steps), 1.0)
        steps = steps * times
    else:
        step = _core.op("minimum")(step, steps)
    return (rate - end) * _core.op("pow")(1.0 - step / steps, power) + end


def cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0, name=None):
    import math
    step, rate, steps = _floats(global_step, learning_rate, decay_steps)
    part = _core.op("minimum")(step, steps) / steps
    curve = 0.5 * (1.0 + _core.op("cos")(math.pi * part))
    return rate * ((1 - alpha) * curve + alpha)


def cosine_decay_restarts(learning_rate, global_step, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0,
                          name=None):
    """Cosines, each t_mul times as long and m_mul times as high as the one before."""
    import math
    step, rate, steps = _floats(global_step, learning_rate, first_decay_steps)
    part = step / steps
    if t_mul == 1.0:
        number = _core.op("math.floor")(part)
        part = part - number
    else:
        number = _core.op("math.floor")(_core.op("math.log")(1.0 - part * (1.0 - t_mul)) / math.log(t_mul))
        part = (part - (1.0 - _core.op("pow")(t_mul, number)) / (1.0 - t_mul)) / _core.op("pow")(t_mul, number)
    curve = 0.5 * _core.op("pow")(m_mul, number) * (1.0 + _core.op("cos")(math.pi * part))
    return rate * ((1 - alpha) * curve + alpha)


def linear_cosine_decay(learning_rate, global_step, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001,
                        name=None):
    import math
    step, rate, steps = _floats(global_step, learning_rate, decay_steps)
    step = _core.op("minimum")(step, steps)
    curve = 0.5 * (1.0 + _core.op("cos")(math.pi * 2.0 * num_periods * step / steps))
    return rate * ((alpha + (steps - step) / steps) * curve + beta)


def piecewise_constant(x, boundaries, values, name=None):
    """The value of the interval that x is in."""
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    convert, where = _core.op("convert_to_tensor"), _core.op("where")
    made = convert(values[-1])
    for bound, value in zip(reversed(list(boundaries)), reversed(list(values[:-1]))):
        made = where(_core.op("less_equal")(x, _core.op("cast")(bound, x.dtype)),
                     _core.op("cast")(value, made.dtype), made)
    return made


piecewise_constant_decay = piecewise_constant


class ExponentialMovingAverage:
    """Variables that follow others slowly."""

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        if zero_debias:
            from ...errors import UnimplementedError
            raise UnimplementedError(None, None, "ExponentialMovingAverage: zero_debias is not built")
        self._decay, self._num_updates, self._name = decay, num_updates, name
        self._averages = {}

    @property
    def name(self):
        return self._name

    def apply(self, var_list=None):
        """An operation that moves the averages towards the variables."""
        from .._control import group
        from .._variable import trainable_variables
        graph = _get_default_graph()
        var_list = trainable_variables() if var_list is None else var_list
        for variable in var_list:
            if variable.ref() in self._averages:
                continue
            is_variable = isinstance(variable, _GraphVariable)
            with graph.name_scope(None):
                made = _GraphVariable(
                    variable.initial_value if is_variable else (
                        lambda v=variable: _core.op("zeros")(v._shape.as_list(), v.dtype)),
                    trainable=False, name=f"{variable.op.name}/{self._name}")
            self._averages[variable.ref()] = made
            graph.add_to_collection("moving_average_variables", variable)
        decay = self._decay
        if self._num_updates is not None:
            num = _core.op("cast")(self._num_updates, "float32")
            decay = _core.op("minimum")((1.0 + num) / (10.0 + num), decay)
        updates = []
        with graph.name_scope(self._name):
            for variable in var_list:
                average = self._averages[variable.ref()]
                rest = 1.0 - (_core.op("cast")(decay, variable.dtype) if hasattr(decay, "dtype") else decay)
                updates.append(average.assign_sub((average - variable) * rest))
            return group(*updates)

    def average(self, var):
        return self._averages.get(var.ref())

    def average_name(self, var):
        found = self._averages.get(var.ref())
        return found.op.name if found is not None else f"{var.op.name}/{self._name}"

    def variables_to_restore(self, moving_avg_variables=None):
        from .._variable import global_variables
        averaged = {v.ref() for v in moving_avg_variables} if moving_avg_variables else set(self._averages)
        own = {a.ref() for a in self._averages.values()}
        return {(self.average_name(v) if v.ref() in averaged else v.op.name): v
                for v in global_variables() if v.ref() not in own}


class Coordinator:
    """Tells threads when to stop."""

    def __init__(self, clean_stop_exception_types=None):
        import threading
        self._stopped = threading.Event()
        self._threads, self._error = [], None
        self._clean = tuple(clean_stop_exception_types or ())

    def request_stop(self, ex=None):
        if ex is not None and self._error is None and not isinstance(ex, self._clean_types()):
            self._error = ex
        self._stopped.set()

    def _clean_types(self):
        from ...errors import OutOfRangeError
        return self._clean or (OutOfRangeError,)

    def should_stop(self):
        return self._stopped.is_set()

    def clear_stop(self):
        self._stopped.clear()

    def wait_for_stop(self, timeout=None):
        return self._stopped.wait(timeout)

    def register_thread(self, thread):
        self._threads.append(thread)

    def join(self, threads=None, stop_grace_period_secs=120, ignore_live_threads=False):
        for thread in [*self._threads, *(threads or [])]:
            thread.join(stop_grace_period_secs)
        if self._error is not None:
            raise self._error

    def stop_on_exception(self):
        import contextlib

        @contextlib.contextmanager
        def scope():
            try:
                yield
            except Exception as error:  # handed on by join
                self.request_stop(error)

        return scope()


def start_queue_runners(sess=None, coord=None, daemon=True, start=True, collection="queue_runners"):
    """No queues: datasets run ahead by themselves."""
    return []


_NOT_BUILT = frozenset((
    "MonitoredTrainingSession", "MonitoredSession", "SingularMonitoredSession", "Supervisor",
    "SessionRunHook", "CheckpointSaverHook", "LoggingTensorHook", "StopAtStepHook", "Scaffold",
    "QueueRunner", "Server", "ClusterSpec", "SyncReplicasOptimizer", "ProximalAdagradOptimizer",
    "ProximalGradientDescentOptimizer", "AdagradDAOptimizer", "batch", "shuffle_batch",
    "string_input_producer", "slice_input_producer", "import_meta_graph", "export_meta_graph",
    "write_graph", "init_from_checkpoint", "Checkpoint", "CheckpointManager", "SummaryWriter"))


def __getattr__(name):
    if name in ("Saver", "latest_checkpoint", "get_checkpoint_state", "update_checkpoint_state",
                "checkpoint_exists", "list_variables", "load_variable", "load_checkpoint",
                "NewCheckpointReader", "remove_checkpoint"):
        from .. import _saver
        return getattr(_saver, name)
    if name in ("BytesList", "Example", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList",
                "Int64List", "SequenceExample"):
        from ... import train
        return getattr(train, name)
    if name in _NOT_BUILT:
        from .._not_built import not_built
        return not_built(f"tf.compat.v1.train.{name}")
    raise AttributeError(f"module 'plimsoll.compat.v1.train' has no attribute '{name}'")
