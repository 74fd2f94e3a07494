"""keras.utils."""

import contextlib

from .. import _core
from ._image_files import (array_to_img, image_dataset_from_directory, img_to_array, load_img, save_img, smart_resize,
                           text_dataset_from_directory, timeseries_dataset_from_array)
from .backend import clear_session, is_keras_tensor, standardize_dtype
from .config import (disable_interactive_logging, enable_interactive_logging,
                     is_interactive_logging_enabled)
from .saving import (CustomObjectScope, custom_object_scope, deserialize_keras_object, get_custom_objects,
                     get_registered_name, get_registered_object, register_keras_serializable,
                     serialize_keras_object)


def set_random_seed(seed):
    """Begins all random sequences anew: Python's, numpy's, weights, dropout, shuffles."""
    import random

    import numpy
    if not isinstance(seed, int):
        raise ValueError(f"Expected `seed` argument to be an integer. Received: seed={seed} (of type {type(seed)})")
    random.seed(seed)
    numpy.random.seed(seed)
    _core.keras_set_random_seed(seed)


def to_categorical(x, num_classes=None):
    """Rows of zeros with a one where the class is. Of an array, an array, of float64 as in Keras."""
    made = _core.keras_to_categorical(x, num_classes)
    return made if isinstance(x, _core.Tensor) else made.numpy().astype("float64")


def normalize(x, axis=-1, order=2):
    """x divided by its norm along an axis."""
    import numpy
    x = numpy.asarray(x)
    norm = numpy.atleast_1d(numpy.linalg.norm(x, order, axis))
    norm[norm == 0] = 1
    return x / numpy.expand_dims(norm, axis)


def pad_sequences(sequences, maxlen=None, dtype="int32", padding="pre", truncating="pre", value=0.0):
    """Lists of different lengths as rows of one array."""
    import numpy
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    lengths = []
    for sequence in sequences:
        if not hasattr(sequence, "__len__"):
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {sequence}")
        lengths.append(len(sequence))
    for word, what in ((padding, "Padding"), (truncating, "Truncating")):
        if word not in ("pre", "post"):
            raise ValueError(f'{what} type "{word}" not understood')
    maxlen = max(lengths, default=0) if maxlen is None else maxlen
    inner = next((numpy.asarray(s).shape[1:] for s in sequences if len(s) > 0), ())
    rows = numpy.full((len(lengths), maxlen, *inner), value, dtype=dtype)
    for row, sequence in zip(rows, sequences):
        if len(sequence) == 0 or maxlen == 0:
            continue
        kept = numpy.asarray(sequence[-maxlen:] if truncating == "pre" else sequence[:maxlen], dtype=dtype)
        if padding == "post":
            row[:len(kept)] = kept
        else:
            row[-len(kept):] = kept
    return rows


def pack_x_y_sample_weight(x, y=None, sample_weight=None):
    if y is None:
        return (x,) if isinstance(x, (list, tuple)) else x
    return (x, y) if sample_weight is None else (x, y, sample_weight)


def unpack_x_y_sample_weight(data):
    if isinstance(data, (list, tuple)):
        if len(data) > 3:
            raise ValueError("Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, "
                             f"found: {data}")
        return tuple((*data, None, None, None)[:3])
    return data, None, None


class PyDataset:
    """Batches by number: __len__ and __getitem__, and on_epoch_end if something changes between epochs."""

    def __init__(self, workers=1, use_multiprocessing=False, max_queue_size=10):
        self.workers, self.use_multiprocessing, self.max_queue_size = workers, use_multiprocessing, max_queue_size

    def __getitem__(self, index):
        raise NotImplementedError

    def __len__(self):
        return self.num_batches

    @property
    def num_batches(self):
        if type(self).__len__ is PyDataset.__len__:
            raise NotImplementedError
        return len(self)

    def on_epoch_end(self):
        """Called after each epoch."""


Sequence = PyDataset


class Progbar:
    """A line that shows how far a loop of one's own is."""

    def __init__(self, target, width=20, verbose=1, interval=0.05, stateful_metrics=None, unit_name="step"):
        self.target, self.verbose, self._seen, self._sums = target, verbose, 0, {}

    def update(self, current, values=None, finalize=None):
        for name, value in values or []:
            total, count = self._sums.get(name, (0.0, 0))
            steps = max(current - self._seen, 1)
            self._sums[name] = (total + float(value) * steps, count + steps)
        self._seen = current
        if finalize is None:
            finalize = self.target is not None and current >= self.target
        if self.verbose:
            text = "".join(f" - {name}: {total / count:.4f}" for name, (total, count) in self._sums.items())
            print(f"\r{current}/{self.target or 'Unknown'}{text}", end="\n" if finalize else "", flush=True)

    def add(self, n, values=None):
        self.update(self._seen + n, values)


def split_dataset(dataset, left_size=None, right_size=None, shuffle=False, seed=None):
    """Rows of arrays, or elements of a dataset, in two datasets."""
    import numpy

    from .. import data
    if not isinstance(dataset, data.Dataset):
        arrays = tuple(numpy.asarray(part) for part in dataset) if isinstance(dataset, (list, tuple)) else dataset
        dataset = data.Dataset.from_tensor_slices(arrays)
    count = len(dataset) if int(dataset.cardinality()) >= 0 else sum(1 for _ in dataset)
    if left_size is None and right_size is None:
        raise ValueError("At least one of the `left_size` or `right_size` must be specified. Received: "
                         "left_size=None and right_size=None")

    def size(part):
        return None if part is None else int(part if isinstance(part, int) else round(part * count))

    left, right = size(left_size), size(right_size)
    left = count - right if left is None else left
    right = count - left if right is None else right
    if shuffle:
        dataset = dataset.shuffle(count, seed=seed, reshuffle_each_iteration=False)
    return dataset.take(left), dataset.skip(left).take(right)


def get_file(fname=None, origin=None, **kwargs):
    """A file of ~/.keras/datasets. Nothing is fetched from the network."""
    from .datasets._files import find
    cache_subdir = kwargs.get("cache_subdir", "datasets")
    return find(fname or str(origin).rpartition("/")[2], origin, cache_subdir)


@contextlib.contextmanager
def name_scope(name, **kwargs):
    yield name


def device(name):
    """Where what is made inside is put."""
    return _core.device(name)


def version():
    from . import __version__
    return __version__
