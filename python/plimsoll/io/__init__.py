"""tf.io: files, records, examples, images."""

from .. import _core
from . import gfile
from ._examples import (FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature,
                        parse_example, parse_single_example)

from ._images import (decode_and_crop_jpeg, decode_bmp, decode_gif, decode_image, decode_jpeg, decode_png,
                      encode_jpeg, encode_png, extract_jpeg_shape, is_jpeg)
from ._records import TFRecordOptions, TFRecordWriter


def read_file(filename, name=None):
    """The bytes of a file."""
    return _core.read_file(filename)


def write_file(filename, contents, name=None):
    """Writes bytes; folders on the way are made."""
    _core.write_file(filename, contents)


def serialize_tensor(tensor, name=None):
    """A tensor's type, shape and elements as a string."""
    from .. import constant
    return constant(_core.serialize_tensor(tensor))


def parse_tensor(serialized, out_type, name=None):
    return _core.parse_tensor(serialized, out_type)


def decode_raw(input_bytes, out_type, little_endian=True, fixed_length=None, name=None):
    """The bytes of strings as numbers."""
    return _core.decode_raw(input_bytes, out_type, bool(little_endian), fixed_length or 0)


def decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, na_value="", select_cols=None,
               name=None):
    """The fields of records, one tensor a column. A default of no elements: the field must be there."""
    from .. import constant, float32, string
    from ..dtypes import DType

    def value(default):
        if isinstance(default, DType):
            return constant([], default)
        if isinstance(default, (list, tuple)) and len(default) == 0:
            return constant([], float32)
        if isinstance(default, str) and not default:
            return constant([""], string)
        return default

    if select_cols is not None and list(select_cols) != sorted(set(select_cols)):
        raise ValueError(f"select_cols has to be strictly increasing, got {select_cols}")
    return _core.decode_csv(records, [value(d) for d in record_defaults], field_delim, bool(use_quote_delim), na_value,
                            list(select_cols or []))


def matching_files(pattern, name=None):
    """Names that match patterns of the shell, sorted."""
    from .. import constant, string
    found = sorted(gfile.glob(pattern))
    return constant(found, string) if found else constant([], string)


def match_filenames_once(pattern, name=None):
    return matching_files(pattern)


def decode_json_example(json_examples, name=None):
    from ..errors import UnimplementedError
    raise UnimplementedError(None, None, "decode_json_example is not built")


def encode_base64(input, pad=False, name=None):
    """In the letters of base64 that file names and addresses may have."""
    return _core.strings.encode_base64(input, bool(pad))


def decode_base64(input, name=None):
    return _core.strings.decode_base64(input)
