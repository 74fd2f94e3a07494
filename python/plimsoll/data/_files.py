"""Datasets of what is in files."""

from .. import _core
from ..dtypes import string
from . import _spec
from ._dataset import Dataset


def _names(filenames):
    """Paths, given as one, a list, a tensor or a dataset of them."""
    if isinstance(filenames, Dataset):
        return [name for item in filenames.as_numpy_iterator() for name in _names(item)]
    if isinstance(filenames, _core.Tensor):
        filenames = filenames.numpy()
    if hasattr(filenames, "tolist"):
        filenames = filenames.tolist()
    if isinstance(filenames, (str, bytes)) or hasattr(filenames, "__fspath__"):
        filenames = [filenames]
    found = []
    for name in filenames:
        if isinstance(name, (list, tuple)):
            found += _names(name)
        else:
            name = name.numpy() if isinstance(name, _core.Tensor) else name
            found.append(name.decode() if isinstance(name, bytes) else str(name))
    return found


def _text(value):
    value = value.numpy() if isinstance(value, _core.Tensor) else value
    return value.decode() if isinstance(value, bytes) else value or ""


class _FileDataset(Dataset):
    """What read(names) gives; of so many files in turns, if they are read in parallel."""

    def __init__(self, read, filenames, num_parallel_reads):
        names, spec = _names(filenames), _spec.make((), string)
        if num_parallel_reads is None or not names:
            super().__init__(read(names), spec)
            return
        turns = Dataset.from_tensor_slices(names).interleave(lambda name: Dataset(read([_text(name)]), spec),
                                                             num_parallel_reads, 1, num_parallel_reads)
        super().__init__(turns._c, spec, (turns,))


class TFRecordDataset(_FileDataset):
    """Records of TFRecord files, as strings."""

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
        compression = _text(compression_type)
        super().__init__(lambda names: _core.tfrecord_dataset(names, compression), filenames, num_parallel_reads)


class TextLineDataset(_FileDataset):
    """Lines of text files, without their ends."""

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
        compression = _text(compression_type)
        super().__init__(lambda names: _core.text_line_dataset(names, compression), filenames, num_parallel_reads)


class FixedLengthRecordDataset(_FileDataset):
    """Pieces of one length of files."""

    def __init__(self, filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None,
                 compression_type=None, num_parallel_reads=None, name=None):
        compression = _text(compression_type)
        super().__init__(lambda names: _core.fixed_length_dataset(names, record_bytes, header_bytes or 0,
                                                                  footer_bytes or 0, compression),
                         filenames, num_parallel_reads)
