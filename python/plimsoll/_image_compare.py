"""How far images are from each other, and from smooth."""

from ._image_change import _tensor, _tf, convert_image_dtype


def total_variation(images, name=None):
    """The sum of differences between neighbours, of each image."""
    tf = _tf()
    images = _tensor(images)
    down = images[..., 1:, :, :] - images[..., :-1, :, :]
    across = images[..., :, 1:, :] - images[..., :, :-1, :]
    axes = None if images.shape.rank == 3 else [1, 2, 3]
    return tf.reduce_sum(tf.abs(down), axes) + tf.reduce_sum(tf.abs(across), axes)


def image_gradients(image):
    """Differences to the next row and to the next column, zeros at the end."""
    tf = _tf()
    image = _tensor(image)
    if image.shape.rank != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {tuple(image.shape)}.")
    down = tf.pad(image[:, 1:] - image[:, :-1], [[0, 0], [0, 1], [0, 0], [0, 0]])
    across = tf.pad(image[:, :, 1:] - image[:, :, :-1], [[0, 0], [0, 0], [0, 1], [0, 0]])
    return down, across


def sobel_edges(image):
    """[..., channels, 2]: edges along rows and along columns."""
    tf = _tf()
    image = tf.convert_to_tensor(image)
    channels = image.shape[-1]
    kernel = tf.constant([[-1.0, -2.0, -1.0], [0.0, 0.0, 0.0], [1.0, 2.0, 1.0]])
    padded = tf.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    found = []
    for k in (kernel, tf.transpose(kernel)):
        weights = tf.tile(tf.reshape(k, [3, 3, 1, 1]), [1, 1, channels, 1])
        found.append(tf.nn.depthwise_conv2d(padded, weights, [1, 1, 1, 1], "VALID"))
    return tf.stack(found, -1)


def psnr(a, b, max_val, name=None):
    """Decibels between the largest value and the error."""
    tf = _tf()
    a, b = tf.convert_to_tensor(a), tf.convert_to_tensor(b)
    largest = convert_image_dtype(tf.cast(max_val, a.dtype), tf.float32)
    a, b = convert_image_dtype(a, tf.float32), convert_image_dtype(b, tf.float32)
    if a.shape != b.shape:
        raise ValueError(f"psnr compares images of one shape, got {tuple(a.shape)} and {tuple(b.shape)}")
    error = tf.reduce_mean(tf.math.squared_difference(a, b), [-3, -2, -1])
    return (20.0 * tf.math.log(largest) - 10.0 * tf.math.log(error)) / 2.302585092994046


def _window(size, sigma):
    tf = _tf()
    at = tf.range(size, dtype=tf.float32) - (size - 1) / 2.0
    weight = -0.5 * tf.square(at) / sigma**2
    both = tf.reshape(weight, [1, -1]) + tf.reshape(weight, [-1, 1])
    return tf.reshape(tf.nn.softmax(tf.reshape(both, [1, -1])), [size, size, 1, 1])


def _ssim_maps(a, b, largest, size, sigma, k1, k2, return_index_map=False):
    tf = _tf()
    channels = a.shape[-1]
    kernel = tf.tile(_window(size, sigma), [1, 1, channels, 1])
    batch = a.shape[:-3]

    def blur(x):
        flat = tf.reshape(x, [-1, *x.shape[-3:]])
        made = tf.nn.depthwise_conv2d(flat, kernel, [1, 1, 1, 1], "VALID")
        return tf.reshape(made, [*batch, *made.shape[1:]])

    c1, c2 = (k1 * largest)**2, (k2 * largest)**2
    mean_a, mean_b = blur(a), blur(b)
    product = mean_a * mean_b * 2.0
    squares = tf.square(mean_a) + tf.square(mean_b)
    luminance = (product + c1) / (squares + c1)
    contrast = (blur(a * b) * 2.0 - product + c2) / (blur(tf.square(a) + tf.square(b)) - squares + c2)
    axes = [-3, -2]
    if return_index_map:
        return tf.reduce_mean(luminance * contrast, -1), None
    return tf.reduce_mean(luminance * contrast, axes), tf.reduce_mean(contrast, axes)


def _prepared(a, b, max_val, size):
    tf = _tf()
    a, b = tf.convert_to_tensor(a), tf.convert_to_tensor(b)
    if a.shape != b.shape or a.shape.rank < 3:
        raise ValueError(f"images of one shape [..., height, width, channels] are compared, got {tuple(a.shape)} and "
                         f"{tuple(b.shape)}")
    if min(a.shape[-3], a.shape[-2]) < size:
        from .errors import InvalidArgumentError
        raise InvalidArgumentError(None, None, f"images have to be at least {size} x {size}, got {tuple(a.shape)}")
    largest = convert_image_dtype(tf.cast(max_val, a.dtype), tf.float32)
    return convert_image_dtype(a, tf.float32), convert_image_dtype(b, tf.float32), largest


def ssim(img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, return_index_map=False):
    """Likeness of structure, 1 for the same image."""
    tf = _tf()
    a, b, largest = _prepared(img1, img2, max_val, filter_size)
    found, _ = _ssim_maps(a, b, largest, filter_size, filter_sigma, k1, k2, return_index_map)
    return found if return_index_map else tf.reduce_mean(found, -1)


def ssim_multiscale(img1, img2, max_val, power_factors=(0.0448, 0.2856, 0.3001, 0.2363, 0.1333), filter_size=11,
                    filter_sigma=1.5, k1=0.01, k2=0.03):
    """The same over several sizes."""
    tf = _tf()
    a, b, largest = _prepared(img1, img2, max_val, filter_size)
    batch = list(a.shape[:-3])
    found = []
    for i, power in enumerate(power_factors):
        if i:
            sides = [[0, 0], [0, a.shape[-3] % 2], [0, a.shape[-2] % 2], [0, 0]]

            def halve(x):
                flat = tf.pad(tf.reshape(x, [-1, *x.shape[-3:]]), sides, mode="SYMMETRIC")
                made = tf.nn.avg_pool2d(flat, 2, 2, "VALID")
                return tf.reshape(made, [*batch, *made.shape[1:]])

            a, b = halve(a), halve(b)
        whole, contrast = _ssim_maps(a, b, largest, filter_size, filter_sigma, k1, k2)
        last = i == len(power_factors) - 1
        found.append(tf.nn.relu(whole if last else contrast)**power)
    made = found[0]
    for part in found[1:]:
        made = made * part
    return tf.reduce_mean(made, -1)
