"""What belongs to gradients beside the tape."""

import enum

from . import _core


class UnconnectedGradients(enum.Enum):
    """What tape.gradient gives for a source that the target does not depend on."""
    NONE = "none"
    ZERO = "zero"


class IndexedSlices:
    """Rows of a larger tensor: values, and where they belong."""

    def __init__(self, values, indices, dense_shape=None):
        self.values = values
        self.indices = indices
        self.dense_shape = dense_shape

    @property
    def dtype(self):
        return self.values.dtype

    def __tf_tensor__(self, dtype=None, name=None):
        from . import cast, expand_dims, scatter_nd
        if self.dense_shape is None:
            raise ValueError("Tensor conversion requested for IndexedSlices without dense_shape")
        made = scatter_nd(expand_dims(self.indices, -1), self.values, self.dense_shape)
        return made if dtype is None else cast(made, dtype)


def gradients(ys, xs, grad_ys=None, name="gradients", gate_gradients=False, aggregation_method=None,
              stop_gradients=None, unconnected_gradients=UnconnectedGradients.NONE):
    from .compat._gradients import gradients as of_graph
    return of_graph(ys, xs, grad_ys, name, False, gate_gradients, aggregation_method, stop_gradients,
                    unconnected_gradients)


def _takes_variables(function):
    import inspect
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters)


def _gradient_of_step(grad_fn, num_inputs, variables):
    """The function that C++ calls: a list of upstream gradients to a list for inputs and variables."""
    from . import nest

    def gradient(upstream):
        if variables:
            made, by_variable = grad_fn(*upstream, variables=variables)
            if len(by_variable) != len(variables):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        else:
            made, by_variable = grad_fn(*upstream), []
        flat = nest.flatten(made)
        if len(flat) != num_inputs:
            raise ValueError(f"custom_gradient function expected to return {num_inputs} gradients, but "
                             f"returned {len(flat)} instead.")
        return [*flat, *by_variable]

    return gradient


def custom_gradient(f=None):
    """A function that returns its results and a function of their gradients: a step with a gradient of its own."""
    import functools
    from . import nest
    if f is None:
        return custom_gradient

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        inputs = nest.flatten(args)
        structure = None

        def forward():
            nonlocal structure
            with _core.GradientTape(_only_variables=True) as watch:
                structure, grad_fn = f(*args, **kwargs)
            given = [*inputs, *nest.flatten(kwargs)]
            variables = [v for v in watch.watched_variables() if all(v is not x for x in given)]
            if variables and not _takes_variables(grad_fn):
                raise TypeError("@tf.custom_gradient grad_fn must accept keyword argument 'variables', since "
                                f"function uses variables: {variables}")
            return nest.flatten(structure), _gradient_of_step(grad_fn, len(inputs), variables), variables

        results = _core.custom_step(inputs, forward)
        return nest.pack_sequence_as(structure, results)

    return decorated


def grad_pass_through(f):
    """A function whose gradient is that of the identity."""

    @custom_gradient
    def passed(*args, **kwargs):
        def grad(*upstream, variables=None):
            return (upstream, [None] * len(variables)) if variables else upstream
        return f(*args, **kwargs), grad

    return passed
