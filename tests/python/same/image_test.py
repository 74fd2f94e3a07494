"""tf.image."""

import numpy as np
import pytest

RNG = np.random.default_rng(5)
FLOATS = RNG.random((7, 6, 3), dtype=np.float32)
BYTES = (FLOATS * 255).astype(np.uint8)
BATCH = RNG.random((2, 8, 9, 3), dtype=np.float32)


def close(tensor, wanted, atol=2e-6):
    assert np.asarray(tensor).shape == np.asarray(wanted).shape
    np.testing.assert_allclose(np.asarray(tensor), wanted, atol=atol, rtol=1e-5)


def test_crops(tf):
    image = tf.image
    assert np.array_equal(image.crop_to_bounding_box(FLOATS, 1, 2, 3, 4), FLOATS[1:4, 2:6])
    padded = image.pad_to_bounding_box(BATCH, 1, 2, 12, 13).numpy()
    assert padded.shape == (2, 12, 13, 3) and np.array_equal(padded[:, 1:9, 2:11], BATCH) and padded[0, 0].sum() == 0
    assert np.array_equal(image.central_crop(FLOATS, 0.5), FLOATS[1:6, 1:5])
    middle = image.resize_with_crop_or_pad(FLOATS, 5, 10).numpy()
    assert middle.shape == (5, 10, 3) and np.array_equal(middle[:, 2:8], FLOATS[1:6])
    assert image.resize_with_pad(FLOATS, 10, 20).shape == [10, 20, 3]
    with pytest.raises(ValueError):
        image.crop_to_bounding_box(FLOATS, 5, 0, 3, 3)
    with pytest.raises(ValueError):
        image.pad_to_bounding_box(FLOATS, 0, 0, 3, 3)
    with pytest.raises(ValueError):
        image.central_crop(FLOATS, 0.0)


def test_turns(tf):
    image = tf.image
    assert np.array_equal(image.flip_left_right(FLOATS), FLOATS[:, ::-1])
    assert np.array_equal(image.flip_up_down(BATCH), BATCH[:, ::-1])
    assert np.array_equal(image.transpose(FLOATS), FLOATS.transpose(1, 0, 2))
    for k in range(5):
        assert np.array_equal(image.rot90(FLOATS, k), np.rot90(FLOATS, k))


def test_types(tf):
    convert = tf.image.convert_image_dtype
    close(convert(BYTES, tf.float32), BYTES / np.float32(255))
    assert convert(FLOATS, tf.uint8).dtype == tf.uint8
    assert convert(tf.constant([0.0, 0.5, 1.0]), tf.uint8).numpy().tolist() == [0, 127, 255]
    assert convert(tf.constant([-0.5, 2.0]), tf.uint8, saturate=True).numpy().tolist() == [0, 255]
    assert convert(tf.constant([100], tf.uint8), tf.int16).numpy().tolist() == [12800]
    assert convert(tf.constant([12800], tf.int16), tf.uint8).numpy().tolist() == [100]


@pytest.mark.parametrize("change", [
    lambda tf, x: tf.image.adjust_brightness(x, 0.1), lambda tf, x: tf.image.adjust_contrast(x, 1.5),
    lambda tf, x: tf.image.adjust_hue(x, 0.2), lambda tf, x: tf.image.adjust_saturation(x, 0.5),
    lambda tf, x: tf.image.adjust_gamma(x, 2.0), lambda tf, x: tf.image.rgb_to_grayscale(x)])
def test_changes_of_bytes_follow_floats(tf, change):
    bytes_, floats = change(tf, BYTES), change(tf, BYTES / np.float32(255))
    assert bytes_.dtype == tf.uint8
    close(np.asarray(bytes_) / 255, np.clip(np.asarray(floats), 0, 1), atol=0.005)


def test_colours(tf):
    image, floats = tf.image, tf.constant(FLOATS)
    hsv = image.rgb_to_hsv(floats)
    close(image.hsv_to_rgb(hsv), FLOATS)
    close(image.rgb_to_hsv(tf.constant([[[1.0, 0.5, 0.0], [0.2, 0.2, 0.2], [0.0, 0.0, 1.0]]])),
          [[[1 / 12, 1.0, 1.0], [0.0, 0.0, 0.2], [2 / 3, 1.0, 1.0]]])
    close(image.adjust_hue(tf.constant([[[1.0, 0.0, 0.0]]]), 1 / 3), [[[0.0, 1.0, 0.0]]])
    close(image.adjust_saturation(tf.constant([[[1.0, 0.5, 0.5]]]), 0.0), [[[1.0, 1.0, 1.0]]])
    close(image.rgb_to_grayscale(floats), FLOATS @ np.array([[0.2989], [0.587], [0.114]], np.float32))
    close(image.grayscale_to_rgb(floats[..., :1]), np.repeat(FLOATS[..., :1], 3, -1))
    close(image.adjust_brightness(floats, 0.25), FLOATS + 0.25)
    mean = FLOATS.mean((0, 1), keepdims=True)
    close(image.adjust_contrast(floats, 2.0), (FLOATS - mean) * 2 + mean)
    close(image.adjust_gamma(floats, 0.5, 2.0), 2 * np.sqrt(FLOATS))
    close(image.yuv_to_rgb(image.rgb_to_yuv(floats)), FLOATS, 2e-4)
    close(image.yiq_to_rgb(image.rgb_to_yiq(floats)), FLOATS, 2e-4)
    made = image.per_image_standardization(tf.constant(BATCH)).numpy()
    close(made.mean((1, 2, 3)), np.zeros(2))
    close(made.std((1, 2, 3)), np.ones(2), 1e-5)
    close(image.per_image_standardization(tf.fill([4, 4, 1], 3.0)), np.zeros([4, 4, 1]))


@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian",
                                    "mitchellcubic"])
def test_resize(tf, method):
    for size in ([4, 5], [16, 11]):
        made = tf.image.resize(BATCH, size, method=method)
        assert made.shape == [2, *size, 3]
        flat = tf.image.resize(np.full([1, 5, 5, 1], 2.0, np.float32), size, method=method, antialias=True)
        close(flat, np.full([1, *size, 1], 2.0), 1e-5)
    assert tf.image.resize(BATCH, [4, 4], preserve_aspect_ratio=True).shape == [2, 4, 4, 3]


def test_windows(tf):
    image = np.arange(5 * 5, dtype=np.float32).reshape(1, 5, 5, 1)
    made = tf.image.extract_patches(image, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
    assert made.numpy()[0, 1, 1].tolist() == [12.0, 13.0, 17.0, 18.0] and made.shape == [1, 2, 2, 4]
    same = tf.image.extract_patches(image, [1, 3, 3, 1], [1, 1, 1, 1], [1, 2, 2, 1], "SAME").numpy()
    assert same.shape == (1, 5, 5, 9) and same[0, 0, 0].tolist() == [0, 0, 0, 0, 0, 2, 0, 10, 12]
    boxes = [[0.0, 0.0, 1.0, 1.0], [0.25, 0.25, 0.75, 0.75], [0.5, 0.5, 1.5, 1.5]]
    found = tf.image.crop_and_resize(image, boxes, [0, 0, 0], [3, 3], extrapolation_value=-1.0).numpy()[..., 0]
    close(found[0], [[0, 2, 4], [10, 12, 14], [20, 22, 24]])
    close(found[1], [[6, 7, 8], [11, 12, 13], [16, 17, 18]])
    close(found[2], [[12, 14, -1], [22, 24, -1], [-1, -1, -1]])
    near = tf.image.crop_and_resize(image, boxes[:1], [0], [2, 2], method="nearest").numpy()[0, ..., 0]
    close(near, [[0, 4], [20, 24]])


def test_likeness(tf):
    other = np.clip(BATCH + 0.1, 0, 1)
    close(tf.image.psnr(BATCH, other, 1.0), 10 * np.log10(1 / ((BATCH - other)**2).mean((1, 2, 3))), 1e-4)
    big = RNG.random((2, 32, 32, 3), dtype=np.float32)
    noisy = np.clip(big + 0.05, 0, 1)
    close(tf.image.ssim(big, big, 1.0), np.ones(2), 1e-5)
    assert 0.5 < float(tf.reduce_mean(tf.image.ssim(big, noisy, 1.0))) < 1.0
    down, across = np.abs(np.diff(BATCH, axis=1)).sum((1, 2, 3)), np.abs(np.diff(BATCH, axis=2)).sum((1, 2, 3))
    close(tf.image.total_variation(tf.constant(BATCH)), down + across, 1e-3)
    dy, _ = tf.image.image_gradients(tf.constant(BATCH))
    close(dy[:, :-1], np.diff(BATCH, axis=1))
    assert tf.image.sobel_edges(tf.constant(BATCH)).shape == [2, 8, 9, 3, 2]


def test_seeds_draw_what_they_draw_elsewhere(tf):
    """Places, flips and qualities by seed, as TensorFlow 2.21 has them."""
    ramp = np.arange(12 * 10 * 3, dtype=np.float32).reshape(12, 10, 3)
    corners = [tf.image.stateless_random_crop(ramp, [5, 6, 3], seed=(s, 7 * s + 1)).numpy()[0, 0, 0] // 3 for s in range(6)]
    assert corners == [40, 53, 44, 70, 20, 30]
    pair = np.stack([ramp, ramp])
    flips = [(tf.image.stateless_random_flip_up_down(pair, seed=(s, 2)).numpy()[:, 0, 0, 0] > 0).tolist() for s in range(5)]
    assert flips == [[False, True], [True, False], [True, True], [True, False], [False, False]]
    tf.random.set_seed(1)
    assert tf.image.random_crop(ramp, [4, 4, 3], seed=3).numpy()[0, 0, 0] // 3 == 42
    noisy = [int(tf.reduce_sum(tf.cast(tf.image.stateless_random_jpeg_quality(BYTES, 20, 95, (s, 2)), tf.int32)))
             for s in range(3)]
    assert noisy == [15967, 15882, 15572]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.random_crop(ramp, [40, 4, 3])


def test_nearest_crops_round_away(tf):
    boxes = [[0.0, 0.0, 0.5, 0.5], [0.05, 0.05, 0.55, 0.55]]
    ramp = np.arange(12 * 10, dtype=np.float32).reshape(1, 12, 10, 1)
    made = tf.image.crop_and_resize(ramp, boxes, [0, 0], [4, 4], method="nearest")
    assert np.asarray(made)[0, 0, :, 0].tolist() == [0.0, 2.0, 3.0, 5.0]


def test_refused_sizes(tf):
    for size, method in (([5], "bilinear"), ([5, 5, 5], "bilinear"), ([5, 5], "foo")):
        with pytest.raises(ValueError):
            tf.image.resize(FLOATS, size, method=method)
    with pytest.raises(ValueError):
        tf.image.resize(FLOATS[:, :, 0], [5, 5])


def test_random(tf):
    tf.random.set_seed(3)
    flips = {tf.image.random_flip_left_right(FLOATS).numpy().tobytes() for _ in range(40)}
    assert flips == {FLOATS.tobytes(), FLOATS[:, ::-1].tobytes()}
    assert tf.image.random_flip_up_down(BATCH).shape == BATCH.shape
    shift = np.asarray(tf.image.random_brightness(FLOATS, 0.2)) - FLOATS
    assert np.ptp(shift) < 1e-5 and np.abs(shift).max() <= 0.2001
    assert tf.image.random_crop(FLOATS, [3, 3, 3]).shape == [3, 3, 3]
    for change in (lambda s: tf.image.stateless_random_contrast(FLOATS, 0.5, 1.5, s),
                   lambda s: tf.image.stateless_random_saturation(FLOATS, 0.5, 1.5, s),
                   lambda s: tf.image.stateless_random_hue(FLOATS, 0.3, s),
                   lambda s: tf.image.stateless_random_brightness(FLOATS, 0.3, s),
                   lambda s: tf.image.stateless_random_crop(FLOATS, [2, 2, 3], s)):
        assert np.array_equal(change([1, 2]), change([1, 2]))
        assert not np.array_equal(change([1, 2]), change([3, 4]))
    with pytest.raises(ValueError):
        tf.image.random_hue(FLOATS, 0.6)
    with pytest.raises(ValueError):
        tf.image.random_contrast(FLOATS, 2.0, 1.0)


def test_decoders_read_each_other(tf):
    image = np.arange(8 * 6 * 3, dtype=np.uint8).reshape(8, 6, 3)
    png, jpeg = tf.io.encode_png(image), tf.io.encode_jpeg(image)
    assert np.array_equal(tf.io.decode_jpeg(png), image)
    assert np.array_equal(tf.io.decode_png(jpeg), tf.io.decode_jpeg(jpeg))
    assert tf.io.decode_jpeg(png, channels=1).shape == [8, 6, 1]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_png(png, channels=2)


def test_writers_in_datasets(tf):
    """What takes values on the host is called for each element."""
    images = np.arange(3 * 4 * 4 * 3, dtype=np.uint8).reshape(3, 4, 4, 3)
    rows = tf.data.Dataset.from_tensor_slices(images)
    back = rows.map(tf.io.encode_png).map(tf.io.decode_png)
    assert np.array_equal(np.stack(list(back.as_numpy_iterator())), images)
    back = rows.map(tf.io.serialize_tensor).map(lambda text: tf.io.parse_tensor(text, tf.uint8))
    assert np.array_equal(np.stack(list(back.as_numpy_iterator())), images)
    assert [len(t.numpy()) > 100 for t in rows.map(tf.io.encode_jpeg)] == [True] * 3
    assert next(iter(rows.map(lambda image: tf.image.adjust_jpeg_quality(image, 80)))).shape == [4, 4, 3]


@pytest.mark.parametrize("source, values, target, wanted", [
    ("float32", [40000.0, 70000.0, -4.0], "uint16", [40000, 65535, 0]),
    ("uint16", [0, 300, 65535], "int8", [0, 127, 127]),
    ("uint16", [0, 300, 65535], "int16", [0, 300, 32767]),
    ("int32", [-1, 65536, 5], "uint16", [0, 65535, 5]),
    ("int8", [-128, 127], "uint16", [0, 127]),
    ("uint8", [127, 255], "int8", [127, 127]),
    ("int64", [-2**63, 2**63 - 1, 2**31], "int32", [-2**31, 2**31 - 1, 2**31 - 1]),
    ("bfloat16", [1e30, -1e30], "int32", [2**31 - 2**23, -2**31]),
    ("float16", [np.inf, -np.inf], "int32", [65504, -65504]),
    ("bfloat16", [70000.0, -1e30], "float16", [65280.0, -65280.0]),
    ("float32", [70000.0, -1e30, 2.0], "float16", [65504.0, -65504.0, 2.0]),
    ("int32", [70000, -70000], "float16", [65504.0, -65504.0]),
    ("float32", [3.4e38, -3.4e38], "bfloat16", [3.3895313892515355e38, -3.3895313892515355e38]),
    ("float64", [1e300, -1e300], "float32", [np.finfo(np.float32).max, np.finfo(np.float32).min])])
def test_casts_end_at_what_the_type_has(tf, source, values, target, wanted):
    x = tf.cast(tf.constant(np.array(values)), source)
    made = tf.saturate_cast(x, target)
    assert made.dtype == target
    made = tf.cast(made, tf.float64) if target == "bfloat16" else made
    assert made.numpy().tolist() == wanted


WORDS = (FLOATS * 65535).astype(np.uint16)


@pytest.mark.parametrize("change, wanted", [
    (lambda tf, x: tf.image.adjust_brightness(x, 0.7), lambda x: x + 0.7),
    (lambda tf, x: tf.image.adjust_contrast(x, 3.0),
     lambda x: (x - x.mean((0, 1), keepdims=True)) * 3 + x.mean((0, 1), keepdims=True)),
    (lambda tf, x: tf.image.adjust_gamma(x, 0.5, 1.5), lambda x: 1.5 * x**0.5),
    (lambda tf, x: tf.image.convert_image_dtype(tf.image.convert_image_dtype(x, tf.float32) * 2, x.dtype, saturate=True),
     lambda x: x * 2)])
def test_changes_of_16_bits_end_at_the_largest(tf, change, wanted):
    made = change(tf, tf.constant(WORDS))
    assert made.dtype == tf.uint16
    found = np.clip(wanted(WORDS / 65535.0), 0, 1) * 65535
    np.testing.assert_allclose(made.numpy(), found, atol=1.5)
    assert made.numpy().max() == 65535 and found.max() == 65535


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int32", "uint8"])
def test_standard_images_are_floats_of_32_bits(tf, dtype):
    made = tf.image.per_image_standardization(tf.cast(tf.constant(BYTES), dtype))
    assert made.dtype == tf.float32
    exact = tf.cast(tf.cast(tf.constant(BYTES), dtype), tf.float64).numpy()
    close(made, (exact - exact.mean()) / exact.std(), atol=1e-5)


@pytest.mark.parametrize("delta", [1.5, -1.01])
def test_hues_turn_once_at_most(tf, delta):
    with pytest.raises(ValueError, match=r"delta must be in the interval \[-1, 1\]"):
        tf.image.adjust_hue(FLOATS, delta)
    close(tf.image.adjust_hue(FLOATS, 1.0), FLOATS, atol=1e-5)
