"""Images in files."""

from .. import _core


def decode_png(contents, channels=0, dtype="uint8", name=None):
    """uint8 or uint16 of shape [height, width, channels]."""
    return _core.decode_png(contents, channels, dtype)


def decode_jpeg(contents, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False,
                acceptable_fraction=1, dct_method="", name=None):
    """uint8. Of a file that is cut off, and has at least the acceptable fraction of its rows, the others are 0."""
    return _core.decode_jpeg(contents, channels, ratio, bool(fancy_upscaling), bool(try_recover_truncated), dct_method,
                             acceptable_fraction)


def decode_and_crop_jpeg(contents, crop_window, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False,
                         acceptable_fraction=1, dct_method="", name=None):
    """A part of an image: crop_window is its top, left, height and width."""
    from ..errors import InvalidArgumentError
    top, left, height, width = (int(v) for v in crop_window)
    image = decode_jpeg(contents, channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method)
    if top < 0 or left < 0 or height <= 0 or width <= 0 or top + height > image.shape[0] or left + width > image.shape[1]:
        raise InvalidArgumentError(None, None, f"Invalid JPEG data or crop window: {list(crop_window)} of an image of "
                                   f"shape {image.shape}")
    return image[top:top + height, left:left + width]


def extract_jpeg_shape(contents, output_type=None, name=None):
    """Height, width and channels, without the pixels."""
    from .. import cast, int32
    return cast(_core.jpeg_shape(contents), output_type or int32)


def _begins_with(contents, text):
    from .. import convert_to_tensor, string
    return bool(convert_to_tensor(contents, string).numpy().startswith(text))


def _is_png(contents):
    return _begins_with(contents, b"\x89PNG")


def is_jpeg(contents, name=None):
    from .. import constant
    return constant(_begins_with(contents, b"\xff\xd8\xff"))


def decode_bmp(contents, channels=0, name=None):
    return _core.decode_bmp(contents, channels)


def decode_gif(contents, name=None):
    """All frames: [frames, height, width, 3]."""
    return _core.decode_gif(contents)


def decode_image(contents, channels=None, dtype=None, name=None, expand_animations=True):
    """PNG, JPEG, GIF or BMP. Other types than uint8 are scaled, as convert_image_dtype does, from uint16 if the file
    may have it."""
    from ..dtypes import as_dtype, float32, uint16, uint8
    dtype = uint8 if dtype is None else as_dtype(dtype)
    decoded = uint16 if dtype is not uint8 and (dtype is not float32 or _is_png(contents)) else uint8
    image = _core.decode_image(contents, channels or 0, bool(expand_animations), decoded)
    if dtype is decoded:
        return image
    from ..image import convert_image_dtype
    return convert_image_dtype(image, dtype)


def encode_png(image, compression=-1, name=None):
    return _core.encode_png(image, compression)


def encode_jpeg(image, format="", quality=95, progressive=False, optimize_size=False, chroma_downsampling=True,
                density_unit="in", x_density=300, y_density=300, xmp_metadata="", name=None):
    return _core.encode_jpeg(image, quality, bool(progressive), bool(optimize_size), bool(chroma_downsampling), format,
                             density_unit, x_density, y_density, xmp_metadata)
