"""tf.compat.v1.python_io: TFRecord files, without a graph."""

from ...io import TFRecordOptions as _Options
from ...io import TFRecordWriter


class TFRecordCompressionType:
    NONE, ZLIB, GZIP = 0, 1, 2


_NAMES = {TFRecordCompressionType.NONE: "", TFRecordCompressionType.ZLIB: "ZLIB",
          TFRecordCompressionType.GZIP: "GZIP"}


class TFRecordOptions(_Options):
    """How records are compressed: by a name, or one of TFRecordCompressionType."""

    compression_type_map = _NAMES

    def __init__(self, compression_type=None, *args, **kwargs):
        super().__init__(_NAMES.get(compression_type, compression_type), *args, **kwargs)

    @classmethod
    def get_compression_type_string(cls, options):
        if not options:
            return ""
        if isinstance(options, _Options):
            return options.compression_type
        return _NAMES.get(options, options)


def tf_record_iterator(path, options=None):
    """The records of a file, as bytes."""
    from ...data import TFRecordDataset
    from .._calls import eagerly
    with eagerly():
        records = iter(TFRecordDataset(path, TFRecordOptions.get_compression_type_string(options)))
    while True:
        with eagerly():
            record = next(records, None)
        if record is None:
            return
        yield record.numpy()
