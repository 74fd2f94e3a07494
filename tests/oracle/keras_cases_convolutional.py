"""Layers of keras.layers.convolutional."""

from keras_case import Case, floats, through_channels_last, with_spread_kernel

SPATIAL = {1: (9,), 2: (7, 6), 3: (5, 4, 6)}


def volume(rank, channels, data_format="channels_last", batch=2):
    sizes = SPATIAL[rank]
    shape = (batch, *sizes, channels) if data_format == "channels_last" else (batch, channels, *sizes)
    return floats(*shape, seed=rank)


def convs(rank):
    name = f"Conv{rank}D"

    def case(what, *args, channels=4, data_format="channels_last", **kwargs):
        return Case(f"{name.lower()}_{what}",
                    lambda k: getattr(k.layers, name)(*args, data_format=data_format, **kwargs),
                    volume(rank, channels, data_format), passes_training=False, tolerance=5e-5,
                    call=through_channels_last if data_format == "channels_first" else None)

    yield case("plain", 3, 3)
    yield case("same", 3, 3, padding="same", activation="relu")
    yield case("even_kernel", 5, 2, padding="same", use_bias=False)
    yield case("strides", 3, 3, strides=2)
    yield case("strides_same", 3, 3, strides=2, padding="same")
    yield case("dilation", 3, 2, dilation_rate=2)
    yield case("dilation_same", 3, 3, dilation_rate=2, padding="same")
    yield case("groups", 6, 2, groups=2, padding="same")
    yield case("first", 3, 3, data_format="channels_first", padding="same")
    yield case("first_strides", 3, 2, data_format="channels_first", strides=2, activation="tanh")
    yield case("one", 1, 1, channels=1)
    yield case("sizes", 3, tuple(range(1, rank + 1)), strides=tuple(range(rank, 0, -1)), padding="same")
    yield case("options", 3, 2, kernel_initializer="he_normal", bias_initializer="ones",
               kernel_regularizer="l2", bias_regularizer="l1", activity_regularizer="l2",
               kernel_constraint="max_norm", bias_constraint="non_neg", name="mine")
    if rank == 1:
        yield case("causal", 3, 3, padding="causal")
        yield case("causal_dilation", 3, 3, padding="causal", dilation_rate=2)
        yield case("causal_first", 3, 2, padding="causal", strides=2, data_format="channels_first")


def transposes(rank):
    name = f"Conv{rank}DTranspose"

    def case(what, *args, data_format="channels_last", **kwargs):
        return Case(f"{name.lower()}_{what}",
                    lambda k: getattr(k.layers, name)(*args, data_format=data_format, **kwargs),
                    volume(rank, 4, data_format), passes_training=False, tolerance=5e-5,
                    call=through_channels_last if data_format == "channels_first"
                    else with_spread_kernel if "dilation_rate" in kwargs else None)

    yield case("plain", 3, 3)
    yield case("same", 3, 3, padding="same", activation="relu")
    yield case("strides", 3, 3, strides=2)
    yield case("strides_same", 3, 3, strides=2, padding="same")
    yield case("stride_above_kernel", 2, 2, strides=3)
    yield case("output_padding", 3, 3, strides=2, output_padding=1)
    yield case("output_padding_none_left", 3, 3, strides=2, output_padding=0)
    yield case("output_padding_same", 3, 3, strides=2, padding="same", output_padding=1)
    yield case("first", 3, 3, data_format="channels_first", strides=2)
    yield case("first_same", 3, 3, data_format="channels_first", strides=2, padding="same", output_padding=1)
    yield case("dilation", 3, 2, dilation_rate=2)
    yield case("dilation_same", 3, 3, dilation_rate=2, padding="same")
    yield case("even_output_padding_same", 3, 4, strides=2, padding="same", output_padding=1)
    yield case("options", 3, 2, use_bias=False, kernel_initializer="he_normal", kernel_regularizer="l2",
               bias_regularizer="l1", activity_regularizer="l2", kernel_constraint="max_norm",
               bias_constraint="non_neg")


def depthwises(rank):
    name = f"DepthwiseConv{rank}D"

    def case(what, *args, channels=3, data_format="channels_last", **kwargs):
        return Case(f"{name.lower()}_{what}",
                    lambda k: getattr(k.layers, name)(*args, data_format=data_format, **kwargs),
                    volume(rank, channels, data_format), passes_training=False, tolerance=5e-5,
                    call=through_channels_last if data_format == "channels_first" else None)

    yield case("plain", 3)
    yield case("same", 3, padding="same", depth_multiplier=2, activation="relu")
    yield case("strides", 3, strides=2, use_bias=False)
    yield case("strides_same", 2, strides=2, padding="same")
    yield case("dilation", 2, dilation_rate=2)
    yield case("dilation_same", 3, dilation_rate=2, padding="same", depth_multiplier=2)
    yield case("both", 2, strides=2, dilation_rate=2)
    yield case("both_same", 3, strides=2, dilation_rate=2, padding="same")
    yield case("first", 3, data_format="channels_first", depth_multiplier=2)
    yield case("first_dilation", 2, data_format="channels_first", dilation_rate=2, padding="same")
    yield case("options", 2, depthwise_initializer="he_normal", bias_initializer="ones",
               depthwise_regularizer="l2", bias_regularizer="l1", activity_regularizer="l2",
               depthwise_constraint="max_norm", bias_constraint="non_neg")


def separables(rank):
    name = f"SeparableConv{rank}D"

    def case(what, *args, data_format="channels_last", **kwargs):
        return Case(f"{name.lower()}_{what}",
                    lambda k: getattr(k.layers, name)(*args, data_format=data_format, **kwargs),
                    volume(rank, 3, data_format), passes_training=False, tolerance=5e-5,
                    call=through_channels_last if data_format == "channels_first" else None)

    yield case("plain", 4, 3)
    yield case("same", 4, 3, padding="same", depth_multiplier=2, activation="relu")
    yield case("strides", 4, 3, strides=2, use_bias=False)
    yield case("dilation", 4, 2, dilation_rate=2, padding="same")
    yield case("both", 4, 2, strides=2, dilation_rate=2)
    yield case("first", 4, 3, data_format="channels_first", depth_multiplier=2)
    yield case("options", 4, 2, depthwise_initializer="he_normal", pointwise_initializer="he_uniform",
               bias_initializer="ones", depthwise_regularizer="l2", pointwise_regularizer="l1",
               bias_regularizer="l1", activity_regularizer="l2", depthwise_constraint="max_norm",
               pointwise_constraint="non_neg", bias_constraint="non_neg")


def convolutional_cases():
    for rank in (1, 2, 3):
        yield from convs(rank)
        yield from transposes(rank)
    for rank in (1, 2):
        yield from depthwises(rank)
        yield from separables(rank)
    for dtype in ("mixed_float16", "mixed_bfloat16", "float64"):
        yield Case(f"conv2d_{dtype}", lambda k, dtype=dtype: k.layers.Conv2D(3, 3, dtype=dtype), volume(2, 4),
                   passes_training=False, tolerance=4e-2 if "16" in dtype else 1e-6)
