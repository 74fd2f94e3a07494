"""Images resized and cut; and changed at random, by ranges that leave nothing to chance."""

import numpy as np

from keras_case import Case, floats


def pixels(*shape, seed=0, dtype="uint8"):
    return np.random.default_rng(seed).integers(0, 256, shape).astype(dtype)


def case(name, make, inputs, **options):
    return Case(name, make, inputs, **{"partial": len(np.asarray(inputs).shape) == 4, "traced_values": True, **options})


def size_cases():
    x = floats(2, 6, 9, 3)
    for how in ["bilinear", "nearest", "bicubic", "lanczos3", "lanczos5"]:
        yield case(f"resizing_{how}", lambda k, how=how: k.layers.Resizing(4, 11, interpolation=how), x)
    yield case("resizing_antialias", lambda k: k.layers.Resizing(3, 4, antialias=True), x)
    for kind in ["crop", "pad"]:
        for height, width in [(4, 4), (5, 12), (12, 3), (7, 6)]:
            yield case(f"resizing_{kind}_{height}_{width}", lambda k, kind=kind, height=height, width=width:
                       k.layers.Resizing(height, width, **{f"{kind}_to_aspect_ratio": True}), x)
    yield case("resizing_fill", lambda k: k.layers.Resizing(8, 8, pad_to_aspect_ratio=True, fill_value=0.5), x)
    yield case("resizing_one", lambda k: k.layers.Resizing(4, 5), floats(6, 9, 3))
    yield case("resizing_channels_first", lambda k: k.layers.Resizing(4, 5, data_format="channels_first"),
               floats(2, 3, 6, 9))
    yield case("resizing_bytes", lambda k: k.layers.Resizing(4, 5, interpolation="bicubic"), pixels(2, 6, 9, 3),
               gradients=False)
    yield case("resizing_ints", lambda k: k.layers.Resizing(3, 5), pixels(2, 6, 9, 3, dtype="int32"),
               gradients=False)
    for height, width in [(4, 4), (3, 6), (6, 9), (7, 4), (4, 10), (8, 12)]:
        yield case(f"center_crop_{height}_{width}", lambda k, height=height, width=width:
                   k.layers.CenterCrop(height, width), x)
    yield case("center_crop_one", lambda k: k.layers.CenterCrop(3, 3), floats(6, 9, 3))
    yield case("center_crop_channels_first", lambda k: k.layers.CenterCrop(3, 4, data_format="channels_first"),
               floats(2, 3, 6, 9))
    yield case("center_crop_bytes", lambda k: k.layers.CenterCrop(3, 3), pixels(2, 6, 9, 3), gradients=False)


def affine_cases():
    """TensorFlow's gradient of these transforms by the inverse, which is not the gradient."""
    def affine(name, make, inputs, **options):
        return case(name, make, inputs, gradients=False, **options)

    x = floats(2, 6, 9, 3)
    modes = ["reflect", "wrap", "constant", "nearest"]
    for mode in modes:
        for how in ["bilinear", "nearest"]:
            options = dict(fill_mode=mode, interpolation=how)
            yield affine(f"random_rotation_{mode}_{how}", lambda k, options=options: k.layers.RandomRotation(
                (0.13, 0.13), fill_value=0.3, seed=1, **options), x)
            yield affine(f"random_zoom_{mode}_{how}", lambda k, options=options: k.layers.RandomZoom(
                (0.37, 0.37), (-0.23, -0.23), fill_value=0.3, **options), x)
            yield affine(f"random_translation_{mode}_{how}", lambda k, options=options: k.layers.RandomTranslation(
                (0.23, 0.23), (-0.37, -0.37), fill_value=0.3, **options), x)
        yield affine(f"random_translation_far_{mode}", lambda k, mode=mode: k.layers.RandomTranslation(
            (-0.97, -0.97), (0.93, 0.93), fill_mode=mode), x)
        yield affine(f"random_zoom_out_{mode}", lambda k, mode=mode: k.layers.RandomZoom((0.97, 0.97), fill_mode=mode),
                     x)
    yield affine("random_rotation_quarter", lambda k: k.layers.RandomRotation((0.25, 0.25)), floats(2, 6, 6, 2))
    yield affine("random_rotation_none", lambda k: k.layers.RandomRotation(0), x)
    yield affine("random_rotation_one", lambda k: k.layers.RandomRotation((-0.1, -0.1)), floats(5, 7, 2))
    yield affine("random_rotation_channels_first", lambda k: k.layers.RandomRotation(
        (0.1, 0.1), data_format="channels_first"), floats(2, 3, 6, 9))
    yield affine("random_rotation_bytes", lambda k: k.layers.RandomRotation((0.1, 0.1)), pixels(2, 6, 9, 3),
                 tolerance=1e-4)
    yield affine("random_zoom_one", lambda k: k.layers.RandomZoom((0.3, 0.3)), floats(5, 7, 2))
    yield affine("random_zoom_channels_first", lambda k: k.layers.RandomZoom(
        (0.3, 0.3), data_format="channels_first"), floats(2, 3, 6, 9))
    yield affine("random_zoom_thin", lambda k: k.layers.RandomZoom((0.3, 0.3)), floats(2, 1, 5, 2))
    yield affine("random_translation_one", lambda k: k.layers.RandomTranslation((0.3, 0.3), 0), floats(5, 7, 2))
    yield affine("random_translation_channels_first", lambda k: k.layers.RandomTranslation(
        (0.3, 0.3), (0.1, 0.1), data_format="channels_first"), floats(2, 3, 6, 9))
    for name, make in [("rotation", lambda k: k.layers.RandomRotation((0.3, -0.2))),
                       ("rotation_whole", lambda k: k.layers.RandomRotation(1, seed=4)),
                       ("zoom", lambda k: k.layers.RandomZoom(0.2)),
                       ("translation", lambda k: k.layers.RandomTranslation(0.2, [0.1, -0.3]))]:
        yield affine(f"random_{name}_by_chance", make, x, random_in_training=True)
        yield affine(f"random_{name}_ints", make, pixels(2, 6, 9, 3), random_in_training=True)


def other_cases():
    x = floats(2, 6, 9, 3, low=0, high=1)
    for mode in ["horizontal", "vertical", "horizontal_and_vertical"]:
        yield case(f"random_flip_{mode}", lambda k, mode=mode: k.layers.RandomFlip(mode, seed=3), x,
                   random_in_training=True)
    yield case("random_flip_ints", lambda k: k.layers.RandomFlip(data_format="channels_first"),
               pixels(2, 3, 6, 9), random_in_training=True, gradients=False)
    yield case("random_crop", lambda k: k.layers.RandomCrop(4, 5), x, random_in_training=True)
    yield case("random_crop_ints", lambda k: k.layers.RandomCrop(4, 5), pixels(2, 6, 9, 3), random_in_training=True,
               gradients=False)
    for height, width in [(6, 9), (6, 4), (4, 9), (8, 12), (3, 12), (12, 3)]:  # not smaller: nothing is drawn
        yield case(f"random_crop_{height}_{width}", lambda k, height=height, width=width:
                   k.layers.RandomCrop(height, width, seed=3), x)
    yield case("random_crop_channels_first", lambda k: k.layers.RandomCrop(8, 12, data_format="channels_first"),
               floats(2, 3, 6, 9))
    yield case("random_crop_one", lambda k: k.layers.RandomCrop(8, 12), floats(6, 9, 3))

    for name, factor in [("up", (-0.4, 0.4)), ("none", 0.0)]:
        yield case(f"random_contrast_{name}", lambda k, factor=factor: k.layers.RandomContrast(
            factor, value_range=(0.0, 1.0)), x)
    yield case("random_contrast_channels_first", lambda k: k.layers.RandomContrast(
        (-0.4, 0.4), value_range=(0, 1), data_format="channels_first"), floats(2, 3, 6, 9))
    yield case("random_contrast_one", lambda k: k.layers.RandomContrast((-0.4, 0.4)), floats(6, 9, 3))
    yield case("random_contrast_by_chance", lambda k: k.layers.RandomContrast(0.3), x, random_in_training=True)

    for name, factor in [("up", (0.2, 0.2)), ("down", [-0.3, -0.3])]:
        yield case(f"random_brightness_{name}", lambda k, factor=factor: k.layers.RandomBrightness(
            factor, value_range=(1.0, 0.0)), x)
    yield case("random_brightness_one", lambda k: k.layers.RandomBrightness((0.1, 0.1)), floats(6, 9, 3))
    yield case("random_brightness_ints", lambda k: k.layers.RandomBrightness((0.1, 0.1)),
               pixels(2, 6, 9, 3, dtype="int32"), gradients=False)
    yield case("random_brightness_by_chance", lambda k: k.layers.RandomBrightness(1), x, random_in_training=True)


def cases():
    yield from size_cases()
    yield from affine_cases()
    yield from other_cases()
