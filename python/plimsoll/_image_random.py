"""Changes at random: of the whole program's sequence, or of a seed that is given."""

from . import _image_change, _image_crop
from ._image_change import _tensor, _tf


def _draw(low, high, seed, is_stateless, shape=()):
    tf = _tf()
    if is_stateless:
        return tf.random.stateless_uniform(shape, seed, low, high)
    return tf.random.uniform(shape, low, high, seed=seed)


def _draw_integers(low, high, seed, is_stateless, shape=()):
    tf = _tf()
    if is_stateless:
        return tf.random.stateless_uniform(shape, seed, low, high, tf.int32)
    return tf.random.uniform(shape, low, high, tf.int32, seed=seed)


def _flip(image, axis, seed, is_stateless):
    tf = _tf()
    image = _tensor(image)
    if image.shape.rank == 3:
        return tf.where(_draw(0.0, 1.0, seed, is_stateless) < 0.5, tf.reverse(image, [axis]), image)
    drawn = tf.reshape(_draw(0.0, 1.0, seed, is_stateless, [image.shape[0]]), [-1, 1, 1, 1])
    return tf.where(drawn > 0.5, tf.reverse(image, [axis]), image)  # of batches the other half, as in TensorFlow


def random_flip_left_right(image, seed=None):
    return _flip(image, -2, seed, False)


def random_flip_up_down(image, seed=None):
    return _flip(image, -3, seed, False)


def stateless_random_flip_left_right(image, seed):
    return _flip(image, -2, seed, True)


def stateless_random_flip_up_down(image, seed):
    return _flip(image, -3, seed, True)


def _brightness(image, max_delta, seed, is_stateless):
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return _image_change.adjust_brightness(image, _draw(-max_delta, max_delta, seed, is_stateless))


def random_brightness(image, max_delta, seed=None):
    return _brightness(image, max_delta, seed, False)


def stateless_random_brightness(image, max_delta, seed):
    return _brightness(image, max_delta, seed, True)


def _between(adjust, image, lower, upper, seed, is_stateless):
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return adjust(image, _draw(lower, upper, seed, is_stateless))


def random_contrast(image, lower, upper, seed=None):
    return _between(_image_change.adjust_contrast, image, lower, upper, seed, False)


def stateless_random_contrast(image, lower, upper, seed):
    return _between(_image_change.adjust_contrast, image, lower, upper, seed, True)


def random_saturation(image, lower, upper, seed=None):
    return _between(_image_change.adjust_saturation, image, lower, upper, seed, False)


def stateless_random_saturation(image, lower, upper, seed=None):
    return _between(_image_change.adjust_saturation, image, lower, upper, seed, True)


def _hue(image, max_delta, seed, is_stateless):
    if not 0 <= max_delta <= 0.5:
        raise ValueError("max_delta must be <= 0.5." if max_delta > 0.5 else "max_delta must be non-negative.")
    return _image_change.adjust_hue(image, _draw(-max_delta, max_delta, seed, is_stateless))


def random_hue(image, max_delta, seed=None):
    return _hue(image, max_delta, seed, False)


def stateless_random_hue(image, max_delta, seed):
    return _hue(image, max_delta, seed, True)


def _crop(value, size, seed, is_stateless):
    tf = _tf()
    value = tf.convert_to_tensor(value)
    size = [int(s) for s in size]
    room = [have - want + 1 for have, want in zip(value.shape, size)]
    if len(size) != value.shape.rank or min(room) < 1:
        from .errors import InvalidArgumentError
        raise InvalidArgumentError(None, None, f"Need value.shape >= size, got {tuple(value.shape)} and {size}")
    begin = _draw_integers(0, tf.int32.max, seed, is_stateless, [len(size)]) % tf.constant(room)
    return tf.slice(value, begin, size)


def random_crop(value, size, seed=None, name=None):
    return _crop(value, size, seed, False)


def stateless_random_crop(value, size, seed, name=None):
    return _crop(value, size, seed, True)


def _jpeg_quality(image, low, high, seed, is_stateless):
    if low < 0 or high > 100:
        raise ValueError(f"jpeg encoding range must be between 0 and 100, got {low} and {high}.")
    if low >= high:
        raise ValueError(f"`min_jpeg_quality` must be less than `max_jpeg_quality`, got {low} and {high}.")
    return _image_change.adjust_jpeg_quality(image, int(_draw_integers(low, high, seed, is_stateless)))


def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    return _jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed, False)


def stateless_random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed):
    return _jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed, True)
