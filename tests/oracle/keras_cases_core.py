"""Embedding, EinsumDense, Masking."""

import numpy as np

from keras_case import Case, floats


def ids(*shape, high=7, seed=0):
    return np.random.default_rng(seed).integers(0, high, shape).astype("int32")


def cases():
    yield Case("embedding", lambda k: k.layers.Embedding(7, 4), ids(3, 5), passes_training=False)
    yield Case("embedding_options", lambda k: k.layers.Embedding(
        7, 4, embeddings_initializer=k.initializers.RandomNormal(seed=2), embeddings_regularizer="l2",
        embeddings_constraint="non_neg", mask_zero=True, activity_regularizer="l1"), ids(3, 5),
        passes_training=False)
    yield Case("embedding_of_floats", lambda k: k.layers.Embedding(7, 4, mask_zero=True),
               ids(3, 5).astype("float32"), passes_training=False)
    yield Case("embedding_int64", lambda k: k.layers.Embedding(7, 4), ids(6).astype("int64"),
               passes_training=False)
    yield Case("embedding_mixed", lambda k: k.layers.Embedding(7, 4, dtype="mixed_bfloat16"), ids(3, 5),
               passes_training=False, tolerance=1e-2)

    yield Case("masking", lambda k: k.layers.Masking(), np.where(ids(3, 5, 1) > 2, floats(3, 5, 4), 0),
               passes_training=False)
    yield Case("masking_value", lambda k: k.layers.Masking(mask_value=-1.0),
               np.where(ids(3, 5, 1) > 2, floats(3, 5, 4), -1).astype("float32"), passes_training=False)

    for name, equation, output, bias, shape in [
        ("plain", "ab,bc->ac", 6, None, (3, 4)),
        ("bias", "ab,bc->ac", 6, "c", (3, 4)),
        ("sequence", "abc,cd->abd", (None, 6), "d", (2, 3, 4)),
        ("left", "...x,xy->...y", 6, "y", (2, 3, 4)),
        ("left_far", "...x,xy->...y", 6, "y", (2, 3, 2, 4)),
        ("right", "ab...,bc->ac...", 6, "c", (2, 4, 3)),
        ("heads", "abc,cde->abde", (None, 2, 5), "de", (2, 3, 4)),
        ("bias_of_one", "abc,cde->abde", (None, 2, 5), "d", (2, 3, 4)),
        ("back", "abcd,cde->abe", (None, 6), "e", (2, 3, 2, 4)),
        ("shared", "abc,bcd->abd", (3, 6), "bd", (2, 3, 4)),
    ]:
        yield Case(f"einsum_dense_{name}", lambda k, e=equation, o=output, b=bias: k.layers.EinsumDense(
            e, output_shape=o, bias_axes=b), floats(*shape))
    yield Case("einsum_dense_options", lambda k: k.layers.EinsumDense(
        "abc,cde->abde", output_shape=(None, 2, 5), bias_axes="de", activation="tanh",
        kernel_initializer=k.initializers.HeNormal(seed=5), kernel_regularizer="l2", bias_regularizer="l1",
        activity_regularizer="l2", kernel_constraint="max_norm"), floats(2, 3, 4))
