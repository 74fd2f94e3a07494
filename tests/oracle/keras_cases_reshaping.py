"""Layers of keras.layers.reshaping."""

from keras_case import Case, floats
from keras_cases_convolutional import volume


def case(what, name, *args, inputs, tolerance=2e-5, **kwargs):
    return Case(f"{name.lower()}_{what}", lambda k: getattr(k.layers, name)(*args, **kwargs), inputs,
                passes_training=False, tolerance=tolerance)


def samplings():
    yield case("plain", "UpSampling1D", inputs=volume(1, 3))
    yield case("three", "UpSampling1D", 3, inputs=volume(1, 3))
    for data_format in ("channels_last", "channels_first"):
        x = volume(2, 3, data_format)
        yield case(data_format, "UpSampling2D", data_format=data_format, inputs=x)
        yield case(f"{data_format}_sizes", "UpSampling2D", (3, 2), data_format=data_format, inputs=x)
        yield case(data_format, "UpSampling3D", data_format=data_format, inputs=volume(3, 2, data_format))
        yield case(f"{data_format}_sizes", "UpSampling3D", (1, 3, 2), data_format=data_format,
                   inputs=volume(3, 2, data_format))
        for method in ("bilinear", "bicubic", "lanczos3", "lanczos5", "area"):
            # TensorFlow has no gradient of area.
            made = case(f"{data_format}_{method}", "UpSampling2D", (2, 3), data_format=data_format,
                        interpolation=method, inputs=x, tolerance=1e-4)
            made.gradients = method != "area"
            yield made


def margins():
    for data_format in ("channels_last", "channels_first"):
        last = {"data_format": data_format}
        images, volumes = volume(2, 3, data_format), volume(3, 2, data_format)
        yield case(f"{data_format}", "ZeroPadding1D", inputs=volume(1, 3, data_format), **last)
        yield case(f"{data_format}_uneven", "ZeroPadding1D", (0, 2), inputs=volume(1, 3, data_format), **last)
        yield case(f"{data_format}", "ZeroPadding2D", inputs=images, **last)
        yield case(f"{data_format}_all", "ZeroPadding2D", 2, inputs=images, **last)
        yield case(f"{data_format}_each", "ZeroPadding2D", (2, 1), inputs=images, **last)
        yield case(f"{data_format}_uneven", "ZeroPadding2D", ((0, 2), (3, 1)), inputs=images, **last)
        yield case(f"{data_format}", "ZeroPadding3D", inputs=volumes, **last)
        yield case(f"{data_format}_uneven", "ZeroPadding3D", ((0, 2), (3, 1), (1, 0)), inputs=volumes, **last)
        yield case(f"{data_format}", "Cropping2D", inputs=images, **last)
        yield case(f"{data_format}_all", "Cropping2D", 1, inputs=images, **last)
        yield case(f"{data_format}_each", "Cropping2D", (2, 1), inputs=images, **last)
        yield case(f"{data_format}_uneven", "Cropping2D", ((0, 2), (3, 0)), inputs=images, **last)
        yield case(f"{data_format}", "Cropping3D", inputs=volumes, **last)
        yield case(f"{data_format}_uneven", "Cropping3D", ((0, 2), (2, 1), (1, 0)), inputs=volumes, **last)
    yield case("plain", "Cropping1D", inputs=volume(1, 3))
    yield case("uneven", "Cropping1D", (0, 3), inputs=volume(1, 3))


def reshaping_cases():
    yield case("rows", "Flatten", inputs=floats(2, 3, 4))
    yield case("first", "Flatten", data_format="channels_first", inputs=floats(2, 3, 4, 5))
    yield case("vector", "Flatten", inputs=floats(3))
    yield case("plain", "Reshape", (4, 3), inputs=floats(2, 3, 4))
    yield case("open", "Reshape", (2, -1, 3), inputs=floats(2, 3, 4))
    yield case("flat", "Reshape", (-1,), inputs=floats(2, 3, 4))
    yield case("nothing", "Reshape", (), inputs=floats(4, 1))
    yield case("plain", "Permute", (2, 1), inputs=floats(2, 3, 4))
    yield case("three", "Permute", (3, 1, 2), inputs=floats(2, 3, 4, 5))
    yield case("plain", "RepeatVector", 3, inputs=floats(2, 4))
    yield from samplings()
    yield from margins()
