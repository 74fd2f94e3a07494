"""tf.data.experimental: what has not found its place elsewhere."""

from . import _dataset
from ._dataset import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from ._options import AutotuneOptions, DistributeOptions, OptimizationOptions, ThreadingOptions


def cardinality(dataset):
    return dataset.cardinality()


def assert_cardinality(expected_cardinality):
    """For apply: the dataset has so many elements; another number is an error at its end."""
    return lambda dataset: dataset._assert_cardinality(int(expected_cardinality))


def get_single_element(dataset):
    return dataset.get_single_element()


def enumerate_dataset(start=0):
    return lambda dataset: dataset.enumerate(start)


def unbatch():
    return lambda dataset: dataset.unbatch()


def take_while(predicate):
    return lambda dataset: dataset.take_while(predicate)


def scan(initial_state, scan_func):
    return lambda dataset: dataset.scan(initial_state, scan_func)


def bucket_by_sequence_length(*args, **kwargs):
    return lambda dataset: dataset.bucket_by_sequence_length(*args, **kwargs)


def prefetch_to_device(device, buffer_size=None):
    return lambda dataset: dataset.prefetch(AUTOTUNE if buffer_size is None else buffer_size)


def save(dataset, path, compression=None, shard_func=None, checkpoint_args=None):
    dataset.save(path, compression, shard_func, checkpoint_args)


def load(path, element_spec=None, compression=None, reader_func=None):
    return _dataset.Dataset.load(path, element_spec, compression, reader_func)


def Counter(start=0, step=1, dtype=None):
    return _dataset.Dataset.counter(start, step, dtype)
