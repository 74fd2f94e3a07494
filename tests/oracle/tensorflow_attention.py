"""Rows of ops_test.py for attention: the definition, with all probabilities at once."""

import tensorflow as tf

import tensorflow_math

INTERNAL = {"AttentionGrad", "AttentionBiasGrad"}


def _attention(a, q, k, v, *more):
    more = list(more)
    dtype = q.dtype
    wide = tf.float64 if dtype == tf.float64 else tf.float32  # the softmax of 16-bit types is in float32
    q, k, v = (tf.cast(x, wide) for x in (q, k, v))
    groups = q.shape[2] // k.shape[2] if k.shape[2] else 1
    k, v = (tf.repeat(x, groups, axis=2) for x in (k, v))
    scores = tf.einsum("bihd,bjhd->bhij", q, k) * tf.constant(a["scale"], wide)
    seen = tf.ones(scores.shape, tf.bool)
    if a["has_bias"]:
        scores += tf.cast(more.pop(0), wide)
    if a["has_mask"]:
        seen &= more.pop(0)
    if a["is_causal"]:
        seen &= tf.linalg.band_part(seen, -1, 0)
    scores = tf.where(seen, scores, tf.constant(-float("inf"), wide))
    any_seen = tf.reduce_any(seen, -1)
    # A row without keys is zeros here; Keras has the mean of all values.
    p = tf.nn.softmax(tf.where(any_seen[..., None], scores, tf.constant(0, wide)))
    p = tf.where(any_seen[..., None], p, tf.constant(0, wide))
    if a["rate"] > 0:
        p = tensorflow_math.dropout(a, p, more.pop(0))
    return tf.cast(tf.einsum("bhij,bjhd->bihd", p, v), dtype), tf.reduce_logsumexp(scores, -1)


OPS = {"Attention": _attention}
