"""Parts of images, borders, turns."""

from ._image_change import _tensor, _tf


def _number(value):
    return int(value.numpy()) if hasattr(value, "numpy") else int(value)


def flip_left_right(image):
    return _tf().reverse(_tensor(image), [-2])


def flip_up_down(image):
    return _tf().reverse(_tensor(image), [-3])


def transpose(image, name=None):
    """Height and width exchanged."""
    tf = _tf()
    image = _tensor(image)
    return tf.transpose(image, [1, 0, 2] if image.shape.rank == 3 else [0, 2, 1, 3])


def rot90(image, k=1, name=None):
    """Turned by 90 degrees, k times, against the clock."""
    k = _number(k) % 4
    image = _tensor(image)
    if k == 0:
        return image
    if k == 2:
        return flip_left_right(flip_up_down(image))
    return flip_up_down(transpose(image)) if k == 1 else transpose(flip_up_down(image))


def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    image = _tensor(image)
    top, left, height, width = map(_number, (offset_height, offset_width, target_height, target_width))
    rows, columns = image.shape[-3], image.shape[-2]
    for is_ok, text in ((left >= 0, "offset_width must be >= 0."), (top >= 0, "offset_height must be >= 0."),
                        (width > 0, "target_width must be > 0."), (height > 0, "target_height must be > 0."),
                        (left + width <= columns, "width must be >= target + offset."),
                        (top + height <= rows, "height must be >= target + offset.")):
        if not is_ok:
            raise ValueError(f"{text} Received: offset {top}, {left}, target {height}, {width}, image "
                             f"{tuple(image.shape)}")
    return image[..., top:top + height, left:left + width, :]


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    image = _tensor(image)
    top, left, height, width = map(_number, (offset_height, offset_width, target_height, target_width))
    below, right = height - top - image.shape[-3], width - left - image.shape[-2]
    for is_ok, text in ((top >= 0, "offset_height must be >= 0"), (left >= 0, "offset_width must be >= 0"),
                        (right >= 0, "width must be <= target - offset"),
                        (below >= 0, "height must be <= target - offset")):
        if not is_ok:
            raise ValueError(f"{text}. Received: offset {top}, {left}, target {height}, {width}, image "
                             f"{tuple(image.shape)}")
    sides = [[0, 0]] * (image.shape.rank - 3) + [[top, below], [left, right], [0, 0]]
    return _tf().pad(image, sides)


def resize_with_crop_or_pad(image, target_height, target_width):
    """The middle, cut or with a border of zeros."""
    image = _tensor(image)
    height, width = _number(target_height), _number(target_width)
    if height <= 0 or width <= 0:
        raise ValueError(f"target_width and target_height must be > 0, got {width} and {height}.")
    rows, columns = image.shape[-3], image.shape[-2]
    cut = crop_to_bounding_box(image, max((rows - height) // 2, 0), max((columns - width) // 2, 0), min(height, rows),
                               min(width, columns))
    return pad_to_bounding_box(cut, max((height - rows) // 2, 0), max((width - columns) // 2, 0), height, width)


def resize_with_pad(image, target_height, target_width, method="bilinear", antialias=False):
    """Resized without distortion; zeros fill the rest."""
    from . import image as images
    image = _tensor(image)
    height, width = _number(target_height), _number(target_width)
    rows, columns = image.shape[-3], image.shape[-2]
    ratio = max(columns / width, rows / height)
    tall, wide = int(rows / ratio), int(columns / ratio)
    made = images.resize(image, [tall, wide], method=method, antialias=antialias)
    return pad_to_bounding_box(made, max(0, int((height - rows / ratio) / 2)), max(0, int((width - columns / ratio) / 2)),
                               height, width)


def central_crop(image, central_fraction):
    image = _tensor(image)
    fraction = float(central_fraction)
    if not 0.0 < fraction <= 1.0:
        raise ValueError("central_fraction must be within (0, 1]")
    if fraction == 1.0:
        return image

    def start(size):
        return int((size - size * fraction) / 2)

    top, left = start(image.shape[-3]), start(image.shape[-2])
    return image[..., top:image.shape[-3] - top, left:image.shape[-2] - left, :]


def crop_and_resize(image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0.0, name=None):
    """Parts of images, in fractions of their sizes, each resized to crop_size."""
    tf = _tf()
    images, boxes = tf.convert_to_tensor(image), tf.convert_to_tensor(boxes, tf.float32)
    if method not in ("bilinear", "nearest"):
        raise ValueError(f"method must be bilinear or nearest, got {method!r}")
    rows, columns = images.shape[1], images.shape[2]
    height, width = (_number(s) for s in crop_size)
    indices = tf.cast(box_indices, tf.int32)

    def places(first, last, size, count):
        """Where samples lie between rows or columns; [boxes, count]."""
        first, last = tf.reshape(first, [-1, 1]), tf.reshape(last, [-1, 1])
        if count == 1:
            return 0.5 * (first + last) * float(size - 1)
        steps = tf.reshape(tf.range(count, dtype=tf.float32), [1, -1])
        return first * float(size - 1) + steps * ((last - first) * float(size - 1) / float(count - 1))

    y = places(boxes[:, 0], boxes[:, 2], rows, height)
    x = places(boxes[:, 1], boxes[:, 3], columns, width)
    floats = tf.cast(images, tf.float32)

    def pixels(at_y, at_x):
        at_y = tf.clip_by_value(tf.cast(at_y, tf.int32), 0, rows - 1)
        at_x = tf.clip_by_value(tf.cast(at_x, tf.int32), 0, columns - 1)
        flat = tf.reshape(floats, [-1, images.shape[3]])
        base = tf.reshape(indices, [-1, 1, 1]) * (rows * columns)
        return tf.gather(flat, base + at_y[:, :, tf.newaxis] * columns + at_x[:, tf.newaxis, :])

    if method == "nearest":
        made = pixels(tf.floor(y + 0.5), tf.floor(x + 0.5))
    else:
        top, left = tf.floor(y), tf.floor(x)
        bottom, right = tf.math.ceil(y), tf.math.ceil(x)
        dy, dx = (y - top)[:, :, tf.newaxis, tf.newaxis], (x - left)[:, tf.newaxis, :, tf.newaxis]
        upper = pixels(top, left) + (pixels(top, right) - pixels(top, left)) * dx
        lower = pixels(bottom, left) + (pixels(bottom, right) - pixels(bottom, left)) * dx
        made = upper + (lower - upper) * dy
    inside = tf.logical_and(tf.logical_and(y >= 0.0, y <= float(rows - 1))[:, :, tf.newaxis],
                            tf.logical_and(x >= 0.0, x <= float(columns - 1))[:, tf.newaxis, :])
    return tf.where(inside[..., tf.newaxis], made, tf.constant(extrapolation_value, tf.float32))


def extract_patches(images, sizes, strides, rates, padding, name=None):
    """Windows of images, laid out in the channels."""
    tf = _tf()
    images = tf.convert_to_tensor(images)
    (_, tall, wide, _), (_, down, across, _), (_, rate_y, rate_x, _) = sizes, strides, rates
    rows, columns = images.shape[1], images.shape[2]
    span_y, span_x = (tall - 1) * rate_y + 1, (wide - 1) * rate_x + 1
    if padding == "SAME":
        out_y, out_x = -(-rows // down), -(-columns // across)
        more_y = max((out_y - 1) * down + span_y - rows, 0)
        more_x = max((out_x - 1) * across + span_x - columns, 0)
        images = tf.pad(images, [[0, 0], [more_y // 2, more_y - more_y // 2], [more_x // 2, more_x - more_x // 2], [0, 0]])
    elif padding == "VALID":
        out_y, out_x = (rows - span_y) // down + 1, (columns - span_x) // across + 1
    else:
        raise ValueError(f"padding must be SAME or VALID, got {padding!r}")
    parts = []
    for i in range(tall):
        for j in range(wide):
            y, x = i * rate_y, j * rate_x
            parts.append(images[:, y:y + (out_y - 1) * down + 1:down, x:x + (out_x - 1) * across + 1:across, :])
    return tf.concat(parts, -1)
