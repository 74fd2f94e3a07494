"""Layers of keras.layers.regularization."""

from keras_case import Case, floats


def regularization_cases():
    yield Case("dropout", lambda k: k.layers.Dropout(0.3, noise_shape=(None, 1), seed=3), floats(4, 5),
               random_in_training=True)
    yield Case("dropout_none", lambda k: k.layers.Dropout(0.0), floats(4, 5))
    for rank in (1, 2, 3):
        shape = (2, *[4] * rank, 3)
        yield Case(f"spatialdropout{rank}d", lambda k, rank=rank: getattr(
            k.layers, f"SpatialDropout{rank}D")(0.3, seed=3), floats(*shape), random_in_training=True)
        if rank > 1:
            yield Case(f"spatialdropout{rank}d_first", lambda k, rank=rank: getattr(
                k.layers, f"SpatialDropout{rank}D")(0.3, data_format="channels_first", name="s"),
                floats(*shape), random_in_training=True)
    yield Case("gaussiannoise", lambda k: k.layers.GaussianNoise(0.3, seed=3), floats(4, 5),
               random_in_training=True)
    yield Case("gaussiandropout", lambda k: k.layers.GaussianDropout(0.3), floats(4, 5), random_in_training=True)
    yield Case("alphadropout", lambda k: k.layers.AlphaDropout(0.3, noise_shape=(None, 1), seed=4),
               floats(4, 5), random_in_training=True)
    yield Case("activityregularization", lambda k: k.layers.ActivityRegularization(l1=0.1, l2=0.2),
               floats(4, 5), passes_training=False)
