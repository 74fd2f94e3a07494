"""TFRecord files."""

from .. import _core


class TFRecordOptions:
    def __init__(self, compression_type=None, flush_mode=None, input_buffer_size=None, output_buffer_size=None,
                 window_bits=None, compression_level=None, compression_method=None, mem_level=None,
                 compression_strategy=None):
        if compression_type not in (None, "", "GZIP", "ZLIB"):
            raise ValueError(f"Valid compression types are \"\", \"GZIP\" and \"ZLIB\", got {compression_type!r}")
        self.compression_type = compression_type or ""


class TFRecordWriter(_core.TFRecordWriter):
    """Writes records to a file, one after another."""

    def __init__(self, path, options=None):
        if isinstance(options, TFRecordOptions):
            options = options.compression_type
        super().__init__(str(getattr(path, "__fspath__", lambda: path)()), options or "")

    def write(self, record):
        if isinstance(record, _core.Tensor):
            record = record.numpy()
        super().write(record)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
