"""Ragged and sparse tensors where TensorFlow's go on: each says what is not built."""

import pytest


def test_what_is_not_built_says_so(tf, is_plimsoll):
    rows, sparse = tf.ragged.constant([[1, 2], []]), tf.SparseTensor([[0]], [1], [2])
    missing = tf.errors.UnimplementedError
    for call, why in ((lambda: tf.constant(1) + rows, r"RaggedTensor of shape \(2, None\) cannot stand for a tensor"),
                      (lambda: tf.reduce_sum(sparse), r"SparseTensor of shape \(2,\) cannot stand for a tensor"),
                      (lambda: rows == rows, "== is not built"), (lambda: rows[0:1], "slice"),
                      (lambda: rows.row_lengths(axis=2), r"row_lengths\(axis=2\)"),
                      (lambda: tf.ragged.constant([[1]], inner_shape=()), "inner_shape"),
                      (lambda: tf.io.parse_single_example(b"", {"x": tf.io.SparseFeature("i", "v", tf.int64, 3)}),
                       "'x' is a SparseFeature"),
                      (lambda: next(iter(tf.data.Dataset.from_tensor_slices([["a b"]]).map(tf.strings.split))),
                       "cannot stand for a tensor")):
        with pytest.raises(missing, match=why):
            call()
    for call in (lambda: rows.bounding_shape(), lambda: tf.sparse.reorder, lambda: tf.ragged.range,
                 lambda: sparse.consumers):
        with pytest.raises(AttributeError, match="built"):
            call()


def test_strings_end_with_the_budget(tf):
    words = tf.constant(["a" * 1000] * 100)
    with tf.memory.budget("64KiB") as scope:
        with pytest.raises(tf.errors.ResourceExhaustedError, match="StringUpper"):
            tf.strings.upper(words)
        assert scope.in_use == 0
        assert tf.strings.upper("fits").numpy() == b"FITS"
