"""Iterators of datasets in graphs: each session goes through the dataset on its own."""

from .. import _core, nest
from ..data import _spec
from ..data._dataset import Dataset
from ..dtypes import string
from . import _calls, _graph, _infer
from ._calls import eagerly


class Iterator:
    """get_next() is an operation that gives the next element in every run."""

    def __init__(self, spec, dataset=None, needs_initializer=False):
        self._element_spec = spec
        self._dataset = dataset  # of an iterator that begins by itself
        self._needs_initializer = needs_initializer
        self._initializer = None
        self._graph = _graph.get_default_graph()

    @property
    def initializer(self):
        """The operation that begins at the first element."""
        if self._initializer is None:
            if not self._needs_initializer:
                raise ValueError("The iterator does not have an initializer. This means it was likely "
                                 "created using `tf.data.Dataset.make_one_shot_iterator()`.")
            raise ValueError("The iterator has no initializer: make_initializer(dataset) makes one.")
        return self._initializer

    def make_initializer(self, dataset, name=None):
        """An operation that begins with this dataset, whose elements are of the same kind."""
        with eagerly():
            spec = dataset.element_spec
        nest.assert_same_structure(self._element_spec, spec)
        for mine, other in zip(nest.flatten(self._element_spec), nest.flatten(spec)):
            if mine.dtype is not other.dtype or not mine.shape.is_compatible_with(other.shape):
                raise TypeError(f"Expected elements of {self._element_spec}, got a dataset of {spec}.")
        inputs = dataset._inputs if isinstance(dataset, GraphDataset) else []

        def begin(run, values):
            made = dataset._make(values) if isinstance(dataset, GraphDataset) else dataset
            run.session._states[self] = iter(made)

        return self._graph.add(begin, (inputs,), kind="MakeIterator", name=name, outputs=[],
                               is_host=True, needs_run=True)

    def get_next(self, name=None):
        """The next element: OutOfRangeError where there is none."""
        return self._graph.add(lambda run: self._next(run.session), kind="IteratorGetNext", name=name,
                               outputs=self._element_spec, is_host=True, needs_run=True).result

    def _next(self, session):
        from ..errors import FailedPreconditionError
        state = session._states.get(self)
        if state is None:
            if self._dataset is None:
                raise FailedPreconditionError(
                    None, None, "GetNext() failed because the iterator has not been initialized. Ensure that "
                    "you have run the initializer operation for this iterator before getting the next "
                    "element.")
            state = session._states[self] = iter(self._dataset)
        return state.get_next()

    def string_handle(self, name=None):
        """What from_string_handle knows it by."""
        self._graph.iterators[str(id(self))] = self
        return _calls.constant(str(id(self)), string, name=name or "handle")

    @property
    def element_spec(self):
        return self._element_spec

    @property
    def output_types(self):
        return _spec.each(lambda s: s.dtype, self._element_spec)

    @property
    def output_shapes(self):
        return _spec.each(lambda s: s.shape, self._element_spec)

    @staticmethod
    def from_structure(output_types, output_shapes=None, shared_name=None, output_classes=None):
        """An iterator for several datasets in turn: make_initializer(dataset) says which."""
        from ..data._dataset import _signature
        return Iterator(_signature(output_types, output_shapes), needs_initializer=True)

    @staticmethod
    def from_string_handle(string_handle, output_types, output_shapes=None, output_classes=None):
        """The iterator whose handle is fed."""
        from ..data._dataset import _signature
        return _ByHandle(_calls.convert_to_tensor(string_handle), _signature(output_types, output_shapes))


class _ByHandle(Iterator):
    def __init__(self, handle, spec):
        super().__init__(spec)
        self._handle = handle

    def get_next(self, name=None):
        def take(run, handle):
            found = self._graph.iterators.get(bytes(handle.numpy()).decode())
            if found is None:
                from ..errors import InvalidArgumentError
                raise InvalidArgumentError(None, None, f"no iterator has the handle {handle.numpy()!r}")
            return found._next(run.session)

        return self._graph.add(take, (self._handle,), kind="IteratorGetNext", name=name,
                               outputs=self._element_spec, is_host=True, needs_run=True).result


class GraphDataset(Dataset):
    """A dataset of values that are fed: made when an iterator is initialized."""

    def __init__(self, inputs, make):
        self._inputs = inputs  # graph tensors
        self._make = make  # of their values
        self._held = ()
        self._known_spec = None

    @property
    def element_spec(self):
        """As two datasets of other sizes agree on it."""
        if self._known_spec is None:
            try:
                self._known_spec = self._spec_of([1])
            except (TypeError, ValueError):
                if all(t._shape.rank is not None for t in self._inputs):
                    raise
                self._known_spec = self._spec_of([])  # a size of which nothing was said
        return self._known_spec

    def _spec_of(self, unknown):
        with eagerly():
            return _spec.common(*(self._make([_blank(t, size, unknown) for t in self._inputs]).element_spec
                                  for size in (2, 3)))

    def __iter__(self):
        raise RuntimeError("a dataset of tensors of a graph has no elements before a session feeds them; "
                           "make_initializable_iterator() goes through it")

    def __repr__(self):
        return f"<GraphDataset of {self._inputs}>"


def _blank(tensor, size, unknown):
    """unknown: the shape of integers that have none, 1 for each axis."""
    shape = tensor._shape
    if shape.rank is None:
        dims = [size for _ in unknown] if tensor.dtype.is_integer else [size]
    else:
        dims = [size if d is None else d for d in shape]
    if tensor.dtype.is_integer:  # sizes of batches and the like
        return _core.op("fill")(dims, _core.op("cast")(1, tensor.dtype))
    return _core.op("zeros")(dims, tensor.dtype)


def deferred(function, args, kwargs):
    """function(*args, **kwargs), in which graph tensors and such datasets stand, as a GraphDataset."""
    own = list({id(t): t for t in _infer.leaves_of((args, kwargs), [])}.values())
    others = [d for d in nest.flatten([list(args), list(kwargs.values())]) if isinstance(d, GraphDataset)]
    inputs = own + [t for d in others for t in d._inputs]

    def make(values):
        values = list(values)
        by_id = {id(t): v for t, v in zip(own, values)}
        at = len(own)
        made = {}
        for other in others:
            made[id(other)] = other._make(values[at:at + len(other._inputs)])
            at += len(other._inputs)

        def replace(value):
            if isinstance(value, GraphDataset):
                return made[id(value)]
            if isinstance(value, tuple):
                return tuple(map(replace, value))
            if isinstance(value, dict):
                return {k: replace(v) for k, v in value.items()}
            return value

        given, words = _infer.substitute((tuple(args), dict(kwargs)), lambda leaf: by_id[id(leaf)])
        return function(*replace(given), **replace(words))

    return GraphDataset(inputs, make)


def _recorded(name):
    method = getattr(Dataset, name)

    def record(self, *args, **kwargs):
        return deferred(method, (self, *args), kwargs)

    record.__name__ = name
    return record


for _name in ("concatenate", "filter", "take_while", "enumerate", "shard", "shuffle", "repeat", "take",
              "skip", "prefetch", "cache", "batch", "padded_batch", "unbatch", "rebatch", "window", "map",
              "flat_map", "interleave", "scan", "with_options", "apply"):
    setattr(GraphDataset, _name, _recorded(_name))


def is_deferred(*values):
    """Whether a dataset of these waits for a session."""
    return bool(_infer.leaves_of(values, [])) or any(
        isinstance(v, GraphDataset) for v in nest.flatten(list(values)))


def make_one_shot_iterator(dataset):
    """An iterator that begins by itself, once in each session; outside of graphs one with values."""
    if not _core.is_building():
        return iter(dataset)
    if isinstance(dataset, GraphDataset):
        raise ValueError("Failed to create a one-shot iterator for a dataset. `Dataset.make_one_shot_iterator()` "
                         f"does not support datasets that capture stateful objects, such as {dataset._inputs}. "
                         "In these cases, use `Dataset.make_initializable_iterator()`.")
    with eagerly():
        spec = dataset.element_spec
    return Iterator(spec, dataset)


def make_initializable_iterator(dataset, shared_name=None):
    """An iterator that begins whenever its initializer runs."""
    if not _core.is_building():
        raise RuntimeError("dataset.make_initializable_iterator is not supported when eager execution is "
                           "enabled. Use `for element in dataset` instead.")
    with eagerly():
        spec = dataset.element_spec
    made = Iterator(spec, needs_initializer=True)
    made._initializer = made.make_initializer(dataset)
    _graph.get_default_graph().add_to_collection("iterators", made._initializer)
    return made


def get_output_types(dataset_or_iterator):
    return _spec.each(lambda s: s.dtype, dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator):
    return _spec.each(lambda s: s.shape, dataset_or_iterator.element_spec)


def get_output_classes(dataset_or_iterator):
    from ._variable import Tensor
    return _spec.each(lambda s: Tensor, dataset_or_iterator.element_spec)
