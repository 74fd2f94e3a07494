"""tf.data.Dataset. Steps are C++; here are their names, and the shapes and types of their elements."""

import atexit
import functools

from .. import _core, nest
from .._function import TensorSpec
from .._functions import of_dataset
from ..dtypes import as_dtype, int64, string
from ..errors import InvalidArgumentError
from ..tensor_shape import TensorShape
from . import _generators, _padding, _spec
from ._frozen import frozen
from ._grouping import Grouping
from ._iterators import Iterator, NumpyIterator, WindowIterator
from ._spec import DatasetSpec

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2

atexit.register(_core.close_dataset_runs)


def _waits(*values):
    """Whether tensors of a graph stand among these: the dataset is made when a session runs."""
    if not _core.is_building():
        return False
    from ..compat._iterator import is_deferred
    return is_deferred(*values)


def _deferred(function, *args):
    from ..compat._iterator import deferred
    return deferred(function, args, {})


def _int(value, default=None):
    if value is None:
        return default
    if isinstance(value, _core.Tensor):
        value = value.numpy()
    try:
        return value.__index__()
    except AttributeError:
        raise TypeError(f"expected an integer, got {value!r}") from None


class Dataset(Grouping):
    """A description of elements; each iteration runs it anew."""

    _options = None
    _is_windowed = False  # elements are lists of elements that are shown as datasets
    _found = None  # what _find has found

    def __init__(self, core, spec=None, held=(), find=None):
        """spec: a structure of TensorSpecs; None if it is not known before elements are there. find: finds it then."""
        self._c = core
        self._spec = spec
        self._held = held  # datasets and functions that it is made of
        self._find = find

    def _then(self, core, spec, *held, find=None):
        made = Dataset(core, spec, (self, *held), find)
        made._options = self._options
        return made

    def _same(self, core, *held):
        """Another dataset of elements of the same kind."""
        made = self._then(core, self._spec, *held, find=self._seen_spec)
        made._is_windowed = self._is_windowed
        return made

    def _function(self, function, name):
        """What C++ calls for each element."""
        if not callable(function):
            raise ValueError(f"Argument `func` must be a callable. Received func={function} (of type {type(function)})")
        function = frozen(function)
        if self._is_windowed:
            inner, windows = function, self._windows

            def function(*elements):
                given = windows(elements)
                return inner(*given) if isinstance(given, tuple) else inner(given)
        return _core.DatasetFunction(of_dataset(function), name)

    def _seen_spec(self):
        """The spec, if need be as the first elements have it."""
        if self._spec is not None:
            return self._spec
        if self._found is None:
            self._found = self._find() if self._find else _spec.of_elements(self.take(2))
        return self._found

    # Sources.

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        """Elements are rows of the tensors. Arrays of 1 MiB and more are not copied: they must not change."""
        if _waits(tensors):
            return _deferred(Dataset.from_tensor_slices, tensors)
        tensors = _spec.to_tensors(tensors, borrow=True)
        _spec.check_slices(tensors)
        return Dataset(_core.Dataset.from_tensor_slices(tensors), _spec.rows_of(_spec.of_element(tensors)))

    @staticmethod
    def from_tensors(tensors, name=None):
        if _waits(tensors):
            return _deferred(Dataset.from_tensors, tensors)
        tensors = _spec.to_tensors(tensors)
        return Dataset(_core.Dataset.from_tensors(tensors), _spec.of_element(tensors))

    @staticmethod
    def from_generator(generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None):
        """Elements of generator(*args), which is called for each iteration."""
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        if output_signature is not None:
            if output_types is not None or output_shapes is not None:
                raise TypeError("The `output_types` and `output_shapes` arguments can not be used together with the "
                                "`output_signature` argument.")
            spec = output_signature
        elif output_types is None:
            raise TypeError("Either `output_signature` or `output_types` must be specified.")
        else:
            spec = _signature(output_types, output_shapes)
        given = tuple(_spec.to_tensors(arg) for arg in args or ())

        function = _core.DatasetFunction(lambda: _generators.Checked(generator(*(a.numpy() for a in given)), spec),
                                         "from_generator")
        return Dataset(_core.Dataset.from_generator(function), spec, (function,))

    @staticmethod
    def range(*args, output_type=int64, name=None):
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3. Actual: {len(args)}.")
        numbers = [_int(a) for a in args]
        start, stop, step = (0, numbers[0], 1) if len(numbers) == 1 else (*numbers, 1)[:3]
        made = Dataset(_core.Dataset.range(start, stop, step), _spec.make((), int64))
        output_type = as_dtype(output_type)
        if output_type is int64:
            return made
        from .. import cast
        return made.map(lambda x: cast(x, output_type))

    @staticmethod
    def counter(start=0, step=1, dtype=None, name=None):
        """Numbers without end."""
        return Dataset.range(start, (2**63 - 1) if step > 0 else -2**63 + 1, step, output_type=dtype or int64)

    @staticmethod
    def zip(*args, datasets=None, name=None):
        """Elements of all, side by side, until the shortest ends."""
        if datasets is None:
            datasets = args[0] if len(args) == 1 else args
        if isinstance(datasets, list):
            raise TypeError(f"Invalid `datasets`. `datasets` is expected to be a (nested) structure of "
                            f"`tf.data.Dataset` objects. Python `list` is not supported and you should use `tuple` "
                            f"instead. Got {datasets}.")
        leaves = nest.flatten(datasets)
        if _waits(*leaves):
            return _deferred(Dataset.zip, datasets)
        for leaf in leaves:
            if not isinstance(leaf, Dataset):
                raise TypeError(f"Invalid `datasets`. `datasets` is expected to be a (nested) structure of "
                                f"`tf.data.Dataset` objects but encountered object of type {type(leaf)}.")
        known = all(leaf._spec is not None for leaf in leaves)
        return Dataset(_core.Dataset.zip(_spec.each(lambda d: d._c, datasets)),
                       _spec.each(lambda d: d._spec, datasets) if known else None, tuple(leaves),
                       lambda: _spec.each(lambda d: d._seen_spec(), datasets))

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None, name=None):
        from ._files import _names
        found = _core.list_files(_names(file_pattern), shuffle is None or bool(shuffle), _int(seed))
        return Dataset(found, _spec.make((), string))

    @staticmethod
    def load(path, element_spec=None, compression=None, reader_func=None, wait=False, name=None):
        """What save wrote."""
        _unbuilt("reader_func", reader_func)
        return Dataset(_core.load_dataset(str(path)), element_spec or _spec.read(str(path)))

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        """Elements of the datasets that another one numbers."""
        return _in_turns(list(datasets), lambda: map(int, choice_dataset), stop_on_empty_dataset)

    @staticmethod
    def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False,
                             rerandomize_each_iteration=None):
        """Elements of datasets that are drawn at random."""
        datasets = list(datasets)
        weights = [1.0] * len(datasets) if weights is None else [float(w) for w in weights]
        if len(weights) != len(datasets):
            raise ValueError(f"`weights` should have the same length as `datasets`, got {len(weights)} and "
                             f"{len(datasets)}.")
        return _in_turns(datasets, lambda: _generators.Draws(weights, seed), stop_on_empty_dataset)

    # What it is.

    @property
    def element_spec(self):
        """Shapes and types of elements. Where a function hides them, those that it gives for the first elements."""
        spec = self._seen_spec()
        return _spec.each(lambda s: DatasetSpec(s), spec) if self._is_windowed else spec

    def cardinality(self, name=None):
        from .. import constant
        return constant(self._c.cardinality(), int64)

    def __len__(self):
        size = self._c.cardinality()
        if size == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite.")
        if size == UNKNOWN_CARDINALITY:
            raise TypeError("The dataset length is unknown.")
        return size

    def __bool__(self):
        return True

    def __iter__(self):
        return WindowIterator(self) if self._is_windowed else Iterator(self)

    @property
    def output_types(self):
        """The first version's: types of elements, and beside it their shapes and classes."""
        from ..compat._iterator import get_output_types
        return get_output_types(self)

    @property
    def output_shapes(self):
        from ..compat._iterator import get_output_shapes
        return get_output_shapes(self)

    @property
    def output_classes(self):
        from ..compat._iterator import get_output_classes
        return get_output_classes(self)

    def make_one_shot_iterator(self):
        """The first version's: get_next() of it, in a graph, is the next element in every run of a session."""
        from ..compat._iterator import make_one_shot_iterator
        return make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name=None):
        from ..compat._iterator import make_initializable_iterator
        return make_initializable_iterator(self, shared_name)

    def as_numpy_iterator(self):
        if self._is_windowed:
            return ([element for element in w.as_numpy_iterator()] for w in self)
        return NumpyIterator(self)

    def get_single_element(self, name=None):
        """The only element."""
        from ..errors import InvalidArgumentError
        found = list(self.take(2))
        if len(found) != 1:
            raise InvalidArgumentError(None, None, "Dataset had more than one element." if found else
                                       "Dataset was empty.")
        return found[0]

    def __repr__(self):
        return f"<{type(self).__name__} element_spec={self._spec}>"

    def options(self):
        from ._options import Options
        return self._options or Options()

    def with_options(self, options, name=None):
        made = self._same(self._c)
        made._options = self.options().merge(options)
        return made

    def apply(self, transformation_func, name=None):
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(made)}.")
        return made

    # Steps that choose.

    def concatenate(self, dataset, name=None):
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`dataset` must be a `tf.data.Dataset` object. Got {type(dataset)}.")
        known = self._spec is not None and dataset._spec is not None
        if known:
            mine, other = nest.flatten(self._spec), nest.flatten(dataset._spec)
            if [s.dtype for s in mine] != [s.dtype for s in other]:
                raise TypeError(f"Incompatible dataset elements:\n  {self._spec} vs.   {dataset._spec}")
        return self._then(self._c.concatenate(dataset._c), _spec.common(self._spec, dataset._spec) if known else None,
                          dataset, find=lambda: _spec.common(self._seen_spec(), dataset._seen_spec()))

    def filter(self, predicate, name=None):
        function = self._function(predicate, "filter")
        if not self._is_windowed:
            _spec.check_predicate(function, self._spec)
        return self._same(self._c.filter(function), function)

    def take_while(self, predicate, name=None):
        function = self._function(predicate, "take_while")
        return self._same(self._c.take_while(function), function)

    def enumerate(self, start=0, name=None):
        spec = None if self._spec is None else (_spec.make((), int64), self._spec)
        return self._then(self._c.enumerate(_int(start)), spec,
                          find=lambda: (_spec.make((), int64), self._seen_spec()))

    def shard(self, num_shards, index, name=None):
        return self._same(self._c.shard(_int(num_shards), _int(index)))

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=True, name=None):
        return self._same(self._c.shuffle(_int(buffer_size), _int(seed), reshuffle_each_iteration is not False))

    def repeat(self, count=None, name=None):
        return self._same(self._c.repeat(_int(count, -1)))

    def take(self, count, name=None):
        return self._same(self._c.take(_int(count)))

    def skip(self, count, name=None):
        return self._same(self._c.skip(_int(count)))

    def prefetch(self, buffer_size, name=None):
        return self._same(self._c.prefetch(_int(buffer_size, AUTOTUNE)))

    def cache(self, filename="", name=None):
        """Kept the first time that it is run to its end: in memory, or in files of that name."""
        filename = filename.numpy().decode() if isinstance(filename, _core.Tensor) else str(filename)
        return self._same(_core.cache_dataset(self._c, filename) if filename else self._c.cache())

    def save(self, path, compression=None, shard_func=None, checkpoint_args=None):
        """Writes all elements below a folder, for load."""
        _unbuilt("shard_func", shard_func)
        _unbuilt("checkpoint_args", checkpoint_args)
        _core.save_dataset(self._c, str(path), "" if compression in (None, "AUTO", "NONE") else compression)
        _spec.write(self.element_spec, str(path))

    def _assert_cardinality(self, expected):
        return self._same(_core.assert_cardinality(self._c, expected))

    # Steps that make batches, and take them apart.

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None):
        if _waits(batch_size):
            return _deferred(Dataset.batch, self, batch_size, drop_remainder)
        size, drop = _int(batch_size), bool(drop_remainder)
        rows = size if drop else None
        return self._then(self._c.batch(size, drop), _spec.batches_of(self._spec, rows),
                          find=lambda: _spec.batches_of(self._seen_spec(), rows))

    def padded_batch(self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None):
        size, drop = _int(batch_size), bool(drop_remainder)
        shapes, numbers, texts = self._padding(padded_shapes, padding_values)
        core = self._c.padded_batch(size, shapes, numbers, texts, drop)
        return self._padded(core, shapes, size if drop else None)

    def _padding(self, shapes, values):
        named = _padding.has_dict(shapes) or _padding.has_dict(values)
        spec = self._seen_spec() if named else self._spec
        return _padding.shapes_of(spec, shapes), *_padding.values_of(spec, values)

    def _padded(self, core, shapes, size, *held):
        def spec(of):
            return _padding.spec_of(_spec.make, _spec.each, of, shapes, size)

        return self._then(core, spec(self._spec), *held, find=lambda: spec(self._seen_spec()))

    def bucket_by_sequence_length(self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None,
                                  padding_values=None, pad_to_bucket_boundary=False, no_padding=False,
                                  drop_remainder=False, name=None):
        """Batches of elements of about the same length."""
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError("`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
                             f"`len(bucket_batch_sizes)={len(bucket_batch_sizes)}` and "
                             f"`len(bucket_boundaries)={len(bucket_boundaries)}`.")
        function = self._function(element_length_func, "bucket_by_sequence_length")
        shapes, numbers, texts = self._padding(padded_shapes, padding_values)
        core = self._c.bucket_by_sequence_length(
            function, [_int(b) for b in bucket_boundaries], [_int(s) for s in bucket_batch_sizes],
            [] if no_padding else shapes, numbers, texts, bool(pad_to_bucket_boundary), bool(drop_remainder))
        return self._padded(core, shapes, None, function)

    def unbatch(self, name=None):
        rows = _spec.check_unbatch(self._spec)
        core, count = self._c.unbatch(), self._c.cardinality()
        if count == INFINITE_CARDINALITY or (count >= 0 and rows is not None):
            core = _core.assert_cardinality(core, count if count < 0 else count * rows)
        return self._then(core, _spec.rows_of(self._spec), find=lambda: _spec.rows_of(self._seen_spec()))

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        """Batches of another size, or of several that come in turn."""
        if not _waits(batch_size):
            import numpy as np
            sizes = [_int(size) for size in np.ravel(batch_size)]
            if len(sizes) != 1:
                return _in_sizes(self.unbatch(), sizes, bool(drop_remainder))
            batch_size = sizes[0]
        return self.unbatch().batch(batch_size, drop_remainder)

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Datasets of neighbouring elements."""
        made = self._then(self._c.window(_int(size), _int(shift), _int(stride), bool(drop_remainder)), self._spec,
                          find=self._seen_spec)
        made._is_windowed = True
        return made

    def _windows(self, elements):
        """A list of elements as a dataset, or a structure of datasets."""
        def of(items, pick):
            if items and isinstance(items[0], tuple):
                return tuple(of([item[i] for item in items], lambda spec, i=i: pick(spec)[i])
                             for i in range(len(items[0])))
            if items and isinstance(items[0], dict):
                return {key: of([item[key] for item in items], lambda spec, key=key: pick(spec)[key])
                        for key in items[0]}
            return Dataset(_core.Dataset.from_elements(items), None if self._spec is None else pick(self._spec),
                           find=lambda: pick(self._seen_spec()))

        return of(list(elements), lambda spec: spec)

    # Steps with functions.

    def map(self, map_func, num_parallel_calls=None, deterministic=None, synchronous=None, use_unbounded_threadpool=False,
            name=None):
        """map_func(*element). It is traced for each shape of elements, and called for each where it cannot be."""
        calls = _int(num_parallel_calls)
        if calls == 0:
            raise InvalidArgumentError(None, None, "num_parallel_calls must be greater than zero.")
        map_func = frozen(map_func)
        function = self._function(map_func, "map")
        spec = None
        if self._spec is not None and not self._is_windowed:
            spec = _spec.traced(function, self._spec)
        return self._then(self._c.map(function, calls or 0), spec, function,
                          find=lambda: _spec.of_results(of_dataset(map_func), self))

    def flat_map(self, map_func, name=None):
        map_func = frozen(map_func)
        function = self._function(map_func, "flat_map")
        return self._then(self._c.flat_map(function), None, function,
                          find=lambda: _spec.of_datasets(of_dataset(map_func), self))

    def interleave(self, map_func, cycle_length=None, block_length=None, num_parallel_calls=None, deterministic=None,
                   name=None):
        map_func = frozen(map_func)
        function = self._function(map_func, "interleave")
        core = self._c.interleave(function, _int(cycle_length, AUTOTUNE), _int(block_length, 1),
                                  num_parallel_calls is not None)
        return self._then(core, None, function, find=lambda: _spec.of_datasets(of_dataset(map_func), self))

    def scan(self, initial_state, scan_func, name=None):
        """{next state, output} = scan_func(state, element)."""
        function = self._function(scan_func, "scan")
        return self._then(self._c.scan(_spec.to_tensors(initial_state), function), None, function)

    def reduce(self, initial_state, reduce_func, name=None):
        """reduce_func(state, element), over all elements."""
        function = self._function(reduce_func, "reduce")
        return self._c.reduce(_spec.to_tensors(initial_state), function)


def _unbuilt(name, value):
    if value is not None:
        from ..errors import UnimplementedError
        raise UnimplementedError(None, None, f"{name} is not built, got {value!r}")


def _signature(types, shapes):
    """TensorSpecs of from_generator's first way to say them."""
    if isinstance(types, (tuple, list)):
        shapes = [None] * len(types) if shapes is None else shapes
        return tuple(_signature(t, s) for t, s in zip(types, shapes))
    if isinstance(types, dict):
        return {key: _signature(t, None if shapes is None else shapes[key]) for key, t in types.items()}
    return TensorSpec(TensorShape(shapes), as_dtype(types))


def _in_sizes(rows, sizes, drops):
    """Batches whose sizes come in turn."""
    if not sizes or min(sizes) < 1:
        raise InvalidArgumentError(None, None, f"rebatch needs sizes of 1 and more, got {sizes}")
    function = _core.DatasetFunction(lambda: _generators.InSizes(rows, sizes, drops), "rebatch")
    return Dataset(_core.Dataset.from_generator(function), _spec.batches_of(rows._spec, None), (function, rows),
                   lambda: _spec.batches_of(rows._seen_spec(), None))


def _in_turns(datasets, numbers, stops):
    """Elements of datasets in the order of their numbers, which a function gives for each run anew."""
    function = _core.DatasetFunction(lambda: _generators.InTurns(datasets, numbers(), stops), "choose")
    specs = [d._spec for d in datasets]
    return Dataset(_core.Dataset.from_generator(function), functools.reduce(_spec.common, specs), (function, *datasets),
                   lambda: functools.reduce(_spec.common, [d._seen_spec() for d in datasets]))
