"""Steps that sort elements: by key, by class, by whether they came before."""

import os
import random as _random

from .. import _core
from .._functions import of_dataset
from . import _generators, _spec


class Grouping:
    """These steps of a Dataset."""

    def group_by_window(self, key_func, reduce_func, window_size=None, window_size_func=None, name=None):
        """Elements of one key, window_size at a time, are a dataset; reduce_func(key, dataset) makes the next elements."""
        if (window_size is None) == (window_size_func is None):
            raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")
        from ._dataset import Dataset
        source = self

        def reduce(key, core):
            return reduce_func(_key(key), Dataset(core, source._spec, find=source._seen_spec))

        def find():
            first = next(iter(source), None)
            if first is None:
                return None
            return reduce(0, _core.Dataset.from_elements([first]))._seen_spec()

        key = self._function(key_func, "group_by_window")
        window = _core.DatasetFunction(of_dataset(reduce), "group_by_window")
        size = _core.DatasetFunction(window_size_func or (lambda _: window_size), "group_by_window")
        return self._then(self._c.group_by_window(key, window, size), None, key, window, size, find=find)

    def unique(self, name=None):
        """Each value once, in the order in which they come first."""
        return self._same(self._c.unique())

    def ignore_errors(self, log_warning=False, name=None):
        """Without elements that fail; want of memory is no such failure."""
        return self._same(self._c.ignore_errors())

    def rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None):
        """(class, element), with as many dropped at random as gives the classes these shares."""
        target = [float(p) for p in target_dist]
        initial = None if initial_dist is None else [float(p) for p in initial_dist]
        pairs = self.map(lambda *element: (class_func(*element), element if len(element) > 1 else element[0]))
        function = _core.DatasetFunction(lambda: _generators.Resampled(pairs, target, initial, seed), "rejection_resample")
        return pairs._then(_core.Dataset.from_generator(function), pairs._spec, function, find=pairs._seen_spec)

    def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None):
        """Kept in files below path the first time that it is run to its end."""
        for given in (reader_func, shard_func):
            if given is not None:
                from ..errors import UnimplementedError
                raise UnimplementedError(None, None, "snapshot is built without reader_func and shard_func")
        os.makedirs(path, exist_ok=True)
        return self.cache(os.path.join(path, "snapshot"))

    def ragged_batch(self, batch_size, drop_remainder=False, row_splits_dtype=None, name=None):
        from ..errors import UnimplementedError
        raise UnimplementedError(None, None, "ragged tensors are no elements of datasets: padded_batch makes batches of "
                                 "rows of different lengths")

    @staticmethod
    def random(seed=None, rerandomize_each_iteration=None, name=None):
        """Numbers from 0 to 2**32 - 1 at random, without end."""
        from .. import int64, random, stack
        from ._dataset import Dataset
        seed = _generators.make_seed(seed)
        zero = _key(0)

        def draw(state, again):
            return (state + 1), random.stateless_uniform([], stack([again, state]), 0, 2**32, int64)

        numbers = Dataset.from_tensors(_key(seed)).repeat()
        if rerandomize_each_iteration:
            start = Dataset.from_generator(lambda: iter([_random.getrandbits(31)]), output_signature=_spec.make((), int64))
            numbers = start.map(lambda x: x + seed).flat_map(lambda x: Dataset.from_tensors(x).repeat())
        return numbers.scan(zero, draw)


def _key(value):
    from .. import constant, int64
    return constant(value, int64)
