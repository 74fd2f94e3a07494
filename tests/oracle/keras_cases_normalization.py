"""Layers of keras.layers.normalization."""

import numpy as np

from keras_case import Case, floats


def batch_norm(what, *shape, mask=None, **kwargs):
    return Case(f"batchnormalization_{what}", lambda k: k.layers.BatchNormalization(**kwargs),
                floats(*shape, low=-2, high=3), mask=mask, tolerance=1e-4)


def batch_norms():
    yield batch_norm("images", 3, 4, 5, 6)
    yield batch_norm("rows", 7, 5)
    yield batch_norm("series", 4, 5, 3)
    yield batch_norm("volumes", 2, 3, 4, 3, 2)
    yield batch_norm("first", 3, 4, 5, 6, axis=1)
    yield batch_norm("middle", 3, 4, 5, 6, axis=-2, momentum=0.5, epsilon=0.1)
    yield batch_norm("positive_last", 3, 4, 5, axis=2)
    yield batch_norm("neither", 3, 4, 5, center=False, scale=False)
    yield batch_norm("no_scale", 3, 4, 5, 6, scale=False)
    yield batch_norm("no_center_first", 3, 4, 5, 6, center=False, axis=1)
    yield batch_norm("frozen", 3, 4, 5, 6, trainable=False)
    yield batch_norm("options", 3, 4, 5, 6, beta_initializer="ones", gamma_initializer="zeros",
                     moving_mean_initializer="ones",
                     moving_variance_initializer="zeros", beta_regularizer="l1", gamma_regularizer="l2",
                     beta_constraint="non_neg", gamma_constraint="max_norm", name="norm")
    mask = np.array([[1, 1, 0, 1, 0], [1, 0, 0, 0, 0], [1, 1, 1, 1, 1]], dtype=bool)
    yield batch_norm("mask", 3, 5, 4, mask=mask)
    yield batch_norm("renorm", 3, 4, 5, 6, renorm=True)
    yield batch_norm("renorm_clipped", 3, 4, 5, renorm=True, renorm_momentum=0.7, axis=1,
                     renorm_clipping={"rmax": 2.0, "rmin": 0.5, "dmax": 1.5})


def layer_norm(what, *shape, layer="LayerNormalization", **kwargs):
    return Case(f"{layer.lower()}_{what}", lambda k: getattr(k.layers, layer)(**kwargs),
                floats(*shape, low=-2, high=3), passes_training=False, tolerance=1e-4)


def normalization_cases():
    yield from batch_norms()
    yield layer_norm("rows", 5, 7)
    yield layer_norm("series", 3, 5, 7, epsilon=0.1)
    yield layer_norm("last_two", 3, 5, 7, axis=[1, 2])
    yield layer_norm("negative_two", 3, 4, 5, 6, axis=(-1, -2))
    yield layer_norm("first", 3, 5, 7, axis=1)
    yield layer_norm("apart", 3, 4, 5, 6, axis=[1, 3])
    yield layer_norm("neither", 3, 5, 7, center=False, scale=False)
    yield layer_norm("no_center", 3, 5, 7, center=False)
    yield layer_norm("no_scale_first", 3, 5, 7, scale=False, axis=1)
    yield layer_norm("rms_scaling", 3, 5, 7, rms_scaling=True)
    yield layer_norm("options", 3, 5, 7, beta_initializer="ones", gamma_initializer="zeros",
                     beta_regularizer="l1", gamma_regularizer="l2", beta_constraint="non_neg",
                     gamma_constraint="max_norm")
    group = "GroupNormalization"
    yield layer_norm("images", 3, 4, 5, 6, layer=group, groups=3)
    yield layer_norm("rows", 3, 6, layer=group, groups=2)
    yield layer_norm("instance", 3, 4, 5, 6, layer=group, groups=-1)
    yield layer_norm("one", 3, 4, 5, 6, layer=group, groups=1)
    yield layer_norm("first", 3, 4, 5, 6, layer=group, groups=2, axis=1)
    yield layer_norm("neither", 3, 4, 6, layer=group, groups=2, center=False, scale=False)
    yield layer_norm("options", 3, 4, 6, layer=group, groups=2, epsilon=0.1, beta_initializer="ones",
                     gamma_initializer="zeros", beta_regularizer="l1", gamma_regularizer="l2",
                     beta_constraint="non_neg", gamma_constraint="max_norm")
    rms = "RMSNormalization"
    yield layer_norm("rows", 3, 6, layer=rms)
    yield layer_norm("last_two", 3, 4, 6, layer=rms, axis=[-2, -1], epsilon=0.1)
    yield layer_norm("first", 3, 5, 5, layer=rms, axis=1)
    unit = "UnitNormalization"
    yield layer_norm("rows", 3, 6, layer=unit)
    yield layer_norm("axes", 3, 4, 6, layer=unit, axis=[1, 2])
    yield Case("spectralnormalization_dense", lambda k: k.layers.SpectralNormalization(
        k.layers.Dense(4), power_iterations=2), floats(3, 5))
    yield Case("spectralnormalization_conv", lambda k: k.layers.SpectralNormalization(
        k.layers.Conv2D(4, 3)), floats(2, 5, 5, 3))
    steps = np.array([[1, 1, 0, 1, 0], [1, 0, 0, 0, 0], [1, 1, 1, 1, 1]], dtype=bool)
    for name in ["BatchNormalization", "LayerNormalization", "UnitNormalization", "RMSNormalization"]:
        yield Case(f"{name.lower()}_carried", lambda k, name=name: getattr(k.layers, name)(), floats(3, 5, 4),
                   carried={"inputs": steps}, passes_training=name == "BatchNormalization", tolerance=1e-4)
    for dtype in ("mixed_float16", "mixed_bfloat16", "float16", "float64"):
        for name, shape in [("BatchNormalization", (4, 3, 3, 5)), ("LayerNormalization", (4, 7)),
                            ("RMSNormalization", (4, 7)), ("UnitNormalization", (4, 7))]:
            yield Case(f"{name.lower()}_{dtype}", lambda k, name=name, dtype=dtype: getattr(k.layers, name)(
                dtype=dtype), floats(*shape), passes_training=name == "BatchNormalization",
                tolerance=4e-2 if "16" in dtype else 1e-5)
        yield Case(f"batchnormalization_first_{dtype}", lambda k, dtype=dtype: k.layers.BatchNormalization(
            axis=1, dtype=dtype), floats(4, 3, 3, 5), tolerance=4e-2 if "16" in dtype else 1e-5)
        yield Case(f"groupnormalization_{dtype}", lambda k, dtype=dtype: k.layers.GroupNormalization(
            2, dtype=dtype), floats(4, 3, 6), passes_training=False, tolerance=4e-2 if "16" in dtype else 1e-5)
