"""Colours and brightness."""

import functools


def _tf():
    import plimsoll
    return plimsoll


def _tensor(image, name="images"):
    tf = _tf()
    image = tf.convert_to_tensor(image)
    if image.shape.rank is not None and image.shape.rank < 3:
        raise ValueError(f"'image' (shape {tuple(image.shape)}) must be at least three-dimensional.")
    return image


def _float_type(dtype):
    tf = _tf()
    return dtype if dtype.is_floating else tf.float32


def convert_image_dtype(image, dtype, saturate=False, name=None):
    """Another type, with values scaled: 0 to 1 in floating point, 0 to the largest in integers."""
    tf = _tf()
    image = tf.convert_to_tensor(image)
    dtype = tf.as_dtype(dtype)
    if image.dtype is dtype:
        return image
    if image.dtype.is_integer and dtype.is_integer:
        scale_in, scale_out = image.dtype.max, dtype.max
        if scale_in > scale_out:
            scaled = image // ((scale_in + 1) // (scale_out + 1))
            return tf.saturate_cast(scaled, dtype) if saturate else tf.cast(scaled, dtype)
        cast = tf.saturate_cast(image, dtype) if saturate else tf.cast(image, dtype)
        return cast * ((scale_out + 1) // (scale_in + 1))
    if image.dtype.is_floating and dtype.is_floating:
        return tf.cast(image, dtype)
    if image.dtype.is_integer:
        return tf.cast(image, dtype) * (1.0 / image.dtype.max)
    scaled = image * (dtype.max + 0.5)
    return tf.saturate_cast(scaled, dtype) if saturate else tf.cast(scaled, dtype)


def _in_floats(function):
    """For images of integers: in floats from 0 to 1, and back."""
    @functools.wraps(function)
    def call(image, *args, **kwargs):
        tf = _tf()
        image = _tensor(image)
        kwargs.pop("name", None)
        if image.dtype.name in ("float32", "float64"):
            return function(image, *args, **kwargs)
        made = function(convert_image_dtype(image, tf.float32), *args, **kwargs)
        return convert_image_dtype(made, image.dtype, saturate=True)
    return call


@_in_floats
def adjust_brightness(image, delta):
    """image + delta, where 1 is the largest value."""
    return image + _tf().cast(delta, image.dtype)


@_in_floats
def adjust_contrast(images, contrast_factor):
    """Distance from the mean of each channel, times a factor."""
    tf = _tf()
    mean = tf.reduce_mean(images, [-3, -2], keepdims=True)
    return (images - mean) * tf.cast(contrast_factor, images.dtype) + mean


@_in_floats
def adjust_gamma(image, gamma=1, gain=1):
    tf = _tf()
    if isinstance(gamma, (int, float)) and gamma < 0:
        raise ValueError("Gamma should be a non-negative real number.")
    return gain * image**tf.cast(gamma, image.dtype)


def _three(images, name):
    if images.shape[-1] != 3:
        from .errors import InvalidArgumentError
        raise InvalidArgumentError(None, None, f"{name} takes images of 3 channels, got shape {tuple(images.shape)}")
    return _tf().unstack(images, axis=-1)


def rgb_to_hsv(images, name=None):
    """Hue, saturation and value, each from 0 to 1."""
    tf = _tf()
    images = tf.convert_to_tensor(images)
    red, green, blue = _three(images, "rgb_to_hsv")
    value = tf.maximum(tf.maximum(red, green), blue)
    span = value - tf.minimum(tf.minimum(red, green), blue)
    zero = tf.zeros_like(value)
    saturation = tf.where(value > 0, span / tf.where(value > 0, value, tf.ones_like(value)), zero)
    norm = 1.0 / (6.0 * tf.where(span > 0, span, tf.ones_like(span)))
    hue = tf.where(value == red, norm * (green - blue),
                   tf.where(value == green, norm * (blue - red) + 2.0 / 6.0, norm * (red - green) + 4.0 / 6.0))
    hue = tf.where(span > 0, hue, zero)
    return tf.stack([tf.where(hue < 0, hue + 1.0, hue), saturation, value], axis=-1)


def hsv_to_rgb(images, name=None):
    tf = _tf()
    images = tf.convert_to_tensor(images)
    hue, saturation, value = _three(images, "hsv_to_rgb")

    def channel(away):
        return value * (1.0 - saturation * (1.0 - tf.clip_by_value(away, 0.0, 1.0)))

    sixth = hue * 6.0
    return tf.stack([channel(tf.abs(sixth - 3.0) - 1.0), channel(2.0 - tf.abs(sixth - 2.0)),
                     channel(2.0 - tf.abs(sixth - 4.0))], axis=-1)


@_in_floats
def adjust_hue(image, delta):
    """The hue turned by delta, where 1 is a whole turn."""
    tf = _tf()
    if tf.executing_eagerly() and not -1 <= delta <= 1:
        raise ValueError(f"delta must be in the interval [-1, 1], got {float(delta)}")
    hue, saturation, value = tf.unstack(rgb_to_hsv(image), axis=-1)
    hue = hue + tf.cast(delta, image.dtype)
    return hsv_to_rgb(tf.stack([hue - tf.floor(hue), saturation, value], axis=-1))


@_in_floats
def adjust_saturation(image, saturation_factor):
    tf = _tf()
    hue, saturation, value = tf.unstack(rgb_to_hsv(image), axis=-1)
    saturation = tf.clip_by_value(saturation * tf.cast(saturation_factor, image.dtype), 0.0, 1.0)
    return hsv_to_rgb(tf.stack([hue, saturation, value], axis=-1))


def rgb_to_grayscale(images, name=None):
    tf = _tf()
    images = tf.convert_to_tensor(images)
    if images.shape[-1] != 3:
        raise ValueError(f"Input images must have 3 channels but got shape {tuple(images.shape)}")
    floats = convert_image_dtype(images, _float_type(images.dtype))
    weights = tf.constant([0.2989, 0.587, 0.114], floats.dtype)
    return convert_image_dtype(tf.reduce_sum(floats * weights, -1, keepdims=True), images.dtype)


def grayscale_to_rgb(images, name=None):
    tf = _tf()
    images = tf.convert_to_tensor(images)
    if images.shape[-1] != 1:
        raise ValueError(f"Last dimension of a grayscale image should be size 1, got shape {tuple(images.shape)}")
    return tf.repeat(images, 3, axis=-1)


def per_image_standardization(image, name=None):
    """Mean 0 and variance 1 of each image, in float32 whatever it was in."""
    tf = _tf()
    floats = tf.cast(_tensor(image), tf.float32)
    count = 1
    for dim in floats.shape[-3:]:
        count *= dim
    mean = tf.reduce_mean(floats, [-1, -2, -3], keepdims=True)
    deviation = tf.math.reduce_std(floats, [-1, -2, -3], keepdims=True)
    return (floats - mean) / tf.maximum(deviation, count**-0.5)


def adjust_jpeg_quality(image, jpeg_quality, dct_method="", name=None):
    """What is left of an image that was written as JPEG."""
    from .io import decode_jpeg, encode_jpeg
    tf = _tf()
    image = tf.convert_to_tensor(image)
    bytes_ = convert_image_dtype(image, tf.uint8, saturate=True)
    made = decode_jpeg(encode_jpeg(bytes_, quality=int(jpeg_quality)), channels=image.shape[-1], dct_method=dct_method)
    return convert_image_dtype(made, image.dtype, saturate=True)


_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
_FROM_YIQ = [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
_FROM_YUV = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]


def _by_matrix(images, rows):
    tf = _tf()
    images = tf.convert_to_tensor(images)
    return tf.tensordot(images, tf.constant(rows, images.dtype), axes=[[images.shape.rank - 1], [0]])


def rgb_to_yiq(images):
    return _by_matrix(images, _YIQ)


def yiq_to_rgb(images):
    return _by_matrix(images, _FROM_YIQ)


def rgb_to_yuv(images):
    return _by_matrix(images, _YUV)


def yuv_to_rgb(images):
    return _by_matrix(images, _FROM_YUV)
