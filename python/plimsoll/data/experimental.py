"""tf.data.experimental: what has not found its place elsewhere."""

from . import _dataset
from ._csv import CsvDataset, make_csv_dataset
from ._dataset import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from ._iterators import Optional
from ._options import (AutoShardPolicy, AutotuneAlgorithm, AutotuneOptions, DistributeOptions, ExternalStatePolicy,
                       OptimizationOptions, ThreadingOptions)

choose_from_datasets = _dataset.Dataset.choose_from_datasets
sample_from_datasets = _dataset.Dataset.sample_from_datasets


def cardinality(dataset):
    return dataset.cardinality()


def assert_cardinality(expected_cardinality):
    """For apply: the dataset has so many elements; another number is an error at its end."""
    return lambda dataset: dataset._assert_cardinality(int(expected_cardinality))


def get_single_element(dataset):
    return dataset.get_single_element()


def get_structure(dataset_or_iterator):
    return dataset_or_iterator.element_spec


def enumerate_dataset(start=0):
    return lambda dataset: dataset.enumerate(start)


def unbatch():
    return lambda dataset: dataset.unbatch()


def unique():
    return lambda dataset: dataset.unique()


def ignore_errors(log_warning=False):
    return lambda dataset: dataset.ignore_errors(log_warning)


def take_while(predicate):
    return lambda dataset: dataset.take_while(predicate)


def scan(initial_state, scan_func):
    return lambda dataset: dataset.scan(initial_state, scan_func)


def group_by_window(key_func, reduce_func, window_size=None, window_size_func=None):
    return lambda dataset: dataset.group_by_window(key_func, reduce_func, window_size, window_size_func)


def rejection_resample(class_func, target_dist, initial_dist=None, seed=None):
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def bucket_by_sequence_length(*args, **kwargs):
    return lambda dataset: dataset.bucket_by_sequence_length(*args, **kwargs)


def dense_to_ragged_batch(batch_size, drop_remainder=False, row_splits_dtype=None):
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def map_and_batch(map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None):
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


def shuffle_and_repeat(buffer_size, count=None, seed=None):
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def parallel_interleave(map_func, cycle_length, block_length=1, sloppy=False, buffer_output_elements=None,
                        prefetch_input_elements=None):
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length, cycle_length)


def snapshot(path, compression="AUTO", reader_func=None, shard_func=None):
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


def prefetch_to_device(device, buffer_size=None):
    return lambda dataset: dataset.prefetch(AUTOTUNE if buffer_size is None else buffer_size)


def copy_to_device(target_device, source_device="/cpu:0"):
    return lambda dataset: dataset


def save(dataset, path, compression=None, shard_func=None, checkpoint_args=None):
    dataset.save(path, compression, shard_func, checkpoint_args)


def load(path, element_spec=None, compression=None, reader_func=None):
    return _dataset.Dataset.load(path, element_spec, compression, reader_func)


def Counter(start=0, step=1, dtype=None):
    return _dataset.Dataset.counter(start, step, dtype)


def RandomDataset(seed=None):
    return _dataset.Dataset.random(seed)
